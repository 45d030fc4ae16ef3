package payments

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// decideClaimProvisional ties the real receipt to the provisional one. A reversed provisional receipt no longer carries
// a credit, so the real receipt is then credited by itself.
func decideClaimProvisional(s Receipt, c commands.ClaimProvisional, now time.Time) ([]events.ReceiptEvent, error) {
	switch {
	case !s.Provisional:
		return nil, failure.NewConflict("receipt_not_provisional", "This receipt is not a provisional one.")
	case s.Standing == StandingReversed:
		return nil, receiptReversed()
	case s.ClaimedBy == c.ClaimedBy:
		return nil, nil
	case !s.ClaimedBy.IsZero():
		return nil, failure.NewConflict("receipt_claimed", "Another receipt completes this provisional one already.")
	}
	return []events.ReceiptEvent{events.ReceiptClaimed{
		ReceiptID: s.ID, OrgID: s.Org, SubscriberID: s.Subscriber, PaymentID: s.Payment,
		ClaimedBy: c.ClaimedBy, ReceiptNumber: c.ReceiptNumber, At: now,
	}}, nil
}

// decideAbsorbReceipt records that another receipt carries this money. CreditedTo names the account that must give the
// money back, when this receipt was credited too.
func decideAbsorbReceipt(s Receipt, c commands.AbsorbReceipt, now time.Time) ([]events.ReceiptEvent, error) {
	switch {
	case s.Standing == StandingAbsorbed || s.Standing == StandingReversed:
		return nil, nil
	case s.beingRefunded():
		return nil, receiptRefunded()
	}
	return []events.ReceiptEvent{events.ReceiptAbsorbed{
		ReceiptID: s.ID, OrgID: c.OrgID, SubscriberID: c.SubscriberID, PaymentID: c.PaymentID,
		ProvisionalReceiptID: c.CarriedBy, CreditedTo: s.Subscriber, Amount: s.Amount, At: now,
	}}, nil
}

// decideMarkUnclaimed raises the alarm once, and only while the provisional credit stands and no person has said that
// the money exists.
func decideMarkUnclaimed(s Receipt, now time.Time) ([]events.ReceiptEvent, error) {
	if !s.Provisional || s.Standing != StandingMatched || !s.ClaimedBy.IsZero() || s.Unclaimed || s.Confirmed {
		return nil, nil
	}
	return []events.ReceiptEvent{events.ReceiptUnclaimed{ReceiptID: s.ID, At: now}}, nil
}

// maxStall is how often at least a stall of the same money is recorded again.
const maxStall = 24 * time.Hour

// decideMarkStalled records that the money is not where the receipt says. Between two stalls passes as long as the
// money was astray until the first of them, a day at most, so that the stream stays short.
func decideMarkStalled(s Receipt, c commands.MarkStalled, now time.Time) ([]events.ReceiptEvent, error) {
	pause := min(maxStall, s.StalledAt.Sub(s.Since))
	switch {
	case s.Standing == StandingRecorded, s.Subscriber.IsZero() && c.HeldBy.IsZero():
		return nil, nil
	case s.Subscriber == c.HeldBy, !s.StalledAt.IsZero() && now.Before(s.StalledAt.Add(pause)):
		return nil, nil
	}
	return []events.ReceiptEvent{events.ReceiptStalled{
		ReceiptID: s.ID, OrgID: s.Org, SubscriberID: s.Subscriber, HeldBy: c.HeldBy, InvoiceID: s.Invoice,
		ReceiptNumber: s.Number, Channel: s.Channel, Amount: s.Amount, PaidAt: s.PaidAt, Move: s.Moves, Since: s.Since,
		At: now,
	}}, nil
}

// decideAssignReceipt gives money without an owner to an organization, and money that another organization was given by
// mistake, as long as that one has done nothing with it (docs/rules/money.md#money-without-an-owner).
func decideAssignReceipt(s Receipt, c commands.AssignReceipt, now time.Time) ([]events.ReceiptEvent, error) {
	switch {
	case s.Org == c.OrgID && s.Standing == StandingHeld:
		return nil, nil
	case s.beingRefunded():
		return nil, receiptRefunded()
	case s.Standing == StandingMatched || s.Standing == StandingAbsorbed:
		return nil, receiptMatched()
	case s.Standing == StandingReversed:
		return nil, receiptReversed()
	case s.Org != c.From, !s.Org.IsZero() && !s.Given:
		return nil, ErrAssigned()
	case s.Standing != StandingHeld:
		return nil, ErrBeingMatched()
	case c.Currency != "" && c.Currency != s.Amount.Currency:
		return nil, failure.NewConflict("currency_mismatch", "Accounts of this organization are kept in %s.",
			c.Currency)
	}
	return []events.ReceiptEvent{events.ReceiptAssigned{
		ReceiptID: s.ID, OrgID: c.OrgID, From: s.Org, At: now,
	}}, nil
}

// ErrAssigned refuses to give money to another organization than the one that has it rightly, or has used it.
func ErrAssigned() error {
	return failure.NewConflict("receipt_assigned",
		"This money belongs to an organization already, or an organization has begun to place it.")
}

// needsPerson reports whether an alarm about money on an account waits for a person: two messages contradict each
// other, or the real receipt of a provisional one did not come.
func (s Receipt) needsPerson() bool {
	return s.Disputed || s.Unclaimed && s.ClaimedBy.IsZero() && !s.Confirmed
}

// decideAttributeReceipt puts money in suspense on an account. Disputed and unclaimed money is confirmed by naming the
// account that already carries it. Money without an organization, or of another one, is not found. A repeat that names
// another invoice than the first is refused, since the money does not move from invoice to invoice; one that names none
// asks for nothing that does not stand already. Who names the attempt of money that is on the account already, and of
// which none was known, ends the attempt's provisional credit.
func decideAttributeReceipt(s Receipt, c commands.AttributeReceipt, now time.Time) ([]events.ReceiptEvent, error) {
	confirms := s.Standing == StandingMatched && s.Subscriber == c.SubscriberID
	switch {
	case s.Org != c.OrgID:
		return nil, commands.ErrNoReceipt()
	case confirms && !c.InvoiceID.IsZero() && c.InvoiceID != s.Invoice:
		return nil, failure.NewConflict("receipt_attributed",
			"This money is on this subscriber's account already, and was not given to this invoice first.")
	case s.beingRefunded():
		return nil, receiptRefunded()
	case s.ofAnother(c.PaymentID):
		return nil, commands.ErrOtherAttempt()
	case confirms && !s.needsPerson() && !s.learns(c.PaymentID):
		return nil, nil
	case s.Standing == StandingMatched && !confirms:
		return nil, receiptMatched()
	case s.Standing == StandingReversed:
		return nil, receiptReversed()
	case s.Standing == StandingAbsorbed:
		return nil, receiptAbsorbed()
	}
	match := commands.MatchReceipt{
		ReceiptID: s.ID, OrgID: s.Org, SubscriberID: c.SubscriberID, InvoiceID: c.InvoiceID,
		PaymentID: s.attemptOr(c.PaymentID), By: commands.MatchedByOperator,
	}
	if confirms {
		match.InvoiceID = s.Invoice
	}
	matched := s.matched(match, now)
	matched.Confirms = confirms
	return []events.ReceiptEvent{matched}, nil
}

// ofAnother reports whether a named attempt contradicts the one that the receipt knows.
func (s Receipt) ofAnother(named id.Payment) bool {
	return s.attemptOr(named) != named && !named.IsZero()
}

// learns reports whether a named attempt is the first one that the receipt hears of.
func (s Receipt) learns(named id.Payment) bool { return s.Attempt().IsZero() && !named.IsZero() }

// attemptOr is the attempt that the receipt knows, or else the one that a person names.
func (s Receipt) attemptOr(named id.Payment) id.Payment {
	if known := s.Attempt(); !known.IsZero() {
		return known
	}
	return named
}

// decideNameAttempt ties money in suspense to its attempt, as a report of the provider that names it would.
func decideNameAttempt(s Receipt, c commands.NameAttempt, now time.Time) ([]events.ReceiptEvent, error) {
	switch {
	case s.Org != c.OrgID:
		return nil, commands.ErrNoReceipt()
	case s.Standing == StandingReversed:
		return nil, receiptReversed()
	case s.beingRefunded():
		return nil, receiptRefunded()
	case s.ofAnother(c.PaymentID):
		return nil, commands.ErrOtherAttempt()
	case !s.learns(c.PaymentID):
		return nil, nil
	case s.Standing == StandingMatched:
		return nil, receiptMatched()
	case s.Standing == StandingAbsorbed:
		return nil, receiptAbsorbed()
	case s.Disputed:
		return nil, receiptDisputed()
	}
	return []events.ReceiptEvent{events.ReceiptSighted{
		ReceiptID: s.ID, Sighting: commands.SightingOperator, PaymentID: c.PaymentID, At: now,
	}}, nil
}

// receiptAbsorbed refuses to correct a receipt whose money another receipt carries.
func receiptAbsorbed() error {
	return failure.NewConflict("receipt_absorbed", "Another receipt carries this money. Correct the other receipt.")
}

// decideReverseReceipt takes the money back from suspense or from the account (docs/rules/money.md#mistakes).
func decideReverseReceipt(s Receipt, c commands.ReverseReceipt, now time.Time) ([]events.ReceiptEvent, error) {
	switch s.Standing {
	case StandingReversed:
		return nil, nil
	case StandingAbsorbed:
		return nil, receiptAbsorbed()
	case StandingRefunded:
		return nil, receiptRefunded()
	case StandingNone, StandingRecorded, StandingHeld, StandingMatched:
	}
	switch {
	case s.Org != c.OrgID:
		return nil, commands.ErrNoReceipt()
	case s.beingRefunded():
		return nil, receiptRefunded()
	}
	return []events.ReceiptEvent{events.ReceiptReversed{
		ReceiptID: s.ID, OrgID: s.Org, SubscriberID: s.Subscriber, Amount: s.Amount, Reason: personal.Of(c.Reason),
		At: now,
	}}, nil
}

// decideReattributeReceipt moves the money to the right account (docs/rules/money.md#mistakes).
func decideReattributeReceipt(s Receipt, c commands.ReattributeReceipt, now time.Time) ([]events.ReceiptEvent, error) {
	switch {
	case s.Org != c.OrgID:
		return nil, commands.ErrNoReceipt()
	case s.ofAnother(c.PaymentID):
		return nil, commands.ErrOtherAttempt()
	case s.Standing == StandingAbsorbed:
		return nil, receiptAbsorbed()
	case s.Standing == StandingReversed:
		return nil, receiptReversed()
	case s.beingRefunded():
		return nil, receiptRefunded()
	case s.Standing != StandingMatched:
		return nil, failure.NewConflict("receipt_not_matched",
			"This money is not on an account yet. Attribute it instead.")
	case s.Subscriber == c.SubscriberID:
		return nil, nil
	}
	return []events.ReceiptEvent{events.ReceiptReattributed{
		ReceiptID: s.ID, OrgID: s.Org, From: s.Subscriber, To: c.SubscriberID,
		PaymentID:     s.attemptOr(c.PaymentID),
		ReceiptNumber: s.Number, Channel: s.Channel, Amount: s.Amount, PaidAt: s.PaidAt, Move: s.Moves + 1,
		Reason: personal.Of(c.Reason), At: now,
	}}, nil
}
