package bookscases

import (
	"fmt"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// booksOf returns the books that an event told; they are unknown for an event that tells none.
func booksOf(e events.AccountEvent) events.Books {
	switch e := e.(type) {
	case events.InvoiceIssued:
		return e.After
	case events.InvoiceVoided:
		return e.After
	case events.ReceiptCredited:
		return e.After
	case events.InvoiceAllocated:
		return e.After
	case events.InvoicePaid:
		return e.After
	case events.InvoiceCancelled:
		return e.After
	case events.CreditNoteIssued:
		return e.After
	case events.ReceiptWithdrawn:
		return e.After
	case events.AllocationWithdrawn:
		return e.After
	case events.InvoiceReopened:
		return e.After
	case events.CreditSetAside:
		return e.After
	case events.SetAsideReturned:
		return e.After
	case events.SetAsidePaidOut:
		return e.After
	case events.DebtWrittenOff:
		return e.After
	case events.InvoiceWrittenOff:
		return e.After
	case events.WriteOffRecovered:
		return e.After
	case events.RecoveryWithdrawn:
		return e.After
	case events.BalanceCarriedOver:
		return e.After
	default: // the other events say nothing about this
	}
	return events.Books{}
}

// endAppend compares what the events of an append told with the sums after it. Only the first difference is kept.
func (a *account) endAppend() {
	if a.mistold != "" || !a.told.Known() {
		return
	}
	if a.told.Due.Minor != a.due || a.told.Credit.Minor != a.credit {
		a.mistold = fmt.Sprintf("command %s told due %d and credit %d, the sums are %d and %d", a.command,
			a.told.Due.Minor, a.told.Credit.Minor, a.due, a.credit)
	}
}

// endPeriod compares the state that a closing event passes on with the sums. Only the first difference is kept.
func (a *account) endPeriod() {
	if due, credit := a.state.Due().Minor, a.state.Credit().Minor; a.misfolds == "" &&
		(due != a.due || credit != a.credit) {
		a.misfolds = fmt.Sprintf("a closed period passed on due %d and credit %d, the sums are %d and %d", due, credit,
			a.due, a.credit)
	}
}

// compare notes the first event that told another amount due than the invoice has.
func (i *invoice) compare(told int64) {
	if due := i.total - i.covered; i.mistold == "" && told != due {
		i.mistold = fmt.Sprintf("an event told %d due, the sums are %d", told, due)
	}
}

// check compares the sums of an account with each other and with the state that the program decides with.
func (a *account) check(f *findings, subscriber id.Subscriber) {
	a.endAppend()
	on := about("account", subscriber)
	due, credit := a.state.Due().Minor, a.state.Credit().Minor
	switch {
	case a.misfolds != "":
		f.add(BalanceDiffers, a.misfolds, on)
	case a.lines != a.due-a.credit, due != a.due, credit != a.credit:
		f.add(BalanceDiffers, fmt.Sprintf("lines %d; by sums due %d and credit %d; by the account due %d and credit %d",
			a.lines, a.due, a.credit, due, credit), on)
	}
	if a.mistold != "" {
		f.add(BooksToldWrong, a.mistold, on)
	}
	if a.due > a.ordered() && a.credit > 0 {
		f.add(CreditBesideDebt, fmt.Sprintf("due %d, credit %d", a.due, a.credit), on)
	}
	for receipt, l := range a.lots {
		l.check(f, a.state.Receipts[receipt], on, about("receipt", receipt))
	}
	for invoice, inv := range a.invoices {
		known, found := a.state.Invoices[invoice]
		if !found {
			known, found = a.state.Settled[invoice]
		}
		if found && known.Due.Minor != inv.total-inv.covered {
			f.add(InvoiceDueDiffers, fmt.Sprintf("by sums %d, by the account %d", inv.total-inv.covered,
				known.Due.Minor), on, about("invoice", invoice))
		}
		inv.check(f, on, about("invoice", invoice))
	}
}

// ordered is the part of what is due that nobody owes.
func (a *account) ordered() (sum int64) {
	for _, inv := range a.invoices {
		if inv.order && inv.owed() {
			sum += inv.total - inv.covered
		}
	}
	return sum
}

// check looks at the parts of one lot. known is the account's own state of it; the zero value when it keeps none.
func (l *lot) check(f *findings, known billing.Receipt, on ...About) {
	switch {
	case l.used < 0, l.aside < 0, l.taken < 0, l.unused() < 0, l.kind == ofWriteOff && l.unused() != 0:
		f.add(ReceiptOverspent, fmt.Sprintf("amount %d: used %d, for refunds %d, withdrawn %d", l.amount, l.used,
			l.aside, l.taken), on...)
	case known.Seq > 0 && known.Unused.Minor != l.unused():
		f.add(ReceiptOverspent, fmt.Sprintf("unused by sums %d, by the account %d", l.unused(), known.Unused.Minor),
			on...)
	}
}

// check looks at the parts of one invoice, and at what it counts as.
func (i *invoice) check(f *findings, on ...About) {
	due := i.total - i.covered
	switch {
	case i.mistold != "":
		f.add(InvoiceDueDiffers, i.mistold, on...)
	case due < 0, i.covered < 0, i.voided && i.covered != 0, i.noted > i.total, !i.issued && i.covered != 0:
		f.add(InvoiceDueDiffers, fmt.Sprintf("total %d, covered %d, credit notes %d", i.total, i.covered, i.noted),
			on...)
	}
	over := i.paid || i.cancelled || i.wroteOff
	switch {
	case i.voided, !i.issued && !over:
	case !i.issued, due > 0 && (i.paid || i.cancelled), due == 0 && !over,
		i.cancelled && i.noted != i.total:
		f.add(InvoiceStateDiffers, fmt.Sprintf("total %d, due %d, issued %t, paid %t, cancelled %t, written off %t",
			i.total, due, i.issued, i.paid, i.cancelled, i.wroteOff), on...)
	}
}
