package billing

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// toLoss is the written-off part of an invoice as a target.
func toLoss(invoice id.Invoice) Target { return Target{events.ForWriteOff, id.As[id.Any](invoice)} }

// givenUp is how much of an invoice can be written off: what is due and no drafted credit note will cover.
func (s Account) givenUp(invoice id.Invoice) money.Amount {
	inv := s.Invoices[invoice]
	drafted := inv.Noted.Sub(s.returned(invoice))
	return inv.Due.Sub(drafted.Min(inv.Due))
}

// lost is the written-off part of an invoice that money can still recover: nothing of an invoice whose period never
// began.
func (s Account) lost(invoice id.Invoice) money.Amount {
	inv, found := s.invoice(invoice)
	if !found || inv.Waived {
		return money.Of(0, s.Currency)
	}
	return inv.WrittenOff.Sub(inv.Recovered)
}

// decideWriteOffDebt gives up what is due, by due date.
func decideWriteOffDebt(s Account, c commands.WriteOffDebt, now time.Time) ([]events.AccountEvent, error) {
	_, known := s.Receipts[c.WriteOffID]
	switch {
	case !s.Exists():
		return nil, commands.ErrNoAccount()
	case known || isArchived(s, c.WriteOffID):
		return nil, nil
	case !c.Amount.IsZero() && c.Amount.Currency != s.Currency:
		return nil, commands.ErrCurrencyMismatch(s.Currency)
	}
	order, most := s.byDueDate(), money.Of(0, s.Currency)
	for _, invoice := range order {
		most = most.Add(s.givenUp(invoice))
	}
	amount := c.Amount
	if amount.IsZero() {
		amount = most
	}
	if amount.Cmp(most) > 0 || amount.IsZero() {
		return nil, commands.ErrNotDue()
	}
	b := booking{s: s, now: now}
	b.record(events.DebtWrittenOff{
		SubscriberID: s.SubscriberID, OrgID: s.OrgID, WriteOffID: c.WriteOffID, Amount: amount,
		Reason: personal.Of(c.Reason), At: now,
	})
	for _, invoice := range order {
		if part := amount.Min(b.s.givenUp(invoice)); part.Positive() {
			b.allocate(invoice, c.WriteOffID, part, false)
			amount = amount.Sub(part)
		}
	}
	return b.events(), nil
}

// recover lets money that names a written-off invoice cover the loss. Money that does not name it is the customer's,
// and so is money that names an invoice whose period never began.
func (b *booking) recover(invoice id.Invoice, receipt id.Receipt) {
	inv, _ := b.s.invoice(invoice)
	amount := b.s.lost(invoice).Min(b.s.Receipts[receipt].Unused)
	if !amount.Positive() {
		return
	}
	b.record(events.WriteOffRecovered{
		SubscriberID: b.s.SubscriberID, OrgID: b.s.OrgID, AllocationID: toLoss(invoice).allocationOf(receipt),
		InvoiceID: invoice, Number: inv.Number, ReceiptID: receipt, Amount: amount, At: b.now,
	})
}

// waiveRecovery ends recoveries on a written-off invoice whose period never began. Money that recovered its loss before
// becomes credit. Without a write-off, and when it was waived before, it records nothing.
func (b *booking) waiveRecovery(invoice id.Invoice) {
	inv, _ := b.s.invoice(invoice)
	if !inv.WrittenOff.Positive() || inv.Waived {
		return
	}
	b.record(events.RecoveryWaived{SubscriberID: b.s.SubscriberID, InvoiceID: invoice, At: b.now})
	released := b.s.payers(toLoss(invoice))
	for _, receipt := range released {
		b.unrecover(invoice, receipt, b.s.Receipts[receipt].to(toLoss(invoice)).Amount, true)
	}
	if len(released) > 0 {
		b.spend(id.Invoice{}, id.Receipt{})
		b.tellCredit()
	}
}

// unrecover takes money of a receipt from a written-off invoice: the loss stands again. The money becomes credit, or
// leaves with the receipt.
func (b *booking) unrecover(invoice id.Invoice, receipt id.Receipt, amount money.Amount, toCredit bool) {
	inv, _ := b.s.invoice(invoice)
	b.record(events.RecoveryWithdrawn{
		SubscriberID: b.s.SubscriberID, OrgID: b.s.OrgID, AllocationID: toLoss(invoice).allocationOf(receipt),
		InvoiceID: invoice, Number: inv.Number, ReceiptID: receipt, Amount: amount, ToCredit: toCredit,
		At: b.now,
	})
}
