// Package billingcases drafts invoices and credit notes, and reports the money received. Each use case reads from the
// log what its command needs.
package billingcases

import (
	"context"
	"errors"
	"fmt"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/inputtext"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/usecases"
)

// daysToPay is the number of days from today to the due date of an invoice made by hand, unless a date is given.
const daysToPay = 7

// Invoices drafts invoices by hand. Safe for concurrent use.
type Invoices struct {
	Bus   *bus.Bus
	Clock clock.Clock
}

// DraftInvoiceInput describes an invoice made by hand.
type DraftInvoiceInput struct {
	SubscriberID id.Subscriber
	DueOn        calendar.Date // in the organization's zone; zero = a week from today
	Lines        []LineInput
}

// LineInput is one charge. The organization's tax rule says whether the price contains the tax.
type LineInput struct {
	Description string
	Quantity    string          // decimal number above zero, exact
	UnitPrice   usecases.Figure // in the organization's currency
	Once        bool            // no day of the invoice's period has a share of it
}

// Draft makes an invoice for a subscriber by hand, under the organization's present tax rule and prefix. It is one
// command; a process numbers and issues the invoice, also after a crash. Under the same key a repeat gets the invoice
// of the first try. Fails: subscriber_not_found, organization_not_found, invalid_input, currency_mismatch,
// invoice_out_of_range.
func (u Invoices) Draft(ctx context.Context, asked usecases.Asked, in DraftInvoiceInput) (id.Invoice, error) {
	if _, _, err := bus.LoadOwned[subscribers.Subscriber](ctx, u.Bus, asked.Org(), in.SubscriberID); err != nil {
		return id.Invoice{}, err
	}
	command, err := u.draft(ctx, asked, in, calendar.Date{})
	if err != nil {
		return id.Invoice{}, err
	}
	_, err = u.Bus.Execute(ctx, command, asked.Meta)
	return command.InvoiceID, err
}

// ReissueInput says which invoice is wrong, and how it should be. The corrected one is due when the wrong one is, or in
// a week when that day is over, unless a date is given.
type ReissueInput struct {
	DraftInvoiceInput
	InvoiceID id.Invoice // on the subscriber's account
	Reason    string     // kept with the credit note, and in the audit log
}

// Reissue puts a corrected invoice in the place of an issued one, and a credit note over all of that: money on it moves
// to the corrected one, and so does its period. It is one command; processes number both documents, the invoice first.
// Under the same key a repeat gets those of the first try. What the corrected one charges less is given away, and may
// wait for a second person. Fails: invoice_not_found, organization_not_found,
// invalid_input, period_archived, and as commands.ReissueInvoice does.
func (u Invoices) Reissue(
	ctx context.Context, asked usecases.Asked, in ReissueInput,
) (corrected id.Invoice, note id.Receipt, err error) {
	account, _, err := bus.LoadOwned[billing.Account](ctx, u.Bus, asked.Org(), in.SubscriberID)
	if errors.Is(err, commands.ErrNoAccount()) {
		return corrected, note, commands.ErrNoInvoice()
	}
	if err != nil {
		return corrected, note, err
	}
	of, dueOn := account.Invoiced(in.InvoiceID)
	if !of.IsZero() {
		err := usecases.PeriodsMayChange(ctx, u.Bus, asked.Org(), map[id.Invoice]id.Subscription{in.InvoiceID: of})
		if err != nil {
			return corrected, note, err
		}
	}
	draft, err := u.draft(ctx, asked, in.DraftInvoiceInput, dueOn)
	if err != nil {
		return corrected, note, err
	}
	prefix, err := usecases.NotePrefix(ctx, u.Bus, asked.Org())
	if err != nil {
		return corrected, note, err
	}
	note, meta := usecases.NewID[id.Receipt](asked, "credit_note"), asked.Meta
	meta.Reason = in.Reason
	command := commands.ReissueInvoice{
		InvoiceID: in.InvoiceID, Corrected: draft, CreditNoteID: note, NotePrefix: prefix, Reason: in.Reason,
	}
	given, err := account.GivenByReissue(in.InvoiceID, draft)
	if err != nil {
		return corrected, note, err
	}
	return draft.InvoiceID, note, usecases.Alone(ctx, u.Bus, asked, usecases.Act{
		Kind: events.ActReissue, SubscriberID: in.SubscriberID, Amount: given, Reason: in.Reason,
		What:    events.ApprovalAct{InvoiceID: in.InvoiceID, DueOn: in.DueOn, Lines: approvedLines(draft.Lines)},
		Command: command,
	}, func() error {
		_, err := u.Bus.Execute(ctx, command, meta)
		return err
	})
}

// approvedLines keeps the lines of a corrected invoice for its approval.
func approvedLines(list []commands.LineInput) []events.ApprovalLine {
	lines := make([]events.ApprovalLine, len(list))
	for i, l := range list {
		lines[i] = events.ApprovalLine{
			Description: personal.Of(l.Description), Quantity: l.Quantity, UnitPrice: l.UnitPrice, Once: l.Once,
		}
	}
	return lines
}

// VoidInput says which invoice is taken back, and why.
type VoidInput struct {
	SubscriberID id.Subscriber // on whose account it is
	InvoiceID    id.Invoice
	Reason       string // kept with the invoice, and in the audit log
}

// Void takes back an invoice to which nothing was allocated. More than one person may give away waits for a second
// one. Fails: as commands.VoidInvoice does.
func (u Invoices) Void(ctx context.Context, asked usecases.Asked, in VoidInput) (bus.Result, error) {
	meta := asked.Meta
	meta.Reason = in.Reason
	command := commands.VoidInvoice{SubscriberID: in.SubscriberID, InvoiceID: in.InvoiceID, Reason: in.Reason}
	account, _, err := bus.LoadUnchecked[billing.Account](ctx, u.Bus, in.SubscriberID) // the command checks the owner
	if err != nil {
		return bus.Result{}, err
	}
	act := usecases.Act{
		Kind: events.ActVoid, SubscriberID: in.SubscriberID, Reason: in.Reason,
		What: events.ApprovalAct{InvoiceID: in.InvoiceID}, Command: command,
	}
	if account.OrgID == asked.Org() {
		act.Amount = account.GivenByVoid(in.InvoiceID)
	}
	var done bus.Result
	err = usecases.Alone(ctx, u.Bus, asked, act, func() (err error) {
		done, err = u.Bus.Execute(ctx, command, meta)
		return err
	})
	return done, err
}

// draft makes the command of an invoice under the organization's present settings. usual is the day on which it is due
// when no date is given; one that is over counts as none. Fails: organization_not_found, invalid_input.
func (u Invoices) draft(
	ctx context.Context, asked usecases.Asked, in DraftInvoiceInput, usual calendar.Date,
) (commands.DraftInvoice, error) {
	settings, err := usecases.BillingSettings(ctx, u.Bus, asked.Org())
	if err != nil {
		return commands.DraftInvoice{}, err
	}
	zone, err := usecases.Zone(settings)
	if err != nil {
		return commands.DraftInvoice{}, err
	}
	command := commands.DraftInvoice{
		SubscriberID: in.SubscriberID, OrgID: asked.Org(), InvoiceID: usecases.NewID[id.Invoice](asked, "invoice"),
		Lines: make([]commands.LineInput, len(in.Lines)), Tax: settings.Tax, Currency: settings.Currency,
		Prefix: settings.InvoicePrefix, DueOn: in.DueOn,
	}
	today := calendar.On(u.Clock.Now(), zone)
	switch {
	case !command.DueOn.IsZero():
	case usual.Before(today):
		command.DueOn = today.AddDays(daysToPay)
	default:
		command.DueOn = usual
	}
	var faults failure.Faults
	faults.Check(!command.DueOn.Before(today), "dueDate", "must not be in the past")
	faults.Check(!today.AddDays(usecases.MaxDaysAhead).Before(command.DueOn), "dueDate",
		"must be in the next five years")
	for i, l := range in.Lines {
		command.Lines[i] = commands.LineInput{
			Description: inputtext.Text(l.Description), Quantity: l.Quantity, Once: l.Once,
			UnitPrice: l.UnitPrice.In(settings.Currency, fmt.Sprintf("lines[%d].unitPrice", i), &faults),
		}
	}
	return command, faults.Err()
}
