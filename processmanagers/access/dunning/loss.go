package dunning

import (
	"maps"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// loss applies an event of the account to the debts that were given up. A credit note is the operator's gift and counts
// as money here.
func (s State) loss(e events.Event) {
	switch e := e.(type) {
	case events.InvoiceAllocated:
		switch {
		case e.ReceiptID == s.WriteOff:
			s.lose(e.InvoiceID, e.Amount)
		case e.Due.Minor <= 0: // a debt that was given up in part: the rest is paid now
			s.forget(e.InvoiceID)
		}
	case events.InvoicePaid:
		if e.WrittenOff.Positive() { // it is not paid whole
			return
		}
		paid := Invoice{Subscription: e.SubscriptionID, SoldTo: e.SoldTo}
		for k, l := range s.Lines {
			if len(l.Lost) > 0 && paid.countsFor(k, l) {
				l.Lost = nil
				s.Lines[k] = l
			}
		}
	case events.InvoiceCancelled:
		s.forget(e.InvoiceID)
	case events.WriteOffRecovered:
		s.lost(e.InvoiceID, e.Amount.Neg())
	case events.RecoveryWithdrawn:
		if !e.ToCredit { // otherwise nobody owes the invoice any more
			s.lost(e.InvoiceID, e.Amount)
		}
	}
}

// lose records that a part of an invoice was given up, for the postpaid subscriptions that are cut: a loss is no
// payment and gives them no access back. Of others the debt goes without a trace.
func (s State) lose(invoice id.Invoice, amount money.Amount) {
	i, known := s.Invoices[invoice]
	for k, l := range s.Lines {
		if !known || l.Prepaid || !l.State.Cut() || !i.countsFor(k, l) {
			continue
		}
		debt := events.DunningDebt{InvoiceID: invoice, DueOn: i.DueOn, Amount: amount}
		if before, twice := l.Lost[invoice]; twice {
			debt.Amount = debt.Amount.Add(before.Amount)
		}
		l.Lost = clone(l.Lost)
		l.Lost[invoice] = debt
		s.Lines[k] = l
	}
}

// lost changes the amount that was lost on an invoice, where it counts.
func (s State) lost(invoice id.Invoice, change money.Amount) {
	for k, l := range s.Lines {
		if debt, has := l.Lost[invoice]; has {
			debt.Amount = debt.Amount.Add(change)
			l.Lost = clone(l.Lost)
			l.Lost[invoice] = debt
			s.Lines[k] = l
		}
	}
}

// forget ends the loss on an invoice for all subscriptions.
func (s State) forget(invoice id.Invoice) {
	for k, l := range s.Lines {
		if _, has := l.Lost[invoice]; has {
			l.Lost = clone(l.Lost)
			delete(l.Lost, invoice)
			s.Lines[k] = l
		}
	}
}

// recovered gives the losses that were recovered whole; nil without any. Those that are left in the state none were too
// small to matter.
func recovered(lost map[id.Invoice]events.DunningDebt) map[id.Invoice]events.DunningDebt {
	if len(lost) == 0 {
		return nil
	}
	out := clone(lost)
	maps.DeleteFunc(out, func(_ id.Invoice, d events.DunningDebt) bool { return d.Amount.Minor > 0 })
	return out
}
