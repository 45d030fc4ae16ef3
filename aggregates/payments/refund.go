package payments

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// Refunds defines the refunds: one short stream for each.
func Refunds() aggregates.Definition[Refund, commands.RefundCommand, events.RefundEvent] {
	return aggregates.Definition[Refund, commands.RefundCommand, events.RefundEvent]{
		Category: commands.RefundCategory, Missing: commands.ErrNoRefund, Evolve: evolveRefund,
		Decide: decideRefund,
		Owner:  func(s Refund) id.Organization { return s.Org },
		Commands: []commands.RefundCommand{
			commands.RequestRefund{}, commands.SecureRefund{}, commands.RefuseRefund{}, commands.ApproveRefund{},
			commands.CancelRefund{}, commands.SettleRefund{}, commands.SubmitRefund{}, commands.AcknowledgeRefund{},
			commands.DoubtRefund{}, commands.ConcludeRefund{},
		},
	}
}

// RefundState says how far a refund is. Source: docs/rules/money.md#refunds.
type RefundState uint8

// The states.
const (
	RefundNone RefundState = iota
	RefundRequested
	RefundApproved
	RefundCompleted
	RefundFailed
	RefundSubmitted
	RefundInDoubt
)

// Refund is the state of one refund. The zero value is "does not exist".
type Refund struct {
	ID         id.Refund
	Org        id.Organization
	Receipt    id.Receipt
	Subscriber id.Subscriber // zero = the money is in suspense
	Amount     money.Amount
	By         string
	State      RefundState
	Secured    bool // the money waits for it
	// Origin is the provider's id of the request for a reversal, by which it can be asked about; "" while unknown.
	Origin string
}

// ended reports whether nothing can become of the refund any more.
func (s Refund) ended() bool { return s.State == RefundCompleted || s.State == RefundFailed }

// evolveRefund applies one recorded event.
func evolveRefund(s Refund, e events.RefundEvent) Refund {
	switch e := e.(type) {
	case events.RefundRequested:
		return Refund{
			ID: e.RefundID, Org: e.OrgID, Receipt: e.ReceiptID, Subscriber: e.SubscriberID, Amount: e.Amount, By: e.By,
			State: RefundRequested,
		}
	case events.RefundSecured:
		s.Secured = true
	case events.RefundApproved:
		s.State = RefundApproved
	case events.RefundSubmitted:
		s.State = RefundSubmitted
	case events.RefundAcknowledged:
		s.Origin = e.OriginatorConversationID
	case events.RefundDoubted:
		s.State = RefundInDoubt
	case events.RefundCompleted:
		s.State = RefundCompleted
	case events.RefundFailed:
		s.State = RefundFailed
	}
	return s
}

// decideRefund dispatches; every command but the request needs a refund that exists, of the organization that it names.
func decideRefund(s Refund, c commands.RefundCommand, now time.Time) ([]events.RefundEvent, error) {
	if c, ok := c.(commands.RequestRefund); ok {
		return decideRequestRefund(s, c, now)
	}
	if s.State == RefundNone {
		return nil, commands.ErrNoRefund()
	}
	switch c := c.(type) {
	case commands.RequestRefund:
	case commands.SecureRefund:
		return decideSecureRefund(s, now)
	case commands.RefuseRefund:
		return decideRefuseRefund(s, c, now)
	case commands.ApproveRefund:
		return decideApproveRefund(s, c, now)
	case commands.SubmitRefund:
		return decideSubmitRefund(s, now)
	case commands.AcknowledgeRefund:
		return decideAcknowledgeRefund(s, c, now)
	case commands.DoubtRefund:
		return decideDoubtRefund(s, c, now)
	case commands.ConcludeRefund:
		return decideConcludeRefund(s, c, now)
	case commands.CancelRefund:
		return decideCancelRefund(s, c, now)
	case commands.SettleRefund:
		return decideSettleRefund(s, c, now)
	}
	return nil, nil
}

// decideRequestRefund begins a refund under an id of the caller's.
func decideRequestRefund(s Refund, c commands.RequestRefund, now time.Time) ([]events.RefundEvent, error) {
	if s.State != RefundNone {
		if s.Org == c.OrgID && s.Receipt == c.ReceiptID && s.Amount == c.Amount && s.By == c.By {
			return nil, nil
		}
		return nil, failure.NewConflict("refund_exists", "There is another refund with this id.")
	}
	return []events.RefundEvent{events.RefundRequested{
		RefundID: c.RefundID, OrgID: c.OrgID, ReceiptID: c.ReceiptID, ReceiptNumber: c.ReceiptNumber,
		SubscriberID: c.SubscriberID, Amount: c.Amount, By: c.By, AskedBy: c.AskedBy, Reason: personal.Of(c.Reason),
		At: now,
	}}, nil
}

// decideSecureRefund notes that the money waits. One that ended meanwhile refuses, so that the money is given back.
func decideSecureRefund(s Refund, now time.Time) ([]events.RefundEvent, error) {
	switch {
	case s.Secured:
		return nil, nil
	case s.ended():
		return nil, refundEnded()
	}
	return []events.RefundEvent{events.RefundSecured{RefundID: s.ID, At: now}}, nil
}

// decideRefuseRefund ends a refund whose money could not be set aside.
func decideRefuseRefund(s Refund, c commands.RefuseRefund, now time.Time) ([]events.RefundEvent, error) {
	if s.Secured || s.ended() {
		return nil, nil
	}
	failed := s.failed(c.Code, commands.SaidByPlatform, now)
	return []events.RefundEvent{failed}, nil
}

// decideApproveRefund lets money go that waits. An approval that is there already changes nothing.
func decideApproveRefund(s Refund, c commands.ApproveRefund, now time.Time) ([]events.RefundEvent, error) {
	switch {
	case s.Org != c.OrgID:
		return nil, commands.ErrNoRefund()
	case s.ended():
		return nil, refundEnded()
	case s.State != RefundRequested:
		return nil, nil
	case !s.Secured:
		return nil, failure.NewConflict("refund_not_secured",
			"The money is just being set aside for this refund. Try again in a moment.")
	}
	return []events.RefundEvent{events.RefundApproved{
		RefundID: s.ID, OrgID: s.Org, ReceiptID: s.Receipt, SubscriberID: s.Subscriber, Amount: s.Amount, By: s.By,
		At: now,
	}}, nil
}

// decideCancelRefund ends a refund before the money has left. A second cancellation changes nothing.
func decideCancelRefund(s Refund, c commands.CancelRefund, now time.Time) ([]events.RefundEvent, error) {
	switch {
	case s.Org != c.OrgID:
		return nil, commands.ErrNoRefund()
	case s.ended():
		return nil, refundEnded()
	case s.withProvider():
		return nil, refundSubmitted()
	}
	failed := s.failed(commands.RefundCancelled, commands.SaidByOperator, now)
	failed.Reason = personal.Of(c.Reason)
	return []events.RefundEvent{failed}, nil
}

// decideSettleRefund takes the word of a person. It is final: what was paid is not unpaid by another word.
func decideSettleRefund(s Refund, c commands.SettleRefund, now time.Time) ([]events.RefundEvent, error) {
	switch {
	case s.Org != c.OrgID:
		return nil, commands.ErrNoRefund()
	case s.ended():
		return nil, refundEnded()
	case s.State == RefundRequested:
		return nil, refundUnapproved()
	case s.State == RefundSubmitted || s.State == RefundApproved && s.By == commands.RefundReversal:
		return nil, refundSubmitted()
	}
	if c.Completed {
		return []events.RefundEvent{s.completed(c.Reference, commands.SaidByOperator, now)}, nil
	}
	failed := s.failed(commands.RefundNotPaid, commands.SaidByOperator, now)
	failed.Reason = personal.Of(c.Reason)
	return []events.RefundEvent{failed}, nil
}

// completed makes the event of money that the payer has.
func (s Refund) completed(reference, saidBy string, now time.Time) events.RefundCompleted {
	return events.RefundCompleted{
		RefundID: s.ID, OrgID: s.Org, ReceiptID: s.Receipt, SubscriberID: s.Subscriber, Amount: s.Amount,
		Reference: reference, SaidBy: saidBy, At: now,
	}
}

// failed makes the event of money that the payer does not get.
func (s Refund) failed(code, saidBy string, now time.Time) events.RefundFailed {
	return events.RefundFailed{
		RefundID: s.ID, OrgID: s.Org, ReceiptID: s.Receipt, SubscriberID: s.Subscriber, Amount: s.Amount, Code: code,
		SaidBy: saidBy, At: now,
	}
}

// refundEnded refuses to change a refund whose outcome is known.
func refundEnded() error {
	return failure.NewConflict("refund_ended", "This refund has ended already. Read it again to see how.")
}
