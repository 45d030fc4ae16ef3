package payments

import (
	"maps"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// hasLeft reports whether the money has left for good, or is carried by another receipt.
func (s Receipt) hasLeft() bool {
	return s.Standing == StandingReversed || s.Standing == StandingAbsorbed || s.Standing == StandingRefunded
}

// beingRefunded reports whether all of the money waits in suspense for a refund, or went back to the payer. A refund of
// money on an account is the account's to decide about, until all of it has left.
func (s Receipt) beingRefunded() bool { return !s.Aside.IsZero() || s.Standing == StandingRefunded }

// MayRefund gives the failure that a refund of an amount would have; the zero amount is all that can be refunded. How
// much of money on an account is credit, the account knows. Fails: receipt_not_found, receipt_being_matched,
// receipt_reversed, receipt_absorbed, receipt_refunded, receipt_disputed, currency_mismatch, refund_unconfirmed,
// refund_attempt_unclear, refund_whole_only.
func (s Receipt) MayRefund(amount money.Amount) error {
	switch {
	case s.Standing == StandingNone:
		return commands.ErrNoReceipt()
	case s.Standing == StandingRecorded:
		return ErrBeingMatched()
	case s.Standing == StandingReversed:
		return receiptReversed()
	case s.Standing == StandingAbsorbed:
		return receiptAbsorbed()
	case s.beingRefunded():
		return receiptRefunded()
	case s.Disputed:
		return receiptDisputed()
	case s.Provisional && s.ClaimedBy.IsZero():
		return failure.NewConflict("refund_unconfirmed",
			"The provider has not sent the receipt of this money yet. Refund it when that has come.")
	case s.Standing == StandingHeld && s.Conflicting && s.Attempt().IsZero():
		return failure.NewConflict("refund_attempt_unclear",
			"This money may be that of a payment request. Say whose it is first, then refund it.")
	case s.Standing == StandingHeld && !amount.IsZero() && amount != s.Amount:
		return failure.NewConflict("refund_whole_only",
			"Money in suspense is refunded whole. To refund a part, credit it to a customer first.")
	}
	return nil
}

// evolveRefunded notes what went back to the payer. Once all of it has, nothing can be done with the receipt, and its
// place is the account that paid it out: a move that this account did not follow has come to nothing.
func (s Receipt) evolveRefunded(e events.ReceiptRefunded) Receipt {
	s.Refunded = maps.Clone(s.Refunded)
	if s.Refunded == nil {
		s.Refunded = map[id.Refund]money.Amount{}
	}
	s.Refunded[e.RefundID] = e.Amount
	if s.Aside == e.RefundID {
		s.Aside = id.Refund{}
	}
	if !e.Left.Positive() && !s.hasLeft() {
		s.Standing, s.Subscriber, s.Disputed = StandingRefunded, e.SubscriberID, false
		s.Since, s.StalledAt = e.At, time.Time{}
	}
	return s
}

// decideSetReceiptAside keeps money in suspense for a refund, unless it has a place by now.
func decideSetReceiptAside(s Receipt, c commands.SetReceiptAside, now time.Time) ([]events.ReceiptEvent, error) {
	_, paid := s.Refunded[c.RefundID]
	switch {
	case s.Org != c.OrgID:
		return nil, commands.ErrNoReceipt()
	case s.Aside == c.RefundID || paid:
		return nil, nil
	case s.Standing == StandingMatched:
		return nil, receiptMatched()
	}
	if err := s.MayRefund(c.Amount); err != nil {
		return nil, err
	}
	return []events.ReceiptEvent{events.ReceiptSetAside{
		ReceiptID: s.ID, OrgID: s.Org, RefundID: c.RefundID, Amount: s.Amount, At: now,
	}}, nil
}

// decideReturnReceipt lets money wait for its payer again. Money that was reversed meanwhile has left all the same.
func decideReturnReceipt(s Receipt, c commands.ReturnReceipt, now time.Time) ([]events.ReceiptEvent, error) {
	if s.Aside != c.RefundID {
		return nil, commands.ErrNoRefund()
	}
	return []events.ReceiptEvent{events.ReceiptReturned{
		ReceiptID: s.ID, OrgID: s.Org, RefundID: c.RefundID, Amount: s.Amount, At: now,
	}}, nil
}

// decideRefundReceipt notes once what went back to the payer.
func decideRefundReceipt(s Receipt, c commands.RefundReceipt, now time.Time) ([]events.ReceiptEvent, error) {
	if _, known := s.Refunded[c.RefundID]; known {
		return nil, nil
	}
	left := s.Amount.Sub(c.Amount)
	for _, earlier := range s.Refunded {
		left = left.Sub(earlier)
	}
	return []events.ReceiptEvent{events.ReceiptRefunded{
		ReceiptID: s.ID, OrgID: s.Org, SubscriberID: c.SubscriberID, RefundID: c.RefundID, Amount: c.Amount, Left: left,
		At: now,
	}}, nil
}

// receiptRefunded refuses to do anything else with money that goes back to the payer.
func receiptRefunded() error {
	return failure.NewConflict("receipt_refunded", "Money of the receipt was refunded, or is being refunded.")
}

// ErrBeingMatched refuses to decide about money that has no place yet.
func ErrBeingMatched() error {
	return failure.NewConflict("receipt_being_matched", "This money is not in suspense yet. Try again later.")
}
