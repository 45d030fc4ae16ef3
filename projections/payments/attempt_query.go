package paymentsviews

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
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
	found := waiting(all, r)
	if len(found) == 1 {
		return &found[0], nil, nil
	}
	if !slices.ContainsFunc(found, func(p PaymentRow) bool { return p.Provisional }) {
		found = nil
	}
	return nil, found, nil
}

// waiting gives the attempts whose payment a receipt at a paybill can be.
func waiting(all []PaymentRow, r ReceiptRow) []PaymentRow {
	var found []PaymentRow
	for _, p := range all {
		if p.sameTill(r) && p.awaits(r) {
			found = append(found, p)
		}
	}
	return found
}

// Candidates lists, for each receipt, the attempts of an organization that have the typed reference and whose payment
// the receipt can be, newest first: for a person to choose from. All receipts cost one round trip.
func (q PaymentsQuery) Candidates(
	ctx context.Context, org id.Organization, receipts ...ReceiptRow,
) ([][]PaymentRow, error) {
	return q.candidates(receipts, func(queue func(*postgres.Reads)) error { return q.Views.Tenant(ctx, org, queue) })
}

// CandidatesOfAll is Candidates among the attempts of all organizations, for the platform: it decides whose the money
// of a shared paybill is.
func (q PaymentsQuery) CandidatesOfAll(ctx context.Context, receipts ...ReceiptRow) ([][]PaymentRow, error) {
	return q.candidates(receipts, func(queue func(*postgres.Reads)) error { return q.Views.Platform(ctx, queue) })
}

// candidates lists the attempts for each receipt.
func (q PaymentsQuery) candidates(
	receipts []ReceiptRow, read func(func(*postgres.Reads)) error,
) ([][]PaymentRow, error) {
	lists := make([][]PaymentRow, len(receipts))
	if len(receipts) == 0 {
		return lists, nil
	}
	err := read(func(r *postgres.Reads) {
		for i, receipt := range receipts {
			if key := receipt.referenceKey(); key != "" {
				postgres.Collect(r, &lists[i], pgx.RowToStructByName[PaymentRow],
					q.Views.SQL(PaymentsName, byReference), key, maxSameReference)
			}
		}
	})
	for i, receipt := range receipts {
		lists[i] = waiting(lists[i], receipt)
	}
	return lists, err
}

// referenceKey writes what was typed in the form that references of attempts are compared in; "" for nothing.
func (r ReceiptRow) referenceKey() string {
	if r.BillRef == nil || len(*r.BillRef) > maxReference {
		return ""
	}
	return referenceKey(*r.BillRef)
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
