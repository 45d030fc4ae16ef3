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
	case events.AccountClosed:
		s.Closed, s.Forgotten = true, s.Forgotten || e.Forget
	case events.InvoiceDrafted:
		s.Invoices = with(s.Invoices, e.InvoiceID, Invoice{
			SubscriptionID: e.SubscriptionID, SoldTo: e.SoldTo, Order: e.Order, RunID: e.RunID,
			PeriodFrom: e.PeriodFrom, PeriodTo: e.PeriodTo,
			Total: e.Total, Once: once(e.Lines, e.Total.Currency), Due: e.Total, DueOn: e.DueOn,
			Noted:      money.Of(0, e.Total.Currency),
			WrittenOff: money.Of(0, e.Total.Currency), Recovered: money.Of(0, e.Total.Currency),
		})
	case events.InvoiceIssued:
		inv := s.Invoices[e.InvoiceID]
		s.Issued++
		inv.Number, inv.Seq, inv.RunID = e.Number, s.Issued, id.BillingRun{}
		return s.withInvoice(e.InvoiceID, inv)
	case events.InvoiceVoided:
		s.Invoices = without(s.Invoices, e.InvoiceID)
		s.Settled = without(s.Settled, e.InvoiceID)
		s.Voided = with(s.Voided, e.InvoiceID, e.Number)
	case events.InvoicePaid:
		inv, _ := s.invoice(e.InvoiceID)
		inv.Paid, inv.EverPaid, inv.Order = true, true, false // what was ordered is given: from now on it is owed
		return s.withInvoice(e.InvoiceID, inv)
	case events.InvoiceCancelled:
		inv, _ := s.invoice(e.InvoiceID)
		inv.Cancelled = true
		return s.withInvoice(e.InvoiceID, inv).replaced(inv, e.ReplacedBy)
	case events.InvoiceReopened:
		inv, _ := s.invoice(e.InvoiceID)
		inv.Paid, inv.EverPaid = false, true
		return s.withInvoice(e.InvoiceID, inv)
	case events.InvoiceWrittenOff:
		inv, _ := s.invoice(e.InvoiceID)
		inv.WroteOff, inv.Paid = true, false
		return s.withInvoice(e.InvoiceID, inv)
	case events.RecoveryWaived:
		inv, _ := s.invoice(e.InvoiceID)
		inv.Waived = true
		return s.withInvoice(e.InvoiceID, inv)
	case events.CreditLeft: // it follows from Lots
	case events.CreditNoteVoided:
		s.Voided = with(s.Voided, id.As[id.Invoice](e.CreditNoteID), e.Number)
	case events.PromptReserved:
		s.Prompts = with(s.Prompts, e.PaymentID, Prompt{InvoiceID: e.InvoiceID, Amount: e.Amount})
	case events.PromptReleased:
		s.Prompts = without(s.Prompts, e.PaymentID)
	case events.AccountPeriodClosed:
		return openingAccount(e.Opening).withReasons(e.Notes)
	case events.ReceiptCredited, events.ReceiptWithdrawn, events.InvoiceAllocated, events.AllocationWithdrawn,
		events.CreditNoteDrafted, events.CreditNoteIssued, events.CreditSetAside, events.SetAsideReturned,
		events.SetAsidePaidOut, events.DebtWrittenOff, events.WriteOffRecovered, events.RecoveryWithdrawn,
		events.BalanceCarriedOver:
		return evolveMoney(s, e)
	}
	return s
}

// evolveMoney applies the events about receipts, credit notes and write-offs.
func evolveMoney(s Account, e events.AccountEvent) Account {
	switch e := e.(type) {
	case events.ReceiptCredited:
		return s.withMoney(e.ReceiptID, Receipt{
			Number: e.Number, Amount: e.Amount, Move: e.Move, Withdrawals: s.Receipts[e.ReceiptID].Withdrawals,
			BookedAt: e.At,
		})
	case events.BalanceCarriedOver:
		return s.carriedOver(e)
	case events.CreditNoteDrafted:
		inv, _ := s.invoice(e.InvoiceID)
		inv.Noted, inv.ReplacedBy = inv.Noted.Add(e.Amount), e.ReplacedBy
		if !e.Leaves.IsZero() {
			inv.Part = e.Leaves
		}
		s.Notes = with(s.Notes, e.CreditNoteID, Note{InvoiceID: e.InvoiceID, Amount: e.Amount, Reason: e.Reason})
		return s.withInvoice(e.InvoiceID, inv)
	case events.CreditNoteIssued:
		s.Notes = without(s.Notes, e.CreditNoteID)
		return s.withMoney(e.CreditNoteID,
			Receipt{Number: e.Number, Amount: e.Amount, CreditNote: true, Home: e.InvoiceID})
	case events.DebtWrittenOff:
		return s.withMoney(e.WriteOffID, Receipt{Amount: e.Amount, WriteOff: true})
	case events.ReceiptWithdrawn:
		return s.withWithdrawal(e)
	case events.InvoiceAllocated:
		if s.Receipts[e.ReceiptID].WriteOff {
			inv, _ := s.invoice(e.InvoiceID)
			inv.WrittenOff = inv.WrittenOff.Add(e.Amount)
			s = s.withInvoice(e.InvoiceID, inv)
		}
		return s.moved(e.ReceiptID, toInvoice(e.InvoiceID), e.Amount).withDue(e.InvoiceID, e.Due)
	case events.AllocationWithdrawn:
		s = s.moved(e.ReceiptID, toInvoice(e.InvoiceID), e.Amount.Neg())
		if !e.ToCredit {
			s = s.leaving(e.ReceiptID, e.Amount)
		}
		return s.withDue(e.InvoiceID, e.Due)
	case events.CreditSetAside:
		return s.moved(e.ReceiptID, toRefund(e.RefundID), e.Amount)
	case events.SetAsideReturned:
		return s.moved(e.ReceiptID, toRefund(e.RefundID), e.Amount.Neg()).refunded(e.ReceiptID, e.RefundID)
	case events.SetAsidePaidOut:
		return s.refunded(e.ReceiptID, e.RefundID)
	case events.WriteOffRecovered:
		return s.moved(e.ReceiptID, toLoss(e.InvoiceID), e.Amount).withRecovered(e.InvoiceID, e.Amount)
	case events.RecoveryWithdrawn:
		s = s.moved(e.ReceiptID, toLoss(e.InvoiceID), e.Amount.Neg())
		if !e.ToCredit {
			s = s.leaving(e.ReceiptID, e.Amount)
		}
		return s.withRecovered(e.InvoiceID, e.Amount.Neg())
	default: // other events are applied by evolveAccount, whose switch is complete
	}
	return s
}

// replaced passes on to a corrected invoice that the wrong one was paid once.
func (s Account) replaced(wrong Invoice, by id.Invoice) Account {
	corrected, found := s.invoice(by)
	if !found || !wrong.EverPaid {
		return s
	}
	corrected.EverPaid = true
	return s.withInvoice(by, corrected)
}

// moved allocates unused money of a receipt to a target, or frees it when the amount is negative.
func (s Account) moved(receipt id.Receipt, to Target, amount money.Amount) Account {
	r := s.Receipts[receipt]
	r.Unused = r.Unused.Sub(amount)
	r.Allocations = allocate(r.Allocations, to, amount)
	return s.withReceipt(receipt, r)
}

// leaving takes freed money off the account together with its receipt.
func (s Account) leaving(receipt id.Receipt, amount money.Amount) Account {
	r := s.Receipts[receipt]
	r.Unused = r.Unused.Sub(amount)
	return s.withReceipt(receipt, r)
}

// withWithdrawal takes the unused part of a withdrawal; AllocationWithdrawn and RecoveryWithdrawn take the others.
// Events of the first version, which always took all, do not say how much of it was unused.
func (s Account) withWithdrawal(e events.ReceiptWithdrawn) Account {
	r := s.Receipts[e.ReceiptID]
	r.Taken = r.Taken.Add(e.Amount)
	r.Unused = r.Unused.Sub(e.FromCredit)
	if e.Left.IsZero() && (e.WithdrawalID.IsZero() || r.Taken == r.Amount) { // the rest may wait for a refund
		r.Withdrawn, r.Unused = true, money.Of(0, r.Amount.Currency)
	}
	if !e.WithdrawalID.IsZero() {
		r.Withdrawals = append(slices.Clip(r.Withdrawals), e.WithdrawalID)
	}
	return s.withReceipt(e.ReceiptID, r)
}

// refunded marks the refund's allocation as done.
func (s Account) refunded(receipt id.Receipt, refund id.Refund) Account {
	r := s.Receipts[receipt]
	r.Allocations = slices.Clone(r.Allocations)
	for i := range r.Allocations {
		r.Allocations[i].Done = r.Allocations[i].Done || r.Allocations[i].Target == toRefund(refund)
	}
	return s.withReceipt(receipt, r)
}

// withRecovered adds to the recovered part of a written-off invoice.
func (s Account) withRecovered(invoice id.Invoice, amount money.Amount) Account {
	inv, _ := s.invoice(invoice)
	inv.Recovered = inv.Recovered.Add(amount)
	return s.withInvoice(invoice, inv)
}

// allocate returns a copy of the allocations with the amount added to the one of the target. One that becomes zero is
// dropped, except that of a refund.
func allocate(list []Allocation, to Target, amount money.Amount) []Allocation {
	list = slices.Clone(list)
	for i := range list {
		if list[i].Target == to {
			list[i].Amount = list[i].Amount.Add(amount)
			if list[i].Amount.IsZero() && to.Kind != events.ForRefund {
				return slices.Delete(list, i, i+1)
			}
			return list
		}
	}
	return append(list, Allocation{Target: to, Amount: amount})
}

// withMoney adds a receipt, credit note or write-off, with all of its money unused.
func (s Account) withMoney(receipt id.Receipt, r Receipt) Account {
	s.Credited++
	r.Unused, r.Taken, r.Seq = r.Amount, money.Of(0, r.Amount.Currency), s.Credited
	s.Lots = dropLot(s.Lots, receipt)
	return s.withReceipt(receipt, r)
}

// withReceipt stores a receipt, and keeps Lots in step with its unused money, in the order of booking.
func (s Account) withReceipt(receipt id.Receipt, r Receipt) Account {
	s.Receipts = with(s.Receipts, receipt, r)
	at := slices.Index(s.Lots, receipt)
	spendable := r.Unused.Positive() && !r.WriteOff
	switch {
	case at >= 0 && !spendable:
		s.Lots = dropLot(s.Lots, receipt)
	case at < 0 && spendable:
		at = slices.IndexFunc(s.Lots, func(lot id.Receipt) bool { return s.Receipts[lot].Seq > r.Seq })
		if at < 0 {
			at = len(s.Lots)
		}
		s.Lots = slices.Insert(slices.Clone(s.Lots), at, receipt)
	}
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

// once is the sum of the lines of which no day has a share.
func once(lines []events.InvoiceLine, currency money.Currency) money.Amount {
	sum := money.Of(0, currency)
	for _, l := range lines {
		if l.Once {
			sum = sum.Add(l.Gross)
		}
	}
	return sum
}
