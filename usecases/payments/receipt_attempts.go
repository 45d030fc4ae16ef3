package paymentscases

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"

	"github.com/lastmile-isp/lastmile/projections/payments"
)

// Word is said by a person about the attempt whose money a receipt is. The zero value says nothing.
type Word struct {
	PaymentID id.Payment // it is this one's
	NoPrompt  bool       // it is that of none
}

// OpenAttempt is an attempt whose money a receipt may be. The refusal of a person who did not say lists them.
type OpenAttempt struct {
	PaymentID    id.Payment    `json:"paymentId"`
	SubscriberID id.Subscriber `json:"subscriberId"` // who was asked
	Amount       json.Number   `json:"amount"`
	InitiatedAt  time.Time     `json:"initiatedAt"`
}

// attempt gives the attempt that a person names for money that is put on an account, nil when nobody names one. Money
// that may be that of an attempt is refused without a word about it: the attempt's provisional credit, or the one that
// a status query brings later, would be the same money again (docs/rules/money.md#named-attempt). Fails: invalid_input,
// payment_not_found, attempt_not_named, attempt_does_not_fit, payment_settled, receipt_of_other_payment.
func (r Receipts) attempt(
	ctx context.Context, present payments.Receipt, to id.Subscriber, said Word,
) (*payments.Payment, error) {
	known := present.Attempt()
	switch {
	case said.NoPrompt && !said.PaymentID.IsZero():
		return nil, failure.NewInvalid("invalid_input", "noPrompt must be absent beside paymentId")
	case said.NoPrompt && !known.IsZero():
		return nil, commands.ErrOtherAttempt()
	case said.NoPrompt, said.PaymentID.IsZero() && !known.IsZero():
		return nil, nil
	case said.PaymentID.IsZero():
		return nil, r.mayGoUnnamed(ctx, present, to)
	}
	attempt, _, err := bus.LoadOwned[payments.Payment](ctx, r.Bus, present.Org, said.PaymentID)
	if err != nil {
		return nil, err
	}
	return &attempt, attempt.MayTake(present)
}

// mayGoUnnamed refuses money that may be that of an attempt. Cash, and what a status query told, is that of none or of
// a known one. Fails: attempt_not_named.
func (r Receipts) mayGoUnnamed(ctx context.Context, present payments.Receipt, to id.Subscriber) error {
	if present.Provisional || present.Channel == commands.ChannelCash {
		return nil
	}
	open, err := r.provisionals(ctx, present, to)
	if err != nil {
		return err
	}
	if present.Conflicting {
		typed, err := r.typed(ctx, present)
		if err != nil {
			return err
		}
		open = append(open, typed...)
	}
	slices.SortFunc(open, func(a, b OpenAttempt) int { // ids of attempts are in the order of their times
		return strings.Compare(a.PaymentID.String(), b.PaymentID.String())
	})
	open = slices.CompactFunc(open, func(a, b OpenAttempt) bool { return a.PaymentID == b.PaymentID })
	if len(open) == 0 {
		return nil
	}
	var names []string
	for _, a := range open {
		names = append(names, a.PaymentID.String())
	}
	return failure.NewConflict("attempt_not_named",
		"This may be the money of a payment that was asked for on the phone and has no receipt yet: %s. Name it as "+
			"paymentId, or say with noPrompt that it is other money.", strings.Join(names, ", ")).With("attempts", open)
}

// typed lists the attempts of the receipt's organization whose reference was typed and that still wait for such money.
func (r Receipts) typed(ctx context.Context, present payments.Receipt) ([]OpenAttempt, error) {
	row, err := paymentsviews.ReceiptsQuery{Views: r.Views}.Get(ctx, present.Org, present.ID)
	if err != nil || row == nil {
		return nil, err
	}
	lists, err := paymentsviews.PaymentsQuery{Views: r.Views}.Candidates(ctx, present.Org, *row)
	if err != nil {
		return nil, err
	}
	var out []OpenAttempt
	for _, p := range lists[0] {
		out = append(out, OpenAttempt{
			PaymentID: p.ID, SubscriberID: p.SubscriberID, Amount: p.Amount().Number(), InitiatedAt: p.InitiatedAt,
		})
	}
	return out, nil
}

// provisionals lists the attempts of which an account has a provisional credit that a receipt may be the real money
// of, as the log has it.
func (r Receipts) provisionals(
	ctx context.Context, present payments.Receipt, on id.Subscriber,
) ([]OpenAttempt, error) {
	account, _, err := bus.LoadOwned[billing.Account](ctx, r.Bus, present.Org, on)
	if failure.KindOf(err) == failure.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []OpenAttempt
	for receipt, booked := range account.Receipts {
		tooOld := !booked.BookedAt.IsZero() && booked.BookedAt.Before(present.PaidAt.Add(-commands.ReceiptPatience))
		if booked.Number != "" || booked.CreditNote || booked.WriteOff || booked.Withdrawn || tooOld ||
			booked.Amount != present.Amount {
			continue
		}
		attempt, err := r.carriedBy(ctx, present.Org, receipt, on)
		if err != nil {
			return nil, err
		}
		if attempt != nil && attempt.Fits(present) {
			out = append(out, OpenAttempt{
				PaymentID: attempt.ID, SubscriberID: attempt.Subscriber, Amount: attempt.Amount.Number(),
				InitiatedAt: attempt.InitiatedAt,
			})
		}
	}
	return out, nil
}

// carriedBy gives the attempt whose only receipt is a provisional one on an account; else nil.
func (r Receipts) carriedBy(
	ctx context.Context, org id.Organization, provisional id.Receipt, on id.Subscriber,
) (*payments.Payment, error) {
	carrier, _, err := bus.LoadOwned[payments.Receipt](ctx, r.Bus, org, provisional)
	if err != nil && failure.KindOf(err) != failure.NotFound {
		return nil, err
	}
	if err != nil || !carrier.Carries(on) {
		return nil, nil
	}
	attempt, _, err := bus.LoadOwned[payments.Payment](ctx, r.Bus, org, carrier.Payment)
	if failure.KindOf(err) == failure.NotFound || err == nil && !attempt.Provisional {
		return nil, nil
	}
	return &attempt, err
}

// keepsCredit reports whether an attempt's provisional credit stands on an account and can stay there as that of its
// real receipt: for the same amount, and for the invoice that the person names, if any. A repeat may come after the
// attempt has taken the receipt, and before the receipt shows that.
func (r Receipts) keepsCredit(
	ctx context.Context, attempt payments.Payment, present payments.Receipt, in AttributeInput,
) (bool, error) {
	taken := attempt.Receipt == present.ID && attempt.Credited != present.ID
	if !attempt.Provisional && !taken || present.Disputed || attempt.Amount != present.Amount {
		return false, nil
	}
	carrier, _, err := bus.LoadOwned[payments.Receipt](ctx, r.Bus, present.Org, attempt.Credited)
	if carrier.ClaimedBy == present.ID {
		carrier.ClaimedBy = id.Receipt{}
	}
	if failure.KindOf(err) == failure.NotFound {
		return false, nil
	}
	return err == nil && carrier.Carries(in.SubscriberID) &&
		(in.InvoiceID.IsZero() || in.InvoiceID == carrier.Invoice), err
}
