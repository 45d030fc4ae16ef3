package billing

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// booking collects the events of one decision. s is the account with these events applied.
type booking struct {
	s        Account
	now      time.Time
	recorded []events.AccountEvent
	touched  []id.Invoice // invoices from which money was taken, in that order
}

// record adds an event and applies it to the booking's account.
func (b *booking) record(e events.AccountEvent) {
	b.recorded = append(b.recorded, e)
	b.s = evolveAccount(b.s, e)
}

// events are all that were recorded, each with the books after the last of them.
func (b *booking) events() []events.AccountEvent {
	books := b.s.Books()
	for i, e := range b.recorded {
		b.recorded[i] = withBooks(e, books)
	}
	return b.recorded
}

// opened starts a booking, with AccountOpened when the account does not exist. It fails when the account has another
// currency.
func opened(
	s Account, subscriber id.Subscriber, org id.Organization, c money.Currency, now time.Time,
) (booking, error) {
	b := booking{s: s, now: now}
	switch {
	case !s.Exists():
		b.record(events.AccountOpened{SubscriberID: subscriber, OrgID: org, Currency: c})
	case s.Currency != c:
		return b, commands.ErrCurrencyMismatch(s.Currency)
	}
	return b, nil
}

// spend allocates unused money, the oldest receipt first, until no money is left or nothing is owed. It pays the named
// invoice first, also an order and one that was written off, then the invoices by due date. fresh is the receipt of
// this decision; money of other receipts is recorded as taken from credit.
func (b *booking) spend(named id.Invoice, fresh id.Receipt) {
	b.pay(named, fresh)
	b.recover(named, fresh)
	for len(b.s.Lots) > 0 {
		invoice := b.s.oldestDue()
		if invoice.IsZero() {
			return
		}
		b.pay(invoice, fresh)
	}
}

// pay allocates unused money to one invoice until nothing is due on it. A draft and an unknown invoice get none.
func (b *booking) pay(invoice id.Invoice, fresh id.Receipt) {
	for len(b.s.Lots) > 0 {
		inv, open := b.s.Invoices[invoice]
		if !open || inv.Seq == 0 {
			return
		}
		lot := b.s.Lots[0]
		b.allocate(invoice, lot, inv.Due.Min(b.s.Receipts[lot].Unused), lot != fresh)
	}
}

// allocate pays an invoice, or a part of it, with unused money of one receipt.
func (b *booking) allocate(invoice id.Invoice, receipt id.Receipt, amount money.Amount, fromCredit bool) {
	b.record(events.InvoiceAllocated{
		SubscriberID: b.s.SubscriberID, AllocationID: toInvoice(invoice).allocationOf(receipt), InvoiceID: invoice,
		ReceiptID: receipt, Amount: amount, FromCredit: fromCredit, Due: b.s.Invoices[invoice].Due.Sub(amount),
		At: b.now,
	})
	b.settle(invoice)
}

// free takes money of one receipt from an invoice. It becomes credit, or leaves with the receipt.
func (b *booking) free(invoice id.Invoice, receipt id.Receipt, amount money.Amount, toCredit bool) {
	inv, _ := b.s.invoice(invoice)
	b.record(events.AllocationWithdrawn{
		SubscriberID: b.s.SubscriberID, AllocationID: toInvoice(invoice).allocationOf(receipt), InvoiceID: invoice,
		ReceiptID: receipt, Amount: amount, ToCredit: toCredit, Due: inv.Due.Add(amount), At: b.now,
	})
	b.touched = append(b.touched, invoice)
}

// makeRoom takes money of receipts from an invoice, the newest first, until at least so much is due on it. The
// invoice's own credit notes and its write-offs stay.
func (b *booking) makeRoom(invoice id.Invoice, room money.Amount) {
	for _, receipt := range b.s.payers(toInvoice(invoice)) {
		inv, _ := b.s.invoice(invoice)
		missing, r := room.Sub(inv.Due), b.s.Receipts[receipt]
		if !missing.Positive() {
			return
		}
		if r.Home != invoice && !r.WriteOff {
			b.free(invoice, receipt, missing.Min(r.to(toInvoice(invoice)).Amount), true)
		}
	}
}

// bringHome pays invoices that lost money with their own credit notes, wherever the money of these is. Notes of today
// never leave their invoice; those recorded by older programs may have become credit or paid other invoices, which then
// lose it again.
func (b *booking) bringHome() {
	for i := 0; i < len(b.touched); i++ {
		home := b.touched[i]
		for _, note := range oldestFirst(b.s.Receipts, func(r Receipt) int { return r.Seq }) {
			if b.s.Receipts[note].Home == home {
				b.bringNoteHome(note, home)
			}
		}
	}
}

// bringNoteHome pays an invoice with its own credit note: with the unused part, then with what pays other invoices.
func (b *booking) bringNoteHome(note id.Receipt, home id.Invoice) {
	for _, a := range slices.Backward(b.s.Receipts[note].Allocations) {
		other, missing := a.Target.invoice(), b.s.Invoices[home].Due.Sub(b.s.Receipts[note].Unused)
		if missing.Positive() && !other.IsZero() && other != home {
			b.free(other, note, missing.Min(a.Amount), true)
		}
	}
	if amount := b.s.Invoices[home].Due.Min(b.s.Receipts[note].Unused); amount.Positive() {
		b.allocate(home, note, amount, true)
	}
}

// settle records what became of an invoice on which nothing is due any more. Credit notes over the whole cancel it,
// also when it was paid, and then its period is not granted. One is written off when a part was given up and no money
// is on it, also when that was given back. Where money has paid all that was still asked for, it is paid: who has given
// up a part has asked for no more. Source: docs/rules/money.md#write-off.
func (b *booking) settle(invoice id.Invoice) {
	inv, settled := b.s.Settled[invoice]
	switch {
	case !settled || inv.Cancelled:
	case inv.Total.Positive() && b.s.returned(invoice) == inv.Total:
		b.record(b.cancels(invoice))
	case inv.WroteOff:
	case inv.WrittenOff.Positive() && !b.s.moneyOn(invoice).Positive():
		b.record(events.InvoiceWrittenOff{
			SubscriberID: b.s.SubscriberID, OrgID: b.s.OrgID, InvoiceID: invoice, SubscriptionID: inv.SubscriptionID,
			Amount: inv.WrittenOff, At: b.now,
		})
	case inv.Paid:
	default:
		paid := events.InvoicePaid{
			SubscriberID: b.s.SubscriberID, OrgID: b.s.OrgID, InvoiceID: invoice, SubscriptionID: inv.SubscriptionID,
			SoldTo: inv.SoldTo, PeriodFrom: inv.PeriodFrom, PeriodTo: inv.PeriodTo, Part: inv.Part, At: b.now,
		}
		if inv.WrittenOff.Positive() {
			paid.WrittenOff = inv.WrittenOff
		}
		if inv.Order {
			paid.Ordered = events.OrderTaken{Number: inv.Number, Total: inv.Total, Notes: b.s.orderNotes(invoice)}
		}
		b.record(paid)
	}
}

// cancels is the event of an invoice that credit notes cover. With one in its place it says if the money that it frees
// pays that. One that was given back or given up meanwhile takes no place: nobody pays for the period.
func (b *booking) cancels(invoice id.Invoice) events.InvoiceCancelled {
	inv, _ := b.s.invoice(invoice)
	e := events.InvoiceCancelled{
		SubscriberID: b.s.SubscriberID, OrgID: b.s.OrgID, InvoiceID: invoice, SubscriptionID: inv.SubscriptionID,
		At: b.now,
	}
	place := b.s.successor(invoice)
	if corrected, found := b.s.invoice(place); found && !corrected.Cancelled && !corrected.WroteOff {
		e.ReplacedBy, e.Covered = place, corrected.Due.Cmp(b.s.Credit()) <= 0
	}
	return e
}

// reopen records which paid invoices are due again, after all money has found its place.
func (b *booking) reopen(reason string) {
	for _, invoice := range b.touched {
		if inv, open := b.s.Invoices[invoice]; open && inv.Paid && !inv.Cancelled {
			b.record(events.InvoiceReopened{
				SubscriberID: b.s.SubscriberID, OrgID: b.s.OrgID, InvoiceID: invoice,
				SubscriptionID: inv.SubscriptionID, SoldTo: inv.SoldTo, Due: inv.Due, Reason: personal.Of(reason),
				At: b.now,
			})
		}
	}
}

// decideTellCredit tells the credit to whoever waits for it; without any it gives no event.
func decideTellCredit(s Account, c commands.TellCredit, now time.Time) []events.AccountEvent {
	if !s.Exists() || !s.Credit().Positive() {
		return nil
	}
	return []events.AccountEvent{events.CreditLeft{
		SubscriberID: s.SubscriberID, OrgID: s.OrgID, Credit: s.Credit(), Ordered: s.toldOrders(), Asked: true,
		Tax: c.Tax, At: now,
	}}
}

// tellCredit records the account's credit after a decision, when it is above zero.
func (b *booking) tellCredit() {
	if credit := b.s.Credit(); credit.Positive() {
		b.record(events.CreditLeft{
			SubscriberID: b.s.SubscriberID, OrgID: b.s.OrgID, Credit: credit, Ordered: b.s.toldOrders(), At: b.now,
		})
	}
}

// withBooks returns the event with the books after it. Events that change no books are returned unchanged.
func withBooks(e events.AccountEvent, after events.Books) events.AccountEvent {
	switch e := e.(type) {
	case events.InvoiceIssued:
		e.After = after
		return e
	case events.InvoiceVoided:
		e.After = after
		return e
	case events.ReceiptCredited:
		e.After = after
		return e
	case events.InvoiceAllocated:
		e.After = after
		return e
	case events.InvoicePaid:
		e.After = after
		return e
	case events.InvoiceCancelled:
		e.After = after
		return e
	case events.CreditNoteIssued:
		e.After = after
		return e
	case events.ReceiptWithdrawn:
		e.After = after
		return e
	case events.AllocationWithdrawn:
		e.After = after
		return e
	case events.InvoiceReopened:
		e.After = after
		return e
	default:
		return withBooksOfCredit(e, after)
	}
}

// withBooksOfCredit does the same for the events about refunds and write-offs.
func withBooksOfCredit(e events.AccountEvent, after events.Books) events.AccountEvent {
	switch e := e.(type) {
	case events.CreditSetAside:
		e.After = after
		return e
	case events.SetAsideReturned:
		e.After = after
		return e
	case events.SetAsidePaidOut:
		e.After = after
		return e
	case events.DebtWrittenOff:
		e.After = after
		return e
	case events.InvoiceWrittenOff:
		e.After = after
		return e
	case events.WriteOffRecovered:
		e.After = after
		return e
	case events.RecoveryWithdrawn:
		e.After = after
		return e
	case events.BalanceCarriedOver:
		e.After = after
		return e
	default:
		return e
	}
}
