package renewal

import (
	"cmp"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// without returns a new list without an invoice, nil when no invoice is left.
func without(list []id.Invoice, invoice id.Invoice) []id.Invoice {
	var left []id.Invoice
	for _, i := range list {
		if i != invoice {
			left = append(left, i)
		}
	}
	return left
}

// became takes in the period that became due.
func (s *Subscription) became(e events.PeriodDue) {
	if e.Retakes {
		s.reopen(e.InvoiceID)
	} else {
		s.wait(e.InvoiceID)
	}
	s.Dropped, s.Undone, s.Retakes = time.Time{}, false, e.NextFrom
	s.Part, s.Beside = e.Part, e.Extras
	s.Extras = s.Extras.After(e)
	if !e.To.IsZero() {
		s.NextFrom = e.To
	}
	if e.NextTerms.Told() {
		s.Then = e.NextTerms
	}
	s.goOn()
}

// goOn takes over the terms of the periods after the open one when that is settled.
func (s *Subscription) goOn() {
	if s.Then.Told() && len(s.Open) == 0 {
		s.billedBy(s.Then)
	}
}

// dropped takes in that a period was cancelled.
func (s *Subscription) dropped(e events.PeriodCancelled) {
	s.settle(e.InvoiceID)
	s.goOn()
	if e.NextTerms.Told() {
		s.billedBy(e.NextTerms)
	}
	if e.Ordinal > 0 { // otherwise it was recorded without the paid time
		s.PaidUntil = e.PaidUntil
	}
	s.Dropped, s.Undone = e.At, s.Undone || !e.UndoneRun.IsZero()
	if s.NextFrom = cmp.Or(e.NextFrom, s.NextFrom); s.Mode == events.Prepaid { // told by an undo
		s.Retakes = cmp.Or(e.NextFrom, s.Retakes)
	}
	s.Extras = s.Extras.After(e)
}

// waitsFor reports whether an invoice is one of the open ones.
func (s Subscription) waitsFor(invoice id.Invoice) bool { return slices.Contains(s.Open, invoice) }

// wait adds a prepaid invoice to the open ones. Postpaid periods follow each other whether they are paid or not.
func (s *Subscription) wait(invoice id.Invoice) {
	if s.Mode == events.Prepaid {
		s.Open = append(without(s.Open, invoice), invoice)
	}
}

// reopen adds a prepaid invoice to the open ones of whose period days may have been used.
func (s *Subscription) reopen(invoice id.Invoice) {
	s.settle(invoice)
	if s.wait(invoice); s.waitsFor(invoice) {
		s.Reopened = append(without(s.Reopened, invoice), invoice)
	}
}

// reissued puts a corrected invoice in the place of another. By then money has been moved to it, or has come to it,
// while nobody knew for which period it is; so a part of it is looked for, unless it is paid whole.
func (s *Subscription) reissued(e events.PeriodReissued) {
	waited, before := s.waitsFor(e.InvoiceID), slices.Contains(s.Reopened, e.InvoiceID)
	s.settle(e.InvoiceID)
	switch {
	case waited && before:
		s.reopen(e.CorrectedID)
	case waited:
		s.wait(e.CorrectedID)
	}
	if s.buysDays(e.CorrectedID) && s.Paid != e.CorrectedID {
		s.Partly = PartPaid{SubscriberID: e.SubscriberID, InvoiceID: e.CorrectedID}
	}
	if s.Paid == e.InvoiceID {
		s.Paid = e.CorrectedID
	}
}

// settle removes an invoice from the open ones.
func (s *Subscription) settle(invoice id.Invoice) {
	s.Reopened = without(s.Reopened, invoice)
	if s.Open = without(s.Open, invoice); s.Partly.InvoiceID == invoice {
		s.Partly = PartPaid{}
	}
}
