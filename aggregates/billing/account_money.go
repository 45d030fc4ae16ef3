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
	case isArchived(s, c.ReceiptID):
		return nil, receiptArchived()
	case !known || r.CreditNote || r.WriteOff:
		return nil, commands.ErrNoReceipt()
	case !c.WithdrawalID.IsZero() && slices.Contains(r.Withdrawals, c.WithdrawalID):
		return nil, nil
	case !c.Amount.IsZero() && c.Amount.Currency != s.Currency:
		return nil, currencyMismatch(s.Currency)
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
	b.reopen(c.Reason)
	return b.events(), nil
}

// withdraw takes an amount of a receipt off the account; amount is at most what is left of the receipt.
func (b *booking) withdraw(c commands.WithdrawReceipt, amount money.Amount) {
	r := b.s.Receipts[c.ReceiptID]
	unused := amount.Min(r.Unused)
	b.record(events.ReceiptWithdrawn{
		SubscriberID: b.s.SubscriberID, OrgID: b.s.OrgID, ReceiptID: c.ReceiptID, WithdrawalID: c.WithdrawalID,
		Number: r.Number, Amount: amount, FromCredit: unused, Left: r.left().Sub(amount), Reason: c.Reason, At: b.now,
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
			b.unrecover(id.As[id.Invoice](a.Target.ID), c.ReceiptID, part)
		default: // money for a refund stays
			continue
		}
		rest = rest.Sub(part)
	}
}

// MayWithdraw gives the failure that withdrawing the whole receipt would have, nil for a receipt that is not on the
// account. It is called before the receipt itself is corrected, so that a correction that the account refuses never
// begins.
func (s Account) MayWithdraw(receipt id.Receipt) error {
	r := s.Receipts[receipt]
	switch {
	case isArchived(s, receipt):
		return receiptArchived()
	case slices.ContainsFunc(r.Allocations, func(a Allocation) bool {
		return a.Target.Kind == events.ForRefund && a.Amount.Positive()
	}):
		return failure.NewConflict("receipt_refunded", "Money of the receipt was refunded, or is being refunded.")
	case r.Taken.Positive() && !r.Withdrawn:
		return failure.NewConflict("receipt_partly_withdrawn", "A part of the receipt was taken back already.")
	}
	return nil
}

// receiptArchived refuses to move a receipt of which the account keeps only the id: its allocations are not known any
// more.
func receiptArchived() error {
	return failure.NewConflict("receipt_archived", "The receipt is used up and too old to change.")
}
