package paymentscases

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/inputtext"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Receipts records money taken by hand, and corrects to whom money belongs. Safe for concurrent use.
type Receipts struct {
	Bus   *bus.Bus
	Views *runner.Views // with payments and receipts: tells which attempts have a reference
	Clock clock.Clock
}

// CashInput describes money taken by hand.
type CashInput struct {
	SubscriberID id.Subscriber
	InvoiceID    id.Invoice      // to be paid first; zero = the oldest due
	Amount       usecases.Figure // in the currency of the subscriber's account
	// number in the cash book, unique in the organization; case and number of spaces do not matter
	Reference  string
	Kind       string        // one of commands.CashKinds; "" = cash
	ReceivedOn calendar.Date // local day; zero = today
}

// receiptLength is the length of the provider's receipt numbers, which are capitals and digits.
const receiptLength = 10

// partShape finds the parts of a reference, between spaces and signs.
var partShape = regexp.MustCompile(`[A-Z0-9]+`)

// looksLikeReceipt reports whether a reference is, or has in it, what can be a receipt number of mobile money. The
// whole text is one by its length alone. Within a longer text only what has both letters and digits is one, and when it
// is written with gaps, only if a part of it has both: "BOOK 17 2026" is not. Source: docs/rules/money.md#cash.
func looksLikeReceipt(reference string) bool {
	reference = strings.ToUpper(inputtext.Code(reference))
	parts := partShape.FindAllString(reference, -1)
	if len(reference) == receiptLength && len(parts) == 1 && parts[0] == reference {
		return true
	}
	for from := range parts {
		length, mixed := 0, false
		for _, part := range parts[from:] {
			length += len(part)
			mixed = mixed || strings.ContainsAny(part, "0123456789") && strings.Trim(part, "0123456789") != ""
			if length == receiptLength && mixed {
				return true
			}
		}
	}
	return false
}

// maxReference bounds CashInput.Reference, in bytes.
const maxReference = 100

// RecordCash records money taken by hand for a subscriber. A reference that looks like a receipt of mobile money is
// refused: that money is recorded without help, and would be credited twice. The reference identifies the money, so two
// records at once, or a repeat, are recorded once. An invoice that is named must be the subscriber's, with something
// due on it, or lost by a write-off. Fails: subscriber_not_found, invalid_input, looks_like_mobile_money,
// invoice_not_found, invoice_not_issued, invoice_not_payable, reference_used,
// reference_taken_back.
func (r Receipts) RecordCash(ctx context.Context, asked usecases.Asked, in CashInput) (Booked, error) {
	subscriber, _, err := bus.LoadOwned[subscribers.Subscriber](ctx, r.Bus, asked.Org(), in.SubscriberID)
	if err != nil {
		return Booked{}, err
	}
	reference := commands.CashReference(in.Reference)
	var faults failure.Faults
	amount := in.Amount.In(subscriber.Currency, "amount", &faults)
	faults.Check(len(faults) > 0 || amount.Positive(), "amount", "must be above zero")
	faults.Check(reference != "" && len(reference) <= maxReference, "reference", "must have 1 to %d bytes",
		maxReference)
	received, err := r.receivedOn(ctx, asked.Org(), in.ReceivedOn, &faults)
	if err := errors.Join(err, faults.Err()); err != nil {
		return Booked{}, err
	}
	if looksLikeReceipt(reference) {
		return Booked{}, failure.NewConflict("looks_like_mobile_money",
			"This may be a receipt number of mobile money (ten letters and digits), which is recorded by itself. "+
				"If it is the cash book's, write it otherwise, such as Book 7 page 12.")
	}
	receipt, known, err := r.cash(ctx, asked.Org(), in.Reference)
	if err != nil {
		return Booked{}, err
	}
	if known.Standing == payments.StandingNone { // otherwise it is a repeat, which may have paid the invoice itself
		if err := r.mayPay(ctx, asked.Org(), in.SubscriberID, in.InvoiceID); err != nil {
			return Booked{}, err
		}
	}
	done, err := r.Bus.Execute(ctx, commands.RecordCash{
		ReceiptID: receipt, OrgID: asked.Org(), SubscriberID: in.SubscriberID, InvoiceID: in.InvoiceID, Amount: amount,
		Reference: reference, Kind: cmp.Or(in.Kind, commands.ProviderCash), ReceivedOn: received,
	}, asked.Meta)
	if err != nil {
		return Booked{}, r.withUse(ctx, asked.Org(), receipt, err)
	}
	return Booked{
		OrgID: asked.Org(), ReceiptID: receipt, Accounts: []id.Subscriber{in.SubscriberID}, Done: done,
	}, nil
}

// mostDaysBack is how long ago money may have been received that is recorded now.
const mostDaysBack = 366

// receivedOn is the local day on which money was received: today where none is given.
func (r Receipts) receivedOn(
	ctx context.Context, org id.Organization, day calendar.Date, faults *failure.Faults,
) (calendar.Date, error) {
	today, err := usecases.RecordedSettings(r.Bus).Today(ctx, org, r.Clock.Now())
	switch {
	case err != nil:
		return calendar.Date{}, err
	case day.IsZero():
		return today, nil
	case today.Before(day):
		faults.Add("receivedOn", "must not be in the future")
	case day.Before(today.AddDays(-mostDaysBack)):
		faults.Add("receivedOn", "must be at most %d days ago", mostDaysBack)
	}
	return day, nil
}

// cash returns the receipt of a reference as it is now, and the id that it has or would get. Cash that was recorded
// under its former id keeps that one.
func (r Receipts) cash(ctx context.Context, org id.Organization, typed string) (id.Receipt, payments.Receipt, error) {
	receipt, former := commands.CashReceiptID(org, typed), commands.LegacyCashReceiptID(org, typed)
	if former != receipt {
		known, _, err := bus.LoadUnchecked[payments.Receipt](ctx, r.Bus, former)
		if err != nil || known.Standing != payments.StandingNone {
			return former, known, err
		}
	}
	known, _, err := bus.LoadUnchecked[payments.Receipt](ctx, r.Bus, receipt)
	return receipt, known, err
}
