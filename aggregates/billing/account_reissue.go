package billing

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// decideReissue drafts a corrected invoice and the credit note over the whole wrong one. Source:
// docs/rules/billing.md#reissue.
func decideReissue(s Account, c commands.ReissueInvoice, now time.Time) ([]events.AccountEvent, error) {
	if s.knows(c.Corrected.InvoiceID) || s.notes(c.CreditNoteID) {
		return nil, nil
	}
	if err := s.mayReissue(c); err != nil {
		return nil, err
	}
	wrong, _ := s.invoice(c.InvoiceID)
	corrected := c.Corrected
	corrected.SubscriptionID, corrected.Order = wrong.SubscriptionID, wrong.Order
	corrected.PeriodFrom, corrected.PeriodTo = wrong.PeriodFrom, wrong.PeriodTo
	drafted, err := draft(corrected, now)
	if err != nil {
		return nil, err
	}
	drafted.Replaces = c.InvoiceID
	b := booking{s: s, now: now}
	b.record(drafted)
	b.record(events.CreditNoteDrafted{
		SubscriberID: s.SubscriberID, OrgID: s.OrgID, CreditNoteID: c.CreditNoteID, InvoiceID: c.InvoiceID,
		Amount: wrong.Total, Reason: personal.Of(c.Reason), Prefix: c.NotePrefix, ReplacedBy: corrected.InvoiceID,
		DraftedAt: now,
	})
	return b.events(), nil
}

// mayReissue refuses an invoice that is not issued, or of which something was given back or given up already, and one
// over what was sold beside the periods, which goes with its own invoice.
func (s Account) mayReissue(c commands.ReissueInvoice) error {
	inv, found := s.invoice(c.InvoiceID)
	_, voided := s.Voided[c.InvoiceID]
	switch {
	case !s.Exists():
		return commands.ErrNoInvoice()
	case isArchived(s, c.InvoiceID):
		return invoiceArchived()
	case voided:
		return invoiceVoided()
	case !found:
		return commands.ErrNoInvoice()
	case inv.Seq == 0:
		return invoiceNotIssued()
	case !inv.ReplacedBy.IsZero() || inv.Cancelled || !inv.Total.Positive():
		return givenBack()
	case inv.Noted.Positive():
		return hasCreditNote()
	case inv.WrittenOff.Positive():
		return partWrittenOff()
	case !inv.SoldTo.IsZero():
		return failure.NewConflict("invoice_not_reissuable",
			"A top-up or a change of plan goes with its own invoice. Give it back by a credit note instead.")
	case c.Corrected.Currency != s.Currency:
		return commands.ErrCurrencyMismatch(s.Currency)
	}
	return nil
}

// successor is the invoice that takes the place of a wrong one when its credit note is issued: the corrected one, or
// where that was itself replaced and cancelled before, what took its place. It is zero for an invoice that was not
// reissued.
func (s Account) successor(invoice id.Invoice) id.Invoice {
	inv, _ := s.invoice(invoice)
	next := inv.ReplacedBy
	for range len(s.Invoices) + len(s.Settled) { // a chain is not longer
		inv, _ = s.invoice(next)
		if !inv.Cancelled || inv.ReplacedBy.IsZero() {
			break
		}
		next = inv.ReplacedBy
	}
	return next
}

// InPlaceOf is the invoice to which belongs what is done about the period of another: the last corrected one, from its
// draft on, also while the credit note over the wrong one waits for its number. It is the invoice itself where that was
// not reissued.
func (s Account) InPlaceOf(invoice id.Invoice) id.Invoice {
	for range len(s.Invoices) + len(s.Settled) { // a chain is not longer
		inv, _ := s.invoice(invoice)
		if inv.ReplacedBy.IsZero() {
			break
		}
		invoice = inv.ReplacedBy
	}
	return invoice
}

// Invoiced is the subscription whose period an invoice is for, and the day on which the invoice is due; zero for one
// that the account does not have (any more), and for one that is replaced.
func (s Account) Invoiced(invoice id.Invoice) (id.Subscription, calendar.Date) {
	inv, _ := s.invoice(invoice)
	if !inv.ReplacedBy.IsZero() {
		return id.Subscription{}, calendar.Date{}
	}
	return inv.SubscriptionID, inv.DueOn
}
