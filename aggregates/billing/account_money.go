package billing

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// booking collects the events of one decision. s is the account with these events applied.
type booking struct {
	s        Account
	now      time.Time
	recorded []events.AccountEvent
}

// record adds an event and applies it to the booking's account.
func (b *booking) record(e events.AccountEvent) {
	b.recorded = append(b.recorded, e)
	b.s = evolveAccount(b.s, e)
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
		return b, currencyMismatch(s.Currency)
	}
	return b, nil
}

// spend allocates unused money, the oldest receipt first, until no money is left or nothing is due. It pays the named
// invoice first, then the invoices by due date. fresh is the receipt of this decision; money of other receipts is
// recorded as taken from credit.
func (b *booking) spend(named id.Invoice, fresh id.Receipt) {
	for len(b.s.Lots) > 0 {
		invoice := named
		if inv, open := b.s.Invoices[named]; !open || inv.Seq == 0 {
			invoice = b.s.oldestDue()
		}
		if invoice.IsZero() {
			return
		}
		lot, inv := b.s.Lots[0], b.s.Invoices[invoice]
		amount := inv.Due.Min(b.s.Receipts[lot].Unused)
		b.record(events.InvoiceAllocated{
			SubscriberID: b.s.SubscriberID, InvoiceID: invoice, ReceiptID: lot, Amount: amount,
			FromCredit: lot != fresh, Due: inv.Due.Sub(amount), At: b.now,
		})
		b.paidWhenSettled(invoice)
	}
}

// paidWhenSettled records InvoicePaid when nothing is due any more. An invoice that credit notes cancel completely gets
// InvoiceCancelled instead, and its period is not granted.
func (b *booking) paidWhenSettled(invoice id.Invoice) {
	inv, settled := b.s.Settled[invoice]
	if !settled || inv.Paid || inv.Cancelled {
		return
	}
	if inv.Total.Positive() && inv.Noted == inv.Total {
		b.record(events.InvoiceCancelled{
			SubscriberID: b.s.SubscriberID, OrgID: b.s.OrgID, InvoiceID: invoice, SubscriptionID: inv.SubscriptionID,
			At: b.now,
		})
		return
	}
	b.record(events.InvoicePaid{
		SubscriberID: b.s.SubscriberID, OrgID: b.s.OrgID, InvoiceID: invoice, SubscriptionID: inv.SubscriptionID,
		PeriodFrom: inv.PeriodFrom, PeriodTo: inv.PeriodTo, At: b.now,
	})
}

// tellCredit records the account's credit after a payment, when it is above zero.
func (b *booking) tellCredit() {
	if credit := b.s.Credit(); credit.Positive() {
		b.record(events.CreditLeft{SubscriberID: b.s.SubscriberID, OrgID: b.s.OrgID, Credit: credit, At: b.now})
	}
}

// decideCreditReceipt credits each receipt id once (docs/rules/money.md#receipts-once). A withdrawn receipt returns to
// this account only with a higher Move.
func decideCreditReceipt(s Account, c commands.CreditReceipt, now time.Time) ([]events.AccountEvent, error) {
	old, known := s.Receipts[c.ReceiptID]
	switch {
	case isArchived(s, c.ReceiptID) && c.Move > 0:
		return nil, receiptArchived()
	case isArchived(s, c.ReceiptID), known && (!old.Withdrawn || c.Move < old.Move):
		return nil, nil
	case known && c.Move == old.Move:
		return nil, failure.NewConflict("receipt_withdrawn", "The receipt was withdrawn from this account.")
	}
	b, err := opened(s, c.SubscriberID, c.OrgID, c.Amount.Currency, now)
	if err != nil {
		return nil, err
	}
	b.record(events.ReceiptCredited{
		SubscriberID: c.SubscriberID, OrgID: c.OrgID, ReceiptID: c.ReceiptID, Move: c.Move, Number: c.Number,
		Channel: c.Channel, Amount: c.Amount, PaidAt: c.PaidAt, At: now,
	})
	b.spend(c.InvoiceID, c.ReceiptID)
	b.tellCredit()
	return b.recorded, nil
}

// decideWithdrawReceipt removes the receipt's money from its invoices. Other credit on the account pays them again as
// far as it goes; a paid invoice that is due again is reopened.
func decideWithdrawReceipt(s Account, c commands.WithdrawReceipt, now time.Time) ([]events.AccountEvent, error) {
	r, known := s.Receipts[c.ReceiptID]
	switch {
	case isArchived(s, c.ReceiptID):
		return nil, receiptArchived()
	case !known || r.CreditNote:
		return nil, commands.ErrNoReceipt()
	case r.Withdrawn:
		return nil, nil
	}
	b := booking{s: s, now: now}
	b.record(events.ReceiptWithdrawn{
		SubscriberID: s.SubscriberID, OrgID: s.OrgID, ReceiptID: c.ReceiptID, Number: r.Number, Amount: r.Amount,
		Reason: c.Reason, At: now,
	})
	for _, a := range slices.Clone(r.Allocations) {
		inv, _ := b.s.invoice(a.InvoiceID)
		b.record(events.AllocationWithdrawn{
			SubscriberID: s.SubscriberID, InvoiceID: a.InvoiceID, ReceiptID: c.ReceiptID, Amount: a.Amount,
			Due: inv.Due.Add(a.Amount), At: now,
		})
	}
	b.spend(id.Invoice{}, id.Receipt{})
	for _, a := range r.Allocations {
		if inv, open := b.s.Invoices[a.InvoiceID]; open && inv.Paid {
			b.record(events.InvoiceReopened{
				SubscriberID: s.SubscriberID, OrgID: s.OrgID, InvoiceID: a.InvoiceID,
				SubscriptionID: inv.SubscriptionID, Due: inv.Due, Reason: c.Reason, At: now,
			})
		}
	}
	return b.recorded, nil
}

// MayWithdraw gives the failure that withdrawing the receipt would have, nil for a receipt that is not on the account.
// It is called before the receipt itself is corrected, so that a correction that the account refuses never begins.
func (s Account) MayWithdraw(receipt id.Receipt) error {
	if isArchived(s, receipt) {
		return receiptArchived()
	}
	return nil
}

// receiptArchived refuses to move a receipt of which the account keeps only the id: its allocations are not known any
// more.
func receiptArchived() error {
	return failure.NewConflict("receipt_archived", "The receipt is used up and too old to change.")
}

// decideReservePrompt allows one open prompt for each subscriber and amount (docs/rules/payments.md#one-open-prompt).
func decideReservePrompt(s Account, c commands.ReservePrompt, now time.Time) ([]events.AccountEvent, error) {
	if _, open := s.Prompts[c.PaymentID]; open {
		return nil, nil
	}
	if !c.InvoiceID.IsZero() {
		if !s.knows(c.InvoiceID) {
			return nil, commands.ErrNoInvoice()
		}
		if inv, open := s.Invoices[c.InvoiceID]; !open || inv.Seq == 0 {
			return nil, failure.NewConflict("invoice_not_payable", "Nothing is due on the invoice.")
		}
	}
	for _, p := range s.Prompts {
		if p.Amount == c.Amount {
			return nil, failure.NewConflict("payment_in_progress",
				"A payment of this amount is in progress. Wait until it ends.")
		}
	}
	b, err := opened(s, c.SubscriberID, c.OrgID, c.Amount.Currency, now)
	if err != nil {
		return nil, err
	}
	b.record(events.PromptReserved{
		SubscriberID: c.SubscriberID, OrgID: c.OrgID, PaymentID: c.PaymentID, InvoiceID: c.InvoiceID, Amount: c.Amount,
		At: now,
	})
	return b.recorded, nil
}

// decideReleasePrompt gives no event for a prompt that is not open.
func decideReleasePrompt(s Account, c commands.ReleasePrompt, now time.Time) ([]events.AccountEvent, error) {
	if _, open := s.Prompts[c.PaymentID]; !open {
		return nil, nil
	}
	return []events.AccountEvent{events.PromptReleased{SubscriberID: s.SubscriberID, PaymentID: c.PaymentID, At: now}},
		nil
}
