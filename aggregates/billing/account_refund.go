package billing

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
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
	r, known := s.Receipts[c.ReceiptID]
	_, _, asked := s.refund(c.RefundID)
	switch {
	case asked:
		return nil, nil
	case isArchived(s, c.ReceiptID):
		return nil, receiptArchived()
	case !known || r.CreditNote || r.WriteOff:
		return nil, commands.ErrNoReceipt()
	case !c.Amount.IsZero() && c.Amount.Currency != s.Currency:
		return nil, currencyMismatch(s.Currency)
	}
	amount := c.Amount
	if amount.IsZero() {
		amount = r.Unused
	}
	if amount.Cmp(r.Unused) > 0 || amount.IsZero() {
		return nil, failure.NewConflict("refund_too_large", "Only %s of the receipt is credit that can be refunded.",
			r.Unused.String())
	}
	b := booking{s: s, now: now}
	b.record(events.CreditSetAside{
		SubscriberID: s.SubscriberID, OrgID: s.OrgID, RefundID: c.RefundID,
		AllocationID: toRefund(c.RefundID).allocationOf(c.ReceiptID), ReceiptID: c.ReceiptID, Number: r.Number,
		Amount: amount, Reason: personal.Of(c.Reason), At: now,
	})
	return b.events(), nil
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
