package paymentsviews

import (
	"context"
	"time"
)

// The time in which a paybill payment may belong to a prompt. Source: docs/rules/money.md#provisional-receipts.
const (
	claimBefore = time.Minute // clocks differ
	claimAfter  = 48 * time.Hour
)

// AttemptOf finds the attempt that a receipt belongs to, nil without one. A conflict is money that names an attempt but
// cannot be its payment: another shortcode or amount, or out of time (docs/rules/money.md#provisional-receipts). The
// attempt itself may still refuse it.
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
