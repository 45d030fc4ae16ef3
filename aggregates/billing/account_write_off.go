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

// debt is how much of an invoice can be written off.
type debt struct {
	invoice id.Invoice
	most    money.Amount
}

// debts lists what can be written off, by due date: what is due now and still is when all drafted credit notes have
// their numbers. The money that they free can pay other invoices, too, a corrected one first.
func (s Account) debts(now time.Time) (list []debt, sum money.Amount) {
	sum = money.Of(0, s.Currency)
	later := s
	if len(s.Notes) > 0 {
		later = s.Numbered(now)
	}
	for _, invoice := range s.byDueDate() {
		if still, open := later.Invoices[invoice]; open {
			most := s.Invoices[invoice].Due.Min(still.Due)
			list, sum = append(list, debt{invoice, most}), sum.Add(most)
		}
	}
	return list, sum
}

// moneyOn is the part of an invoice that neither its issued credit notes nor write-offs cover, and that is not due.
func (s Account) moneyOn(invoice id.Invoice) money.Amount {
	inv, _ := s.invoice(invoice)
	return inv.Total.Sub(s.returned(invoice)).Sub(inv.WrittenOff).Sub(inv.Due)
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
	owed, most := s.debts(now)
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
	for _, d := range owed {
		if part := amount.Min(d.most); part.Positive() {
			b.allocate(d.invoice, c.WriteOffID, part, false)
			amount = amount.Sub(part)
		}
	}
	return b.events(), nil
}

// giveUp writes off all that is due on a closed account. Money left it that was on its way out before it was closed,
// and there is no one who could be asked for it.
func (b *booking) giveUp(writeOff id.Receipt) {
	owed, amount := b.s.debts(b.now)
	if !amount.Positive() {
		return
	}
	b.record(events.DebtWrittenOff{
		SubscriberID: b.s.SubscriberID, OrgID: b.s.OrgID, WriteOffID: writeOff, Amount: amount,
		Reason: personal.Of("the customer is gone"), At: b.now,
	})
	for _, d := range owed {
		if d.most.Positive() {
			b.allocate(d.invoice, writeOff, d.most, false)
		}
	}
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
