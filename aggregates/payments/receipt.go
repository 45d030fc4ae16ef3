package payments

import (
	"maps"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// Receipts is the definition of receipts.
func Receipts() aggregates.Definition[Receipt, commands.ReceiptCommand, events.ReceiptEvent] {
	return aggregates.Definition[Receipt, commands.ReceiptCommand, events.ReceiptEvent]{
		Category: commands.ReceiptCategory, Missing: commands.ErrNoReceipt, Evolve: evolveReceipt,
		Decide: decideReceipt,
		Owner:  ownerReceipt,
		Commands: []commands.ReceiptCommand{
			commands.RecordReceipt{}, commands.RecordCash{}, commands.MatchReceipt{}, commands.HoldReceipt{},
			commands.ClaimProvisional{}, commands.AbsorbReceipt{}, commands.MarkUnclaimed{}, commands.AssignReceipt{},
			commands.AttributeReceipt{}, commands.ReverseReceipt{}, commands.ReattributeReceipt{},
		},
	}
}

// Standing is where a receipt's money is.
type Standing uint8

// The standings. Source: docs/rules/money.md#receipt-life.
const (
	StandingNone Standing = iota
	StandingRecorded
	StandingHeld // in the suspense inbox
	StandingMatched
	StandingAbsorbed // credited by another receipt
	StandingReversed
)

// Receipt is the state of one receipt. The zero value is "does not exist".
type Receipt struct {
	ID          id.Receipt
	Org         id.Organization // zero while it is nobody's
	Number      string
	Channel     string
	Shortcode   string
	Amount      money.Amount
	PaidAt      time.Time
	Payment     id.Payment // the attempt it belongs to, as far as known
	Provisional bool
	ClaimedBy   id.Receipt // real receipt of a provisional one
	Standing    Standing
	Disputed    bool // a sighting contradicts it
	Unclaimed   bool
	Subscriber  id.Subscriber // whose account carries it
	Moves       int           // how often it changed hands
	Seen        map[sighting]bool
}

// sighting tells repeated sightings from new ones: a callback may be delivered any number of times.
type sighting struct {
	Kind, CheckoutRequestID string
	Payment                 id.Payment
	Shortcode               string
	Minor                   int64
}

// seen gives the sightings with one more.
func (s Receipt) seen(
	kind, checkoutRequestID string, payment id.Payment, shortcode string, amount money.Amount,
) map[sighting]bool {
	all := maps.Clone(s.Seen)
	if all == nil {
		all = map[sighting]bool{}
	}
	all[sighting{kind, checkoutRequestID, payment, shortcode, amount.Minor}] = true
	return all
}

// ownerReceipt is the organization whose money it is; assigning and matching set it
// (docs/rules/money.md#receipt-owner).
func ownerReceipt(s Receipt) id.Organization { return s.Org }

// evolveReceipt applies one recorded fact.
func evolveReceipt(s Receipt, e events.ReceiptEvent) Receipt {
	switch e := e.(type) {
	case events.ReceiptRecorded:
		s = Receipt{
			ID: e.ReceiptID, Org: e.OrgID, Number: e.ReceiptNumber, Channel: e.Channel, Shortcode: e.Shortcode,
			Amount: e.Amount, PaidAt: e.PaidAt, Payment: e.PaymentID, Provisional: e.Provisional,
			Standing: StandingRecorded,
		}
		s.Seen = s.seen(e.Sighting, e.CheckoutRequestID, e.PaymentID, e.Shortcode, e.Amount)
	case events.ReceiptSighted:
		s.Seen = s.seen(e.Sighting, e.CheckoutRequestID, e.PaymentID, s.Shortcode, s.Amount)
		if s.Payment.IsZero() {
			s.Payment = e.PaymentID
		}
	case events.ReceiptDisputed:
		s.Seen, s.Disputed = s.seen(e.Sighting, "", id.Payment{}, e.Shortcode, e.Amount), true
	case events.ReceiptMatched:
		s.Standing, s.Org, s.Subscriber, s.Disputed = StandingMatched, e.OrgID, e.SubscriberID, false
		if s.Payment.IsZero() {
			s.Payment = e.PaymentID
		}
	case events.ReceiptHeld:
		s.Standing = StandingHeld
	case events.ReceiptClaimed:
		s.ClaimedBy = e.ClaimedBy
	case events.ReceiptAbsorbed:
		s.Standing, s.Org, s.Subscriber = StandingAbsorbed, e.OrgID, id.Subscriber{}
	case events.ReceiptUnclaimed:
		s.Unclaimed = true
	case events.ReceiptAssigned:
		s.Org = e.OrgID
	case events.ReceiptReversed:
		s.Standing, s.Subscriber, s.Disputed = StandingReversed, id.Subscriber{}, false
	case events.ReceiptReattributed:
		s.Subscriber, s.Disputed, s.Moves = e.To, false, e.Move
	}
	return s
}

// decideReceipt dispatches.
func decideReceipt(s Receipt, c commands.ReceiptCommand, now time.Time) ([]events.ReceiptEvent, error) {
	switch c := c.(type) {
	case commands.RecordReceipt:
		return decideRecordReceipt(s, c, now)
	case commands.RecordCash:
		return decideRecordCash(s, c, now)
	default: // needs a receipt: below, where every command is listed
	}
	if s.Standing == StandingNone {
		return nil, commands.ErrNoReceipt()
	}
	switch c := c.(type) {
	case commands.RecordReceipt, commands.RecordCash:
	case commands.MatchReceipt:
		return decideMatchReceipt(s, c, now)
	case commands.HoldReceipt:
		return decideHoldReceipt(s, c, now)
	case commands.ClaimProvisional:
		return decideClaimProvisional(s, c, now)
	case commands.AbsorbReceipt:
		return decideAbsorbReceipt(s, c, now)
	case commands.MarkUnclaimed:
		return decideMarkUnclaimed(s, now)
	case commands.AssignReceipt:
		return decideAssignReceipt(s, c, now)
	case commands.AttributeReceipt:
		return decideAttributeReceipt(s, c, now)
	case commands.ReverseReceipt:
		return decideReverseReceipt(s, c, now)
	case commands.ReattributeReceipt:
		return decideReattributeReceipt(s, c, now)
	}
	return nil, nil
}

// decideRecordReceipt makes the receipt, notes that its money was seen again, or that two sightings contradict each
// other.
func decideRecordReceipt(s Receipt, c commands.RecordReceipt, now time.Time) ([]events.ReceiptEvent, error) {
	if s.Standing == StandingNone {
		return []events.ReceiptEvent{events.ReceiptRecorded{
			ReceiptID: c.ReceiptID, OrgID: c.OrgID, Provider: c.Provider, ReceiptNumber: c.ReceiptNumber,
			Channel: c.Channel, Shortcode: c.Shortcode, Amount: c.Amount, PaidAt: c.PaidAt, PayerPhone: c.PayerPhone,
			PayerName: c.PayerName, BillRef: c.BillRef, CheckoutRequestID: c.CheckoutRequestID, PaymentID: c.PaymentID,
			Provisional: c.Provisional, Sighting: c.Sighting, RecordedAt: now,
		}}, nil
	}
	agrees := c.Amount == s.Amount && c.Shortcode == s.Shortcode &&
		(c.PaymentID.IsZero() || s.Payment.IsZero() || c.PaymentID == s.Payment)
	if agrees {
		if s.Seen[sighting{c.Sighting, c.CheckoutRequestID, c.PaymentID, c.Shortcode, c.Amount.Minor}] {
			return nil, nil
		}
		return []events.ReceiptEvent{events.ReceiptSighted{
			ReceiptID: s.ID, Sighting: c.Sighting, CheckoutRequestID: c.CheckoutRequestID, PaymentID: c.PaymentID,
			At: now,
		}}, nil
	}
	if s.Disputed && s.Seen[sighting{Kind: c.Sighting, Shortcode: c.Shortcode, Minor: c.Amount.Minor}] {
		return nil, nil
	}
	disputed := []events.ReceiptEvent{events.ReceiptDisputed{
		ReceiptID: s.ID, Sighting: c.Sighting, Amount: c.Amount, Shortcode: c.Shortcode, At: now,
	}}
	if s.Standing == StandingRecorded {
		disputed = append(disputed, events.ReceiptHeld{ReceiptID: s.ID, Reason: commands.HeldDisputed, At: now})
	}
	return disputed, nil
}

// decideRecordCash makes a receipt that is matched from the start: the staff member says whose money it is.
func decideRecordCash(s Receipt, c commands.RecordCash, now time.Time) ([]events.ReceiptEvent, error) {
	if s.Standing != StandingNone {
		return nil, failure.NewConflict("reference_used", "a payment with this reference is recorded already")
	}
	return []events.ReceiptEvent{
		events.ReceiptRecorded{
			ReceiptID: c.ReceiptID, OrgID: c.OrgID, Provider: commands.ProviderCash, ReceiptNumber: c.Reference,
			Channel: commands.ChannelCash, Amount: c.Amount, PaidAt: now, Sighting: commands.SightingCash,
			RecordedAt: now,
		},
		events.ReceiptMatched{
			ReceiptID: c.ReceiptID, OrgID: c.OrgID, SubscriberID: c.SubscriberID, InvoiceID: c.InvoiceID,
			ReceiptNumber: c.Reference, Channel: commands.ChannelCash, Amount: c.Amount, PaidAt: now,
			By: commands.MatchedByCash, At: now,
		},
	}, nil
}

// decideMatchReceipt takes what the rules found, unless a person has to look first.
func decideMatchReceipt(s Receipt, c commands.MatchReceipt, now time.Time) ([]events.ReceiptEvent, error) {
	switch {
	case s.Standing == StandingMatched && s.Subscriber == c.SubscriberID, s.Standing == StandingAbsorbed:
		return nil, nil
	case s.Disputed:
		return nil, failure.NewConflict("receipt_disputed", "two reports contradict each other about this receipt")
	case s.Standing == StandingMatched:
		return nil, receiptMatched()
	case s.Standing == StandingReversed:
		return nil, receiptReversed()
	}
	return []events.ReceiptEvent{s.matched(c, now)}, nil
}

// matched is the fact that the money is a subscriber's. Money of a prompt came by prompt, whoever told about it first.
func (s Receipt) matched(c commands.MatchReceipt, now time.Time) events.ReceiptMatched {
	channel := s.Channel
	if c.By == commands.MatchedByPrompt && channel == commands.ChannelPaybill {
		channel = commands.ChannelPrompt
	}
	return events.ReceiptMatched{
		ReceiptID: s.ID, OrgID: c.OrgID, SubscriberID: c.SubscriberID, InvoiceID: c.InvoiceID, PaymentID: c.PaymentID,
		ReceiptNumber: s.Number, Channel: channel, Amount: s.Amount, PaidAt: s.PaidAt, Move: s.Moves, By: c.By, At: now,
	}
}

// receiptMatched refuses what needs money without an owner.
func receiptMatched() error {
	return failure.NewConflict("receipt_matched", "this money is on a subscriber's account already; reattribute it")
}

// receiptReversed refuses what needs money that is still there.
func receiptReversed() error {
	return failure.NewConflict("receipt_reversed", "this receipt was reversed")
}

// decideHoldReceipt holds only money that has no place yet.
func decideHoldReceipt(s Receipt, c commands.HoldReceipt, now time.Time) ([]events.ReceiptEvent, error) {
	if s.Standing != StandingRecorded {
		return nil, nil
	}
	return []events.ReceiptEvent{events.ReceiptHeld{ReceiptID: s.ID, Reason: c.Reason, At: now}}, nil
}
