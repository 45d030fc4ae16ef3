package billing

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// decideCreditReceipt credits each receipt id once (docs/rules/money.md#credited-once). A withdrawn receipt returns to
// this account only with a higher Move.
func decideCreditReceipt(s Account, c commands.CreditReceipt, now time.Time) ([]events.AccountEvent, error) {
	old, known := s.Receipts[c.ReceiptID]
	switch {
	case isArchived(s, c.ReceiptID) && c.Move > 0, !known && !isArchived(s, c.ReceiptID) &&
		s.mayHaveForgotten(c.MatchedAt):
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
	for i, e := range b.recorded {
		if told, is := e.(events.CreditLeft); is {
			told.Received, told.Tax = true, c.Tax
			b.recorded[i] = told
		}
	}
	return b.events(), nil
}

// left is the money of the receipt that can be withdrawn: what was not withdrawn yet and is not for a refund.
func (r Receipt) left() money.Amount {
	left := r.Amount.Sub(r.Taken)
	for _, a := range r.Allocations {
		if a.Target.Kind == events.ForRefund {
			left = left.Sub(a.Amount)
		}
	}
	return left
}

// decideWithdrawReceipt takes the unused money of the receipt, then the money of what it paid last. Other credit on the
// account pays the invoices again as far as it goes; a paid invoice that is due again is reopened.
func decideWithdrawReceipt(s Account, c commands.WithdrawReceipt, now time.Time) ([]events.AccountEvent, error) {
	r, known := s.Receipts[c.ReceiptID]
	switch {
	case isArchived(s, c.ReceiptID), !known && s.mayHaveForgotten(time.Time{}):
		return nil, receiptArchived()
	case !known || r.CreditNote || r.WriteOff:
		return nil, commands.ErrNoReceipt()
	case c.Whole && s.MayWithdraw(c.ReceiptID) != nil:
		return nil, s.MayWithdraw(c.ReceiptID)
	case !c.WithdrawalID.IsZero() && slices.Contains(r.Withdrawals, c.WithdrawalID):
		return nil, nil
	case !c.Amount.IsZero() && c.Amount.Currency != s.Currency:
		return nil, commands.ErrCurrencyMismatch(s.Currency)
	case c.Amount.IsZero() && r.Withdrawn:
		return nil, nil
	}
	left := r.left()
	amount := c.Amount
	if amount.IsZero() {
		amount = left
	}
	if r.Withdrawn || amount.Cmp(left) > 0 {
		return nil, failure.NewConflict("withdrawal_too_large", "Only %s of the receipt can still be taken back.",
			left.String())
	}
	b := booking{s: s, now: now}
	b.withdraw(c, amount)
	b.bringHome()
	b.spend(id.Invoice{}, id.Receipt{})
	if s.Closed {
		b.giveUp(id.Derive[id.Receipt]("closed", c.ReceiptID.String(), c.WithdrawalID.String()))
	}
	b.reopen(c.Reason)
	return b.events(), nil
}

// withdraw takes an amount of a receipt off the account; amount is at most what is left of the receipt.
func (b *booking) withdraw(c commands.WithdrawReceipt, amount money.Amount) {
	r := b.s.Receipts[c.ReceiptID]
	unused := amount.Min(r.Unused)
	b.record(events.ReceiptWithdrawn{
		SubscriberID: b.s.SubscriberID, OrgID: b.s.OrgID, ReceiptID: c.ReceiptID, WithdrawalID: c.WithdrawalID,
		Number: r.Number, Amount: amount, FromCredit: unused, Left: r.left().Sub(amount), Reason: personal.Of(c.Reason),
		At: b.now,
	})
	rest := amount.Sub(unused)
	for _, a := range slices.Backward(r.Allocations) {
		part := rest.Min(a.Amount)
		if !part.Positive() {
			continue
		}
		switch a.Target.Kind {
		case events.ForInvoice:
			b.free(a.Target.invoice(), c.ReceiptID, part, false)
		case events.ForWriteOff:
			b.unrecover(id.As[id.Invoice](a.Target.ID), c.ReceiptID, part, false)
		default: // money for a refund stays
			continue
		}
		rest = rest.Sub(part)
	}
}

// Holds reports whether the account is the place of a receipt's money: it has credited it and not given it back as a
// whole. Parts that were taken have left the receipt for good. It is false for an archived receipt.
func (s Account) Holds(receipt id.Receipt) bool {
	r, known := s.Receipts[receipt]
	return known && (!r.Withdrawn || len(r.Withdrawals) > 0)
}

// MayWithdraw gives the failure that withdrawing the whole receipt would have, nil for a receipt that never was on the
// account. It is called before the receipt itself is corrected, so that a correction that the account refuses never
// begins. A closed account refuses: nobody owes what the money has paid. An account that has forgotten receipts refuses
// each that it does not know: its money may be spent here.
func (s Account) MayWithdraw(receipt id.Receipt) error {
	r, known := s.Receipts[receipt]
	switch {
	case isArchived(s, receipt), !known && s.mayHaveForgotten(time.Time{}):
		return receiptArchived()
	case known && s.Closed:
		return commands.ErrAccountClosed()
	case slices.ContainsFunc(r.Allocations, func(a Allocation) bool {
		return a.Target.Kind == events.ForRefund && a.Amount.Positive()
	}):
		return failure.NewConflict("receipt_refunded", "Money of the receipt was refunded, or is being refunded.")
	case r.Taken.Positive() && (!r.Withdrawn || len(r.Withdrawals) > 0):
		return failure.NewConflict("receipt_partly_withdrawn", "A part of the receipt was taken back already.")
	}
	return nil
}

// receiptArchived refuses to move a receipt of which the account keeps only the id: its allocations are not known any
// more.
func receiptArchived() error {
	return failure.NewConflict("receipt_archived", "The receipt is used up and too old to change.")
}

// PeriodsReopened has the invoices of periods that withdrawing the whole receipt would make due again, each with its
// subscription. It is empty when the receipt may not be withdrawn. The subscription is asked before anything is
// withdrawn, because a period that is archived there cannot be taken back (docs/rules/subscribers.md#periods).
func (s Account) PeriodsReopened(receipt id.Receipt) map[id.Invoice]id.Subscription {
	list, err := decideWithdrawReceipt(s, commands.WithdrawReceipt{
		SubscriberID: s.SubscriberID, ReceiptID: receipt,
	}, time.Time{})
	if err != nil {
		return nil
	}
	reopened := map[id.Invoice]id.Subscription{}
	for _, e := range list {
		if e, ok := e.(events.InvoiceReopened); ok && !e.SubscriptionID.IsZero() {
			reopened[e.InvoiceID] = e.SubscriptionID
		}
	}
	return reopened
}

// PeriodCancelled is the subscription whose period ends when the credit note is issued, because the notes of the
// invoice, and what was written off, then cover the whole of it. It is zero for a smaller note, for an invoice of no
// period, and for a note that the account has already. An amount of zero means all that is left, as in
// commands.DraftCreditNote.
func (s Account) PeriodCancelled(note id.Receipt, invoice id.Invoice, amount money.Amount) id.Subscription {
	_, drafted := s.Notes[note]
	_, issued := s.Receipts[note]
	inv, found := s.invoice(invoice)
	if drafted || issued || !found || inv.Seq == 0 {
		return id.Subscription{}
	}
	if !amount.IsZero() && amount.Cmp(s.Left(invoice)) < 0 {
		return id.Subscription{}
	}
	return inv.SubscriptionID
}
