package paymentsviews

import (
	"context"
	"time"
)

// A paybill payment may belong to a prompt only when it was made in this time around the prompt's start. Source:
// docs/rules/money.md#provisional-receipts.
const (
	claimBefore = time.Minute    // before the start, since the provider's clock differs from ours
	claimAfter  = 48 * time.Hour // after the start: commands.ReceiptPatience, which read models do not import
)

// sameTill reports whether a receipt is money of the environment and the organization of an attempt: another
// organization's money may name the attempt's reference, and may have come on the same number in the other environment.
// On the shared paybill a receipt has no organization yet; receipts of old have no environment.
func (r PaymentRow) sameTill(receipt ReceiptRow) bool {
	return (receipt.Environment == "" || r.Environment == receipt.Environment) &&
		(receipt.OrgID.IsZero() || r.OrgID == receipt.OrgID)
}

// ProvenBy reports whether the provider's own ids of the prompt tie a receipt to the attempt, and not what was typed.
func (r PaymentRow) ProvenBy(receipt ReceiptRow) bool {
	return r.ID == receipt.PaymentID || r.CheckoutRequestID != nil && receipt.CheckoutRequestID != nil &&
		*r.CheckoutRequestID == *receipt.CheckoutRequestID
}

// AttemptOf finds the attempt that a receipt belongs to, nil when there is none. One that is not ProvenBy the receipt
// was found by what was typed, which on the shared paybill may mean another organization's customer, too: Found.Allows
// tells. several are attempts whose money it
// may be, one of which has a success without a receipt number: a person decides which
// (docs/rules/money.md#provisional-receipts). Otherwise the attempt may still refuse the receipt.
func (q PaymentsQuery) AttemptOf(
	ctx context.Context, r ReceiptRow,
) (attempt *PaymentRow, several []PaymentRow, err error) {
	if !r.PaymentID.IsZero() {
		attempt, err = q.Attempt(ctx, r.PaymentID)
		return attempt, nil, err
	}
	if r.CheckoutRequestID != nil {
		attempt, err = q.ByCheckout(ctx, *r.CheckoutRequestID)
		if attempt != nil || err != nil {
			return attempt, nil, err
		}
	}
	if r.BillRef == nil || r.Channel != "c2b" && r.Channel != "bill_manager" {
		return nil, nil, nil
	}
	all, err := q.ByReference(ctx, *r.BillRef)
	if err != nil {
		return nil, nil, err
	}
	var found []PaymentRow
	provisional := false
	for _, p := range all {
		if p.sameTill(r) && p.awaits(r) {
			found, provisional = append(found, p), provisional || p.Provisional
		}
	}
	if len(found) == 1 {
		return &found[0], nil, nil
	}
	if !provisional {
		found = nil
	}
	return nil, found, nil
}

// awaits reports whether a paybill payment with the attempt's reference can be its payment: the attempt has no real
// receipt yet, and shortcode, amount, time and payer fit. Other money with that reference is a payment of its own,
// since customers may type a reference again.
func (r PaymentRow) awaits(receipt ReceiptRow) bool {
	return (r.Stage != "succeeded" || r.Provisional) && r.Shortcode == receipt.Shortcode &&
		r.Amount() == receipt.Amount() && receipt.PaidAt.After(r.InitiatedAt.Add(-claimBefore)) &&
		receipt.PaidAt.Before(r.InitiatedAt.Add(claimAfter)) && !r.paidByAnother(receipt)
}

// paidByAnother reports whether the money came from another phone than the prompted one, from which the money of a
// prompt always comes. A masked, hashed or forgotten phone proves nothing.
func (r PaymentRow) paidByAnother(receipt ReceiptRow) bool {
	if r.Phone == nil || receipt.PayerPhone == nil {
		return false
	}
	prompted, payer := phoneKey(*r.Phone), phoneKey(*receipt.PayerPhone)
	return prompted != "" && payer != "" && prompted != payer
}
