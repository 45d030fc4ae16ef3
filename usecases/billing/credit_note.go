package billingcases

import (
	"context"
	"errors"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/usecases"
)

// CreditNotes gives back parts of invoices. Safe for concurrent use.
type CreditNotes struct {
	Bus *bus.Bus
}

// DraftCreditNoteInput says how much of which invoice is given back.
type DraftCreditNoteInput struct {
	SubscriberID id.Subscriber // on whose account the invoice is
	InvoiceID    id.Invoice
	Amount       *usecases.Figure // in the account's currency; nil = all that is left of the invoice
	Reason       string           // kept with the note, and in the audit log
}

// Draft drafts a credit note for a part of an invoice. It is one command, in which the account decides whether so much
// is left; more than one person may give away waits for a second one. A process numbers and issues the note, also after
// a crash. Under the same key a repeat gets the note of the first try. A note over the whole of a period's invoice ends
// the period, so the subscription is asked first. Fails: invoice_not_found, invoice_not_issued, invoice_archived,
// invoice_voided, period_archived, credit_note_too_large, invoice_given_back, organization_not_found, invalid_input.
func (u CreditNotes) Draft(ctx context.Context, asked usecases.Asked, in DraftCreditNoteInput) (id.Receipt, error) {
	account, _, err := bus.LoadOwned[billing.Account](ctx, u.Bus, asked.Org(), in.SubscriberID)
	if errors.Is(err, commands.ErrNoAccount()) {
		return id.Receipt{}, commands.ErrNoInvoice()
	}
	if err != nil {
		return id.Receipt{}, err
	}
	amount, err := partOf(account, in.Amount)
	if err != nil {
		return id.Receipt{}, err
	}
	prefix, err := usecases.NotePrefix(ctx, u.Bus, asked.Org())
	if err != nil {
		return id.Receipt{}, err
	}
	note, meta := usecases.NewID[id.Receipt](asked, "credit_note"), asked.Meta
	meta.Reason = in.Reason
	if of := account.PeriodCancelled(note, in.InvoiceID, amount); !of.IsZero() {
		err := usecases.PeriodsMayChange(ctx, u.Bus, asked.Org(), map[id.Invoice]id.Subscription{in.InvoiceID: of})
		if err != nil {
			return id.Receipt{}, err
		}
	}
	if amount.IsZero() {
		amount = leastOf(account, account.Left(in.InvoiceID))
	}
	command := commands.DraftCreditNote{
		SubscriberID: in.SubscriberID, CreditNoteID: note, InvoiceID: in.InvoiceID, Amount: amount, Reason: in.Reason,
		Prefix: prefix,
	}
	return note, usecases.Alone(ctx, u.Bus, asked, usecases.Act{
		Kind: events.ActCreditNote, SubscriberID: in.SubscriberID, Amount: amount, Reason: in.Reason,
		What: events.ApprovalAct{InvoiceID: in.InvoiceID}, Command: command,
	}, func() error {
		_, err := u.Bus.Execute(ctx, command, meta)
		return err
	})
}

// leastOf is all that there is to give away, for a command; never zero, by which a command would mean all that there is
// when it arrives, which can be more than was looked at.
func leastOf(account billing.Account, all money.Amount) money.Amount {
	if all.Positive() {
		return all
	}
	return money.Of(1, account.Currency)
}

// partOf reads an amount that was asked for in the currency of an account. Without one it is zero, which stands for
// all that there is. Fails: invalid_input.
func partOf(account billing.Account, asked *usecases.Figure) (money.Amount, error) {
	if asked == nil {
		return money.Of(0, account.Currency), nil
	}
	var faults failure.Faults
	amount := asked.In(account.Currency, "amount", &faults)
	faults.Check(len(faults) > 0 || amount.Positive(), "amount", "must be above zero")
	return amount, faults.Err()
}
