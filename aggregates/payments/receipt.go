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

// Receipts defines the receipts: one stream for each receipt number of the provider.
func Receipts() aggregates.Definition[Receipt, commands.ReceiptCommand, events.ReceiptEvent] {
	return aggregates.Definition[Receipt, commands.ReceiptCommand, events.ReceiptEvent]{
		Category: commands.ReceiptCategory, Missing: commands.ErrNoReceipt, Evolve: evolveReceipt,
		Decide: decideReceipt,
		Owner:  ownerReceipt,
		Commands: []commands.ReceiptCommand{
			commands.RecordReceipt{}, commands.RecordCash{}, commands.MatchReceipt{}, commands.HoldReceipt{},
			commands.ClaimProvisional{}, commands.AbsorbReceipt{}, commands.MarkUnclaimed{}, commands.MarkStalled{},
			commands.AssignReceipt{},
			commands.AttributeReceipt{}, commands.NameAttempt{}, commands.ReverseReceipt{},
			commands.ReattributeReceipt{}, commands.SetReceiptAside{}, commands.ReturnReceipt{},
			commands.RefundReceipt{},
		},
	}
}

// Standing says where the money of a receipt is.
type Standing uint8

// The standings. Source: docs/rules/money.md#receipt-life.
const (
	StandingNone Standing = iota
	StandingRecorded
	StandingHeld // in the suspense inbox
	StandingMatched
	StandingAbsorbed // another receipt carries the credit
	StandingReversed
	StandingRefunded // all of it went back to the payer
)

// Receipt is the state of one receipt. The zero value is "does not exist".
type Receipt struct {
	ID          id.Receipt
	Org         id.Organization // zero while no organization is known
	Given       bool            // Org has it by assignment, and has neither placed it nor said anything about it
	Number      string
	Channel     string
	Shortcode   string
	Amount      money.Amount
	PaidAt      time.Time
	Payment     id.Payment // the attempt that it belongs to; zero = unknown
	Provisional bool
	ClaimedBy   id.Receipt // the real receipt of a provisional one
	ClaimedAs   string     // the number of the real receipt
	Standing    Standing
	Environment string        // of the provider; "" for receipts whose id does not contain it
	Since       time.Time     // when it came to its standing, or to its account
	StalledAt   time.Time     // the latest stall since then; zero = none
	Disputed    bool          // two sightings contradict each other, and nobody has decided yet
	Conflicting bool          // in suspense because several attempts may have it, or need not have it
	Unclaimed   bool          // the alarm about a provisional receipt without a real one was raised
	Confirmed   bool          // a person has said whose money this is, so that it needs no real receipt
	Subscriber  id.Subscriber // whose account has the credit; zero = none
	Invoice     id.Invoice    // that the match named, to be paid first; zero = the oldest due
	Moves       int           // number of reattributions
	// Aside is the refund for which the money waits in suspense; zero = none. Refunded has the refunds that were paid,
	// of money in suspense or on an account.
	Aside    id.Refund
	Refunded map[id.Refund]money.Amount
	Seen     map[sighting]bool
	// Disputing has the attempt that the first contradicting report of each organization named.
	Disputing map[id.Organization]id.Payment
	// Contradictions has every contradiction that was ever recorded, also after a person has decided about it.
	Contradictions map[contradiction]bool
}

// contradiction identifies what a contradicting sighting said. The same contradiction is one dispute, whichever message
// repeats it.
type contradiction struct {
	Shortcode string
	Minor     int64
	Payment   id.Payment
}

// sighting identifies a repeated sighting: a provider may deliver a callback any number of times.
type sighting struct {
	Kind, CheckoutRequestID string
	Payment                 id.Payment
	Shortcode               string
	Minor                   int64
}

// seen returns a copy of the sightings with one more.
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

// disputing returns a copy of the attempts that contradicting reports named, with that of one more report.
func (s Receipt) disputing(e events.ReceiptDisputed) map[id.Organization]id.Payment {
	if _, named := s.Disputing[e.OrgID]; named || e.PaymentID.IsZero() {
		return s.Disputing
	}
	all := maps.Clone(s.Disputing)
	if all == nil {
		all = map[id.Organization]id.Payment{}
	}
	all[e.OrgID] = e.PaymentID
	return all
}

// Attempt is the attempt whose money this is, for a person who decides about it: also one that only a contradicting
// report of the receipt's own organization named. Another organization's report says nothing about this money, and has
// a receipt of its own. Zero = unknown.
func (s Receipt) Attempt() id.Payment {
	if s.Payment.IsZero() {
		return s.Disputing[s.Org]
	}
	return s.Payment
}

// KnownAs is the number by which the payer knows the money, that of the real receipt for a provisional one; "" = nobody
// has told it yet.
func (s Receipt) KnownAs() string {
	if s.ClaimedAs != "" {
		return s.ClaimedAs
	}
	return s.Number
}

// Carries reports whether this provisional receipt is the credit on an account, and no real one has claimed it.
func (s Receipt) Carries(on id.Subscriber) bool {
	return s.Provisional && s.Standing == StandingMatched && s.Subscriber == on && s.ClaimedBy.IsZero()
}

// ownerReceipt is the organization that the money belongs to; assigning and matching set it
// (docs/rules/money.md#receipt-owner).
func ownerReceipt(s Receipt) id.Organization { return s.Org }

// evolveReceipt applies one recorded event.
func evolveReceipt(s Receipt, e events.ReceiptEvent) Receipt {
	switch e := e.(type) {
	case events.ReceiptRecorded:
		s = Receipt{
			ID: e.ReceiptID, Org: e.OrgID, Number: e.ReceiptNumber, Channel: e.Channel, Shortcode: e.Shortcode,
			Amount: e.Amount, PaidAt: e.PaidAt, Payment: e.PaymentID, Provisional: e.Provisional,
			Environment: e.Environment, Standing: StandingRecorded, Disputed: !e.Contradicts.IsZero(),
		}
		s.Seen = s.seen(e.Sighting, e.CheckoutRequestID, e.PaymentID, e.Shortcode, e.Amount)
	case events.ReceiptSighted:
		s.Seen = s.seen(e.Sighting, e.CheckoutRequestID, e.PaymentID, s.Shortcode, s.Amount)
		if s.Payment.IsZero() {
			s.Payment = e.PaymentID
		}
		s.Given = s.Given && e.Sighting != commands.SightingOperator
	case events.ReceiptDisputed:
		return s.evolveDisputed(e)
	case events.ReceiptMatched:
		return s.evolveMatched(e)
	case events.ReceiptHeld:
		s.Standing, s.Subscriber = StandingHeld, id.Subscriber{}
		s.Conflicting = e.Reason == commands.HeldConflictingPrompt
		s.Since, s.StalledAt = e.At, time.Time{}
	case events.ReceiptClaimed:
		s.ClaimedBy, s.ClaimedAs = e.ClaimedBy, e.ReceiptNumber
	case events.ReceiptAbsorbed:
		s.Standing, s.Org, s.Subscriber, s.Disputed = StandingAbsorbed, e.OrgID, id.Subscriber{}, false
		s.Since, s.StalledAt = e.At, time.Time{}
	case events.ReceiptUnclaimed:
		// Older logs raise the alarm after a person's word, too: it waits for another one.
		s.Unclaimed, s.Confirmed = true, false
	case events.ReceiptStalled:
		s.StalledAt = e.At
	case events.ReceiptAssigned:
		s.Org, s.Given = e.OrgID, true
	case events.ReceiptReversed:
		s.Standing, s.Subscriber, s.Disputed = StandingReversed, id.Subscriber{}, false
		s.Since, s.StalledAt = e.At, time.Time{}
	case events.ReceiptSetAside:
		s.Aside, s.Given = e.RefundID, false
	case events.ReceiptReturned:
		s.Aside = id.Refund{}
	case events.ReceiptRefunded:
		return s.evolveRefunded(e)
	case events.ReceiptReattributed:
		s.Subscriber, s.Invoice, s.Disputed, s.Moves = e.To, id.Invoice{}, false, e.Move
		s.Since, s.StalledAt = e.At, time.Time{}
		if s.Payment.IsZero() {
			s.Payment = e.PaymentID
		}
	}
	return s
}

// evolveDisputed keeps what a contradicting report said.
func (s Receipt) evolveDisputed(e events.ReceiptDisputed) Receipt {
	// Nobody can decide about money that was taken back or that another receipt carries: there is no dispute.
	s.Disputed = !s.hasLeft()
	s.Contradictions = maps.Clone(s.Contradictions)
	if s.Contradictions == nil {
		s.Contradictions = map[contradiction]bool{}
	}
	s.Contradictions[contradiction{e.Shortcode, e.Amount.Minor, e.PaymentID}] = true
	s.Disputing = s.disputing(e)
	s.Given = s.Given && e.OrgID != s.Org // its organization has a report of its own about it
	return s
}

// evolveMatched gives the money to an account, or settles a dispute about money that is there already.
func (s Receipt) evolveMatched(e events.ReceiptMatched) Receipt {
	if !e.Confirms {
		s.Since, s.StalledAt = e.At, time.Time{}
	}
	s.Standing, s.Org, s.Subscriber, s.Disputed = StandingMatched, e.OrgID, e.SubscriberID, false
	s.Given = false
	s.Invoice, s.Confirmed = e.InvoiceID, s.Confirmed || e.By == commands.MatchedByOperator
	if s.Payment.IsZero() {
		s.Payment = e.PaymentID
	}
	if e.Channel != "" {
		s.Channel = e.Channel
	}
	return s
}

// decideReceipt dispatches; every command but the recording ones needs a receipt that exists.
func decideReceipt(s Receipt, c commands.ReceiptCommand, now time.Time) ([]events.ReceiptEvent, error) {
	switch c := c.(type) {
	case commands.RecordReceipt:
		return decideRecordReceipt(s, c, now)
	case commands.RecordCash:
		return decideRecordCash(s, c, now)
	default: // the other commands need a receipt; the switch below lists them
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
	case commands.MarkStalled:
		return decideMarkStalled(s, c, now)
	case commands.AssignReceipt:
		return decideAssignReceipt(s, c, now)
	case commands.AttributeReceipt:
		return decideAttributeReceipt(s, c, now)
	case commands.NameAttempt:
		return decideNameAttempt(s, c, now)
	case commands.ReverseReceipt:
		return decideReverseReceipt(s, c, now)
	case commands.ReattributeReceipt:
		return decideReattributeReceipt(s, c, now)
	case commands.SetReceiptAside:
		return decideSetReceiptAside(s, c, now)
	case commands.ReturnReceipt:
		return decideReturnReceipt(s, c, now)
	case commands.RefundReceipt:
		return decideRefundReceipt(s, c, now)
	}
	return nil, nil
}

// decideRecordReceipt creates the receipt at the first sighting, and afterwards records a new sighting, or what a
// contradicting one says (docs/rules/money.md#contradictions). That is a dispute unless the money has left for good.
func decideRecordReceipt(s Receipt, c commands.RecordReceipt, now time.Time) ([]events.ReceiptEvent, error) {
	if s.Standing == StandingNone {
		return firstSighting(c, now), nil
	}
	if s.agrees(c) {
		if s.Seen[sighting{c.Sighting, c.CheckoutRequestID, c.PaymentID, c.Shortcode, c.Amount.Minor}] {
			return nil, nil
		}
		return []events.ReceiptEvent{events.ReceiptSighted{
			ReceiptID: s.ID, Sighting: c.Sighting, CheckoutRequestID: c.CheckoutRequestID, PaymentID: c.PaymentID,
			At: now,
		}}, nil
	}
	if s.Contradictions[contradiction{c.Shortcode, c.Amount.Minor, c.PaymentID}] {
		return nil, nil
	}
	disputed := []events.ReceiptEvent{events.ReceiptDisputed{
		ReceiptID: s.ID, OrgID: c.OrgID, PaymentID: c.PaymentID, Sighting: c.Sighting, Amount: c.Amount,
		Shortcode: c.Shortcode, At: now,
	}}
	if s.Standing == StandingRecorded {
		disputed = append(disputed, events.ReceiptHeld{ReceiptID: s.ID, Reason: commands.HeldDisputed, At: now})
	}
	return disputed, nil
}

// firstSighting makes the receipt. What contradicts another organization's receipt waits in suspense from the start.
func firstSighting(c commands.RecordReceipt, now time.Time) []events.ReceiptEvent {
	recorded := []events.ReceiptEvent{events.ReceiptRecorded{
		ReceiptID: c.ReceiptID, OrgID: c.OrgID, Provider: c.Provider, Environment: c.Environment,
		ReceiptNumber: c.ReceiptNumber, Channel: c.Channel, Shortcode: c.Shortcode, Amount: c.Amount, PaidAt: c.PaidAt,
		PayerPhone: c.PayerPhone, PayerName: c.PayerName, BillRef: c.BillRef, InvoiceNumber: c.InvoiceNumber,
		ThirdPartyTransID: c.ThirdPartyTransID, OrgAccountBalance: c.OrgAccountBalance,
		CheckoutRequestID: c.CheckoutRequestID, PaymentID: c.PaymentID, Provisional: c.Provisional,
		Contradicts: c.Contradicts, Sighting: c.Sighting, RecordedAt: now,
	}}
	if !c.Contradicts.IsZero() {
		recorded = append(recorded, events.ReceiptHeld{ReceiptID: c.ReceiptID, Reason: commands.HeldDisputed, At: now})
	}
	return recorded
}

// agrees reports whether a sighting says the same as the receipt: amount, shortcode, and the attempt if both name one.
func (s Receipt) agrees(c commands.RecordReceipt) bool {
	return c.Amount == s.Amount && c.Shortcode == s.Shortcode &&
		(c.PaymentID.IsZero() || s.Payment.IsZero() || c.PaymentID == s.Payment)
}

// Elsewhere reports whether a sighting contradicts the receipt and belongs to another organization, which then gets a
// receipt of its own in suspense: it must not lose sight of its money. A sighting on the same shortcode that names no
// organization is about the receipt itself.
func (s Receipt) Elsewhere(c commands.RecordReceipt) bool {
	same := c.OrgID == s.Org || c.OrgID.IsZero() && c.Shortcode == s.Shortcode
	return s.Standing != StandingNone && !same && !s.agrees(c)
}

// OnlyStated reports whether the money is known by nothing but a statement that a person uploaded.
func (s Receipt) OnlyStated() bool {
	for seen := range s.Seen {
		if seen.Kind != commands.SightingStatement {
			return false
		}
	}
	return s.Standing != StandingNone
}

// decideRecordCash creates a receipt that is matched at once, because the member of staff names the subscriber.
func decideRecordCash(s Receipt, c commands.RecordCash, now time.Time) ([]events.ReceiptEvent, error) {
	if s.Standing == StandingReversed {
		return nil, failure.NewConflict("reference_taken_back",
			"The payment with this reference was taken back. Record the money with another reference, such as this "+
				"one with a word behind it.")
	}
	if s.Standing != StandingNone {
		return nil, failure.NewConflict("reference_used",
			"A payment with this reference is recorded already. If it is the same money, nothing is to be done; "+
				"other money needs a reference of its own.")
	}
	return []events.ReceiptEvent{
		events.ReceiptRecorded{
			ReceiptID: c.ReceiptID, OrgID: c.OrgID, Provider: commands.ProviderCash, ReceiptNumber: c.Reference,
			Channel: commands.ChannelCash, Amount: c.Amount, PaidAt: now, Sighting: commands.SightingCash,
			RecordedAt: now, Kind: c.Kind, ReceivedOn: c.ReceivedOn,
		},
		events.ReceiptMatched{
			ReceiptID: c.ReceiptID, OrgID: c.OrgID, SubscriberID: c.SubscriberID, InvoiceID: c.InvoiceID,
			ReceiptNumber: c.Reference, Channel: commands.ChannelCash, Amount: c.Amount, PaidAt: now,
			By: commands.MatchedByCash, At: now,
		},
	}, nil
}

// decideMatchReceipt accepts the match of the rules, except for a disputed receipt, which a person must look at first.
func decideMatchReceipt(s Receipt, c commands.MatchReceipt, now time.Time) ([]events.ReceiptEvent, error) {
	switch {
	case s.Standing == StandingMatched && s.Subscriber == c.SubscriberID, s.Standing == StandingAbsorbed:
		return nil, nil
	case s.beingRefunded():
		return nil, receiptRefunded()
	case s.Disputed:
		return nil, receiptDisputed()
	case s.Standing == StandingMatched:
		return nil, receiptMatched()
	case s.Standing == StandingReversed:
		return nil, receiptReversed()
	}
	return []events.ReceiptEvent{s.matched(c, now)}, nil
}

// matched makes the event that gives the money to a subscriber. Money of a prompt has the channel prompt, also when a
// paybill confirmation was the first sighting.
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

// receiptMatched refuses commands for money that is on an account already.
func receiptMatched() error {
	return failure.NewConflict("receipt_matched",
		"This money is on a subscriber's account already. Reattribute it instead.")
}

// receiptDisputed refuses to place money by what was reported of it.
func receiptDisputed() error {
	return failure.NewConflict("receipt_disputed",
		"Two reports about this receipt contradict each other. Attribute it by hand.")
}

// receiptReversed refuses commands for money that was taken back: nothing can be done with it any more.
func receiptReversed() error {
	return failure.NewConflict("receipt_reversed", "This receipt was reversed, which is final.")
}

// decideHoldReceipt puts a recorded receipt into suspense, or a matched one that its account has refused. In any other
// standing it gives no event.
func decideHoldReceipt(s Receipt, c commands.HoldReceipt, now time.Time) ([]events.ReceiptEvent, error) {
	refused := s.Standing == StandingMatched && c.Reason == commands.HeldNotCredited && s.Subscriber == c.SubscriberID
	if s.Standing != StandingRecorded && !refused {
		return nil, nil
	}
	return []events.ReceiptEvent{events.ReceiptHeld{ReceiptID: s.ID, Reason: c.Reason, At: now}}, nil
}
