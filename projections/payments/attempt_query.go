package paymentsviews

import (
	"context"
	"time"
)

// A paybill payment may belong to a prompt only when it was made in this time around the prompt's start. Source:
// docs/rules/money.md#provisional-receipts.
const (
	claimBefore = time.Minute    // before the start, since the provider's clock differs from ours
	claimAfter  = 48 * time.Hour // after the start
)

// AttemptOf finds the attempt that a receipt belongs to, nil when there is none. conflict reports that the money names
// an attempt but cannot be its payment: shortcode or amount differ, or the time is too far away
// (docs/rules/money.md#provisional-receipts). Without a conflict the attempt may still refuse the receipt.
func (q PaymentsQuery) AttemptOf(ctx context.Context, r ReceiptRow) (attempt *PaymentRow, conflict bool, err error) {
	if !r.PaymentID.IsZero() {
		attempt, err = q.Attempt(ctx, r.PaymentID)
		return attempt, false, err
	}
	if r.CheckoutRequestID != nil {
		attempt, err = q.ByCheckout(ctx, *r.CheckoutRequestID)
		if attempt != nil || err != nil {
			return attempt, false, err
		}
	}
	if r.BillRef == nil || r.Channel != "c2b" && r.Channel != "bill_manager" {
		return nil, false, nil
	}
	attempt, err = q.ByReference(ctx, referenceKey(*r.BillRef))
	if attempt == nil || err != nil {
		return nil, false, err
	}
	inTime := r.PaidAt.After(attempt.InitiatedAt.Add(-claimBefore)) &&
		r.PaidAt.Before(attempt.InitiatedAt.Add(claimAfter))
	return attempt, !inTime || attempt.Shortcode != r.Shortcode || attempt.Amount() != r.Amount(), nil
}
