package billing

import (
	"slices"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// evolveAccount applies one recorded event. It never fails and never checks a rule.
func evolveAccount(s Account, e events.AccountEvent) Account {
	switch e := e.(type) { // complete: gochecksumtype, no default
	case events.AccountOpened:
		s.SubscriberID, s.OrgID, s.Currency = e.SubscriberID, e.OrgID, e.Currency
	case events.InvoiceDrafted:
		s.Invoices = with(s.Invoices, e.InvoiceID, Invoice{
			SubscriptionID: e.SubscriptionID, PeriodFrom: e.PeriodFrom, PeriodTo: e.PeriodTo,
			Total: e.Total, Due: e.Total, DueOn: e.DueOn, Noted: money.Of(0, e.Total.Currency),
		})
	case events.InvoiceIssued:
		inv := s.Invoices[e.InvoiceID]
		s.Issued++
		inv.Number, inv.Seq = e.Number, s.Issued
		return s.withInvoice(e.InvoiceID, inv)
	case events.InvoiceVoided:
		s.Invoices = without(s.Invoices, e.InvoiceID)
		s.Settled = without(s.Settled, e.InvoiceID)
		s.Voided = with(s.Voided, e.InvoiceID, e.Number)
	case events.InvoicePaid:
		inv, _ := s.invoice(e.InvoiceID)
		inv.Paid = true
		return s.withInvoice(e.InvoiceID, inv)
	case events.InvoiceCancelled:
		inv, _ := s.invoice(e.InvoiceID)
		inv.Cancelled = true
		return s.withInvoice(e.InvoiceID, inv)
	case events.InvoiceReopened:
		inv, _ := s.invoice(e.InvoiceID)
		inv.Paid = false
		return s.withInvoice(e.InvoiceID, inv)
	case events.CreditLeft:
		// The credit follows from Lots.
	case events.PromptReserved:
		s.Prompts = with(s.Prompts, e.PaymentID, Prompt{InvoiceID: e.InvoiceID, Amount: e.Amount})
	case events.PromptReleased:
		s.Prompts = without(s.Prompts, e.PaymentID)
	case events.AccountPeriodClosed:
		return openingAccount(e.Opening)
	case events.ReceiptCredited, events.ReceiptWithdrawn, events.InvoiceAllocated, events.AllocationWithdrawn,
		events.CreditNoteDrafted, events.CreditNoteIssued:
		return evolveMoney(s, e)
	}
	return s
}

// evolveMoney applies the events about receipts and credit notes.
func evolveMoney(s Account, e events.AccountEvent) Account {
	switch e := e.(type) {
	case events.ReceiptCredited:
		return s.withMoney(e.ReceiptID, Receipt{Number: e.Number, Amount: e.Amount, Move: e.Move})
	case events.CreditNoteDrafted:
		inv, _ := s.invoice(e.InvoiceID)
		inv.Noted = inv.Noted.Add(e.Amount)
		s.Notes = with(s.Notes, e.CreditNoteID, Note{InvoiceID: e.InvoiceID, Amount: e.Amount, Reason: e.Reason})
		return s.withInvoice(e.InvoiceID, inv)
	case events.CreditNoteIssued:
		s.Notes = without(s.Notes, e.CreditNoteID)
		return s.withMoney(e.CreditNoteID, Receipt{Number: e.Number, Amount: e.Amount, CreditNote: true})
	case events.ReceiptWithdrawn:
		r := s.Receipts[e.ReceiptID]
		r.Withdrawn, r.Unused = true, money.Of(0, r.Amount.Currency)
		s.Receipts = with(s.Receipts, e.ReceiptID, r)
		s.Lots = dropLot(s.Lots, e.ReceiptID)
	case events.InvoiceAllocated:
		r := s.Receipts[e.ReceiptID]
		r.Unused = r.Unused.Sub(e.Amount)
		r.Allocations = allocate(r.Allocations, e.InvoiceID, e.Amount)
		s.Receipts = with(s.Receipts, e.ReceiptID, r)
		if r.Unused.IsZero() {
			s.Lots = dropLot(s.Lots, e.ReceiptID)
		}
		return s.withDue(e.InvoiceID, e.Due)
	case events.AllocationWithdrawn:
		r := s.Receipts[e.ReceiptID]
		r.Allocations = slices.DeleteFunc(slices.Clone(r.Allocations),
			func(a Allocation) bool { return a.InvoiceID == e.InvoiceID })
		s.Receipts = with(s.Receipts, e.ReceiptID, r)
		return s.withDue(e.InvoiceID, e.Due)
	default: // other events are applied by evolveAccount, whose switch is complete
	}
	return s
}

// allocate returns a copy of the allocations with the amount added to the one of the invoice.
func allocate(list []Allocation, invoice id.Invoice, amount money.Amount) []Allocation {
	list = slices.Clone(list)
	for i := range list {
		if list[i].InvoiceID == invoice {
			list[i].Amount = list[i].Amount.Add(amount)
			return list
		}
	}
	return append(list, Allocation{invoice, amount})
}

// withMoney adds a receipt or credit note, with all of its money unused.
func (s Account) withMoney(receipt id.Receipt, r Receipt) Account {
	s.Credited++
	r.Unused, r.Seq = r.Amount, s.Credited
	s.Receipts = with(s.Receipts, receipt, r)
	s.Lots = append(slices.Clip(s.Lots), receipt)
	return s
}

// withDue sets the amount due on an invoice.
func (s Account) withDue(invoice id.Invoice, due money.Amount) Account {
	inv, _ := s.invoice(invoice)
	inv.Due = due
	return s.withInvoice(invoice, inv)
}

// withInvoice stores the invoice among the settled ones when it is issued and nothing is due, else among the open ones.
func (s Account) withInvoice(invoice id.Invoice, inv Invoice) Account {
	if inv.Seq > 0 && inv.Due.IsZero() {
		s.Invoices = without(s.Invoices, invoice)
		s.Settled = with(s.Settled, invoice, inv)
		return s
	}
	s.Settled = without(s.Settled, invoice)
	s.Invoices = with(s.Invoices, invoice, inv)
	return s
}
