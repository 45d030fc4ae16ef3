package billing

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// toRefund makes the target of money that waits for a refund, or left with it.
func toRefund(refund id.Refund) Target { return Target{events.ForRefund, id.As[id.Any](refund)} }

// allocationOf is the id of a receipt's money for this target.
func (t Target) allocationOf(receipt id.Receipt) id.Allocation {
	return events.AllocationOf(receipt, t.Kind, t.ID)
}

// refund finds the receipt whose money is, or was, for a refund; false when there is none.
func (s Account) refund(refund id.Refund) (id.Receipt, Allocation, bool) {
	for receipt, r := range s.Receipts {
		for _, a := range r.Allocations {
			if a.Target == toRefund(refund) {
				return receipt, a, true
			}
		}
	}
	return id.Receipt{}, Allocation{}, false
}

// decideSetCreditAside takes only unused money: what pays an invoice is the organization's until a credit note or a
// void gives it back.
func decideSetCreditAside(s Account, c commands.SetCreditAside, now time.Time) ([]events.AccountEvent, error) {
	if _, _, asked := s.refund(c.RefundID); asked {
		return nil, nil
	}
	amount, err := s.MayRefund(c.ReceiptID, c.Amount)
	if err != nil {
		return nil, err
	}
	number := s.Receipts[c.ReceiptID].Number
	b := booking{s: s, now: now}
	b.record(events.CreditSetAside{
		SubscriberID: s.SubscriberID, OrgID: s.OrgID, RefundID: c.RefundID,
		AllocationID: toRefund(c.RefundID).allocationOf(c.ReceiptID), ReceiptID: c.ReceiptID, Number: number,
		Amount: amount, Reason: personal.Of(c.Reason), At: now,
	})
	return b.events(), nil
}

// MayRefund gives the amount that a refund of a receipt would have, and the failure that it would have. The zero amount
// is all of the receipt that is credit. Fails: receipt_not_found, receipt_archived, currency_mismatch,
// refund_too_large.
func (s Account) MayRefund(receipt id.Receipt, amount money.Amount) (money.Amount, error) {
	r, known := s.Receipts[receipt]
	switch {
	case isArchived(s, receipt):
		return amount, receiptArchived()
	case !known || r.CreditNote || r.WriteOff:
		return amount, commands.ErrNoReceipt()
	case !amount.IsZero() && amount.Currency != s.Currency:
		return amount, commands.ErrCurrencyMismatch(s.Currency)
	}
	if amount.IsZero() {
		amount = r.Unused
	}
	if amount.Cmp(r.Unused) > 0 || amount.IsZero() {
		return amount, failure.NewConflict("refund_too_large",
			"Only %s of the receipt is credit that can be refunded. What pays an invoice becomes credit when that is "+
				"credited or voided.", r.Unused.String())
	}
	return amount, nil
}

// decideReturnSetAside makes the money credit, which pays what has become due meanwhile. When the receipt was withdrawn
// meanwhile, the money follows it.
func decideReturnSetAside(s Account, c commands.ReturnSetAside, now time.Time) ([]events.AccountEvent, error) {
	receipt, a, known := s.refund(c.RefundID)
	switch {
	case !known:
		return nil, commands.ErrNoRefund()
	case a.Done:
		return nil, nil
	}
	r := s.Receipts[receipt]
	b := booking{s: s, now: now}
	b.record(events.SetAsideReturned{
		SubscriberID: s.SubscriberID, OrgID: s.OrgID, RefundID: c.RefundID,
		AllocationID: a.Target.allocationOf(receipt), ReceiptID: receipt, Number: r.Number, Amount: a.Amount,
		Reason: personal.Of(c.Reason), At: now,
	})
	if r.Withdrawn {
		b.withdraw(commands.WithdrawReceipt{ReceiptID: receipt, Reason: c.Reason}, a.Amount)
		return b.events(), nil
	}
	b.spend(id.Invoice{}, id.Receipt{})
	b.tellCredit()
	return b.events(), nil
}

// decidePayOutSetAside ends the refund; the books stay as they are since the money was set aside.
func decidePayOutSetAside(s Account, c commands.PayOutSetAside, now time.Time) ([]events.AccountEvent, error) {
	receipt, a, known := s.refund(c.RefundID)
	switch {
	case !known:
		return nil, commands.ErrNoRefund()
	case a.Done:
		return nil, nil
	}
	b := booking{s: s, now: now}
	b.record(events.SetAsidePaidOut{
		SubscriberID: s.SubscriberID, OrgID: s.OrgID, RefundID: c.RefundID,
		AllocationID: a.Target.allocationOf(receipt), ReceiptID: receipt, Amount: a.Amount, At: now,
	})
	return b.events(), nil
}
