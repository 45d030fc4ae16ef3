package bookscases

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// account is one subscriber's money, counted a second time from the events: by sums alone, without the rules of the
// account. Amounts are minor units of the account's currency.
type account struct {
	state    billing.Account // as the program itself reads it, to be compared
	lines    int64           // sum of the lines of the statement: debits less credits
	due      int64           // of all issued invoices
	credit   int64           // of all receipts and credit notes
	invoices map[id.Invoice]*invoice
	lots     map[id.Receipt]*lot
	since    time.Time // of the latest event

	command  id.Command   // of the append that is being read
	told     events.Books // what its events told; unknown when they told nothing
	mistold  string       // the first append that told wrong sums; "" = none
	misfolds string       // the first closing that passed other sums on; "" = none
}

// invoice keeps what happened to one invoice.
type invoice struct {
	subscription id.Subscription
	total        int64
	covered      int64 // by money, credit notes and write-offs
	noted        int64 // sum of its issued credit notes
	issued       bool
	order        bool // nobody owes it, as long as it was not paid
	voided       bool
	paid         bool
	cancelled    bool
	replaced     bool // another one is in its place
	corrects     bool // it was made to be in the place of another
	wroteOff     bool
	mistold      string    // the first event that told another amount due; "" = none
	since        time.Time // of the latest event about it
}

// settled reports whether nobody is asked for the invoice any more.
func (i *invoice) settled() bool { return i.paid || i.voided || i.cancelled || i.wroteOff }

// awaitsPlace reports whether a corrected invoice need not have a period: it gets that of the wrong one in a moment, or
// it was given back or given up before.
func (i *invoice) awaitsPlace(f *findings) bool {
	return i.corrects && (i.voided || i.cancelled || i.wroteOff || !f.old(i.since))
}

// owed reports whether the invoice counts for the balance.
func (i *invoice) owed() bool { return i.issued && !i.voided }

// lot is money of one receipt, credit note or write-off, or from before.
type lot struct {
	kind   lotKind
	amount int64
	used   int64 // by invoices and by recovered losses
	aside  int64 // waits for a refund, or was paid out
	taken  int64 // withdrawn
}

// lotKind tells where the money of a lot comes from.
type lotKind uint8

// The kinds of lots.
const (
	ofReceipt lotKind = iota
	ofNote
	ofWriteOff
	ofCarried // paid ahead before the customer came
)

// unused is the part of the lot that is credit.
func (l *lot) unused() int64 { return l.amount - l.used - l.aside - l.taken }

// takeAccount enters an event of an account of the organization.
func (b *Books) takeAccount(e events.Envelope, v events.AccountEvent) {
	subscriber := id.As[id.Subscriber](e.Meta.AggregateID)
	if opened, ok := v.(events.AccountOpened); ok && opened.OrgID == b.org && !b.org.IsZero() {
		b.ours[subscriber] = true
		if b.part.has(id.As[id.Any](subscriber)) {
			b.accounts[subscriber] = &account{invoices: map[id.Invoice]*invoice{}, lots: map[id.Receipt]*lot{}}
		}
	}
	if !b.ours[subscriber] {
		return
	}
	b.takeDocument(v)
	b.takeHolding(e.Meta.At, subscriber, v)
	b.takeReservation(e.Meta.At, subscriber, v)
	a := b.accounts[subscriber]
	if a == nil {
		return
	}
	if e.Meta.CommandID != a.command {
		a.endAppend()
		a.command, a.told = e.Meta.CommandID, events.Books{}
	}
	if told := booksOf(v); told.Known() {
		a.told = told
	}
	var err error
	a.since = e.Meta.At
	if a.state, err = b.foldAccount.next(a.state, e, v); err != nil {
		b.cannotRead(e, err)
	} else if _, closed := v.(events.AccountPeriodClosed); closed {
		a.endPeriod()
	}
	a.takeInvoice(e.Meta.At, v)
	a.takeMoney(e.Meta.At, v)
}

// invoice finds an invoice, or begins one that no event has told of.
func (a *account) invoice(of id.Invoice, at time.Time) *invoice {
	if a.invoices[of] == nil {
		a.invoices[of] = &invoice{}
	}
	a.invoices[of].since = at
	return a.invoices[of]
}

// lot finds the money of a receipt, or begins one that no event has told of.
func (a *account) lot(of id.Receipt) *lot {
	if a.lots[of] == nil {
		a.lots[of] = &lot{}
	}
	return a.lots[of]
}

// book begins the money of a receipt, credit note or write-off. The statement has it as a credit.
func (a *account) book(of id.Receipt, l lot) {
	a.lines -= l.amount
	if l.kind != ofWriteOff {
		a.credit += l.amount
	}
	a.lots[of] = &l
}

// use gives money of a lot to something, or takes it back when the amount is negative.
func (a *account) use(l *lot, amount int64) {
	l.used += amount
	if l.kind != ofWriteOff {
		a.credit -= amount
	}
}

// cover pays a part of an invoice, or uncovers it when the amount is negative, and compares what the event told.
func (a *account) cover(of id.Invoice, at time.Time, amount int64, told int64) {
	inv := a.invoice(of, at)
	inv.covered += amount
	if inv.owed() {
		a.due -= amount
	}
	inv.compare(told)
}

// takeInvoice enters what an event tells about an invoice as a document.
func (a *account) takeInvoice(at time.Time, e events.AccountEvent) {
	switch e := e.(type) {
	case events.InvoiceDrafted:
		inv := a.invoice(e.InvoiceID, at)
		inv.subscription, inv.total, inv.corrects = e.SubscriptionID, e.Total.Minor, !e.Replaces.IsZero()
	case events.InvoiceIssued:
		inv := a.invoice(e.InvoiceID, at)
		inv.issued, inv.order, inv.total = true, e.Order, e.Total.Minor
		a.due += inv.total - inv.covered
		a.lines += inv.total
	case events.InvoiceVoided:
		inv := a.invoice(e.InvoiceID, at)
		if inv.owed() {
			a.due -= inv.total - inv.covered
		}
		if e.WasIssued {
			a.lines -= e.Total.Minor
		}
		inv.voided, inv.paid = true, false
	case events.InvoicePaid:
		inv := a.invoice(e.InvoiceID, at)
		inv.paid, inv.order = true, false
	case events.InvoiceReopened:
		inv := a.invoice(e.InvoiceID, at)
		inv.paid = false
		inv.compare(e.Due.Minor)
	case events.InvoiceCancelled:
		inv := a.invoice(e.InvoiceID, at)
		inv.cancelled, inv.replaced = true, !e.ReplacedBy.IsZero()
	case events.InvoiceWrittenOff:
		a.invoice(e.InvoiceID, at).wroteOff = true
	default: // the other events say nothing about this
	}
}

// takeMoney enters what an event tells about money.
func (a *account) takeMoney(at time.Time, e events.AccountEvent) {
	switch e := e.(type) {
	case events.ReceiptCredited:
		a.book(e.ReceiptID, lot{amount: e.Amount.Minor})
	case events.BalanceCarriedOver:
		a.takeCarried(at, e)
	case events.CreditNoteIssued:
		a.book(e.CreditNoteID, lot{kind: ofNote, amount: e.Amount.Minor})
		a.invoice(e.InvoiceID, at).noted += e.Amount.Minor
	case events.DebtWrittenOff:
		a.book(e.WriteOffID, lot{kind: ofWriteOff, amount: e.Amount.Minor})
	case events.InvoiceAllocated:
		a.use(a.lot(e.ReceiptID), e.Amount.Minor)
		a.cover(e.InvoiceID, at, e.Amount.Minor, e.Due.Minor)
	case events.AllocationWithdrawn:
		a.use(a.lot(e.ReceiptID), -e.Amount.Minor)
		a.cover(e.InvoiceID, at, -e.Amount.Minor, e.Due.Minor)
	case events.ReceiptWithdrawn:
		a.lot(e.ReceiptID).taken += e.Amount.Minor
		a.credit -= e.Amount.Minor
		a.lines += e.Amount.Minor
	case events.WriteOffRecovered:
		a.use(a.lot(e.ReceiptID), e.Amount.Minor)
		a.lines += e.Amount.Minor
	case events.RecoveryWithdrawn:
		a.use(a.lot(e.ReceiptID), -e.Amount.Minor)
		a.lines -= e.Amount.Minor
	default:
		a.takeRefund(e)
	}
}

// takeCarried enters what the customer owed before, which is due without a document, or had paid ahead.
func (a *account) takeCarried(at time.Time, e events.BalanceCarriedOver) {
	if !e.Amount.Positive() {
		a.book(e.ReceiptID, lot{kind: ofCarried, amount: -e.Amount.Minor})
		return
	}
	inv := a.invoice(e.InvoiceID, at)
	inv.issued, inv.total = true, e.Amount.Minor
	a.due += inv.total
	a.lines += inv.total
}

// takeRefund enters money that was set aside, returned or paid out. Paying it out changes nothing: it was set aside.
func (a *account) takeRefund(e events.AccountEvent) {
	move := func(receipt id.Receipt, amount int64) {
		a.lot(receipt).aside += amount
		a.credit -= amount
		a.lines += amount
	}
	switch e := e.(type) {
	case events.CreditSetAside:
		move(e.ReceiptID, e.Amount.Minor)
	case events.SetAsideReturned:
		move(e.ReceiptID, -e.Amount.Minor)
	default: // the other events say nothing about this
	}
}
