package billing

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// decideTakeBackInvoice voids an invoice on which nothing was paid, drafts included, and drafts a credit note over any
// other one. Where the period is dropped, a reissued one stands for the corrected one. Source:
// docs/rules/billing.md#undo.
func decideTakeBackInvoice(s Account, c commands.TakeBackInvoice, now time.Time) ([]events.AccountEvent, error) {
	if c.Dropped { // nobody has the period of the corrected one
		c.InvoiceID = s.InPlaceOf(c.InvoiceID)
	}
	inv, found := s.invoice(c.InvoiceID)
	_, voided := s.Voided[c.InvoiceID]
	switch {
	case isArchived(s, c.InvoiceID):
		return nil, invoiceArchived()
	case voided || s.notes(c.CreditNoteID):
		return nil, nil
	case !found:
		return nil, commands.ErrNoInvoice()
	case s.Closed: // what was paid would become credit of somebody who is gone
		return nil, commands.ErrAccountClosed()
	case (inv.Noted.Positive() || inv.WrittenOff.Positive()) && !c.Dropped:
		return nil, commands.ErrCorrectedSince()
	case !inv.Noted.Positive() && !inv.WrittenOff.Positive() && inv.Due == inv.Total:
		return decideVoidInvoice(s, commands.VoidInvoice{
			SubscriberID: c.SubscriberID, InvoiceID: c.InvoiceID, Reason: c.Reason, ReleaseMoney: true,
		}, now)
	}
	made, err := decideDraftCreditNote(s, commands.DraftCreditNote{
		SubscriberID: c.SubscriberID, CreditNoteID: c.CreditNoteID, InvoiceID: c.InvoiceID, Reason: c.Reason,
		Prefix: c.Prefix,
	}, now)
	if c.Dropped && failure.CodeOf(err) == "invoice_given_back" {
		return nil, nil
	}
	return made, err
}

// notes reports whether a credit note was drafted, and issued or not.
func (s Account) notes(note id.Receipt) bool {
	_, drafted := s.Notes[note]
	_, issued := s.Receipts[note]
	return drafted || issued || isArchived(s, note)
}

// TakingBack tells what a command would do, or has done, without doing it: events.ItemUndone for an invoice that is
// voided, events.ItemCredited for one that a credit note covers. The decision itself is asked. It fails as the command
// does.
func (s Account) TakingBack(c commands.TakeBackInvoice, now time.Time) (string, error) {
	made, err := decideTakeBackInvoice(s, c, now)
	if err != nil {
		return "", err
	}
	for _, e := range made {
		if _, credited := e.(events.CreditNoteDrafted); credited {
			return events.ItemCredited, nil
		}
	}
	if s.notes(c.CreditNoteID) {
		return events.ItemCredited, nil
	}
	return events.ItemUndone, nil
}
