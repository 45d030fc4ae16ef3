// Package entitlement decides who may use the network, how much of it, and gives the reasons. It is one pure function
// of a subscriber's state and an instant, so that read models, endpoints, use cases and the RADIUS server always agree.
//
// Each Reason allows at most one Access. A subscription gets the least that its reasons and those of the subscriber
// allow; a subscriber gets the most that one of the subscriptions has. A new rule is one more reason, either of the
// subscriber or of one subscription; nothing else changes. Source: docs/rules/access.md#entitlement.
package entitlement

import (
	"cmp"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Access is a degree of use of the network. A greater value is more access; the zero value is no access. Values are
// compared and never stored, so a new degree can be inserted between two others.
type Access int

// The degrees of access.
const (
	None Access = iota // refused at sign-in, or disconnected
	Full               // everything that the plan gives
)

// String is the word for the degree in the API.
func (a Access) String() string {
	if a == Full {
		return "full"
	}
	return "none"
}

// State is the whole input of the decision about one subscriber.
type State struct {
	SubscriberID  id.Subscriber
	RegisteredAt  time.Time
	Block         *Block         // nil = not blocked
	Subscriptions []Subscription // services of the result keep this order
}

// Block is an administrative block: no access, even when everything is paid.
type Block struct {
	Since   time.Time
	EventID id.Event // the event that recorded the block
}

// Standing is the state of a subscription's life; its words are those of the API. The zero value gives no access.
type Standing string

// The standings, in the order of a subscription's life.
const (
	Pending Standing = "pending" // was never active
	Active  Standing = "active"
	Paused  Standing = "paused"
	Ended   Standing = "ended"
)

// Subscription is the part of one subscription that its access depends on. All times are UTC.
type Subscription struct {
	ID          id.Subscription
	Standing    Standing
	Mode        events.BillingMode
	CreatedAt   time.Time
	Since       time.Time  // when the present standing began
	StartsAt    time.Time  // first instant of the service
	PaidUntil   time.Time  // first instant that is not paid for; zero before the first paid period
	OpenInvoice id.Invoice // the oldest unpaid one of a period that is due; zero = none
}

// Code names a reason. Codes are part of the API and never change their meaning.
type Code string

// The codes; only "paid" and "postpaid" allow access.
const (
	CodeBlocked         Code = "blocked"
	CodeNoSubscription  Code = "no_subscription"
	CodeEnded           Code = "ended"
	CodePaused          Code = "paused"
	CodeNotStarted      Code = "not_started"
	CodeAwaitingPayment Code = "awaiting_payment" // the first period is not paid
	CodeExpired         Code = "expired"          // the paid time is over
	CodePaid            Code = "paid"
	CodePostpaid        Code = "postpaid" // invoiced while it runs
)

// Reason is one fact that decides about access, with the most that it allows.
type Reason struct {
	Code   Code
	Allows Access    // at most this
	Since  time.Time // when it began
	Cause  Cause
}

// Cause identifies the object that explains a reason.
type Cause struct {
	Type string // "event", "subscriber", "subscription" or "invoice"
	ID   id.Any
}

// Service is the access of one subscription.
type Service struct {
	SubscriptionID id.Subscription
	Access         Access
}

// Entitlement is the result for one subscriber at one instant.
type Entitlement struct {
	Access Access // the most that any service has
	// Reasons of the subscriber come first, then those of each subscription in the order of the state. In each group
	// the reason that allows least comes first.
	Reasons  []Reason
	Services []Service // one for each subscription, in the order of the state
}

// Of computes a subscriber's entitlement at an instant. It reads only its arguments, changes none of them, and is safe
// for concurrent use.
func Of(s State, at time.Time) Entitlement {
	common := strongestFirst(ofSubscriber(s))
	out := Entitlement{Access: None, Reasons: slices.Clone(common)}
	for _, subscription := range s.Subscriptions {
		own := strongestFirst(ofSubscription(subscription, at))
		service := Service{SubscriptionID: subscription.ID, Access: min(least(common), least(own))}
		out.Access = max(out.Access, service.Access)
		out.Reasons = append(out.Reasons, own...)
		out.Services = append(out.Services, service)
	}
	return out
}

// ofSubscriber returns the reasons that hold for all subscriptions: a block, or having no subscription.
func ofSubscriber(s State) []Reason {
	var reasons []Reason
	if s.Block != nil {
		reasons = append(reasons, Reason{CodeBlocked, None, s.Block.Since, Cause{"event", id.Any(s.Block.EventID)}})
	}
	if len(s.Subscriptions) == 0 {
		reasons = append(reasons,
			Reason{CodeNoSubscription, None, s.RegisteredAt, Cause{"subscriber", id.Any(s.SubscriberID)}})
	}
	return reasons
}

// ofSubscription returns the reasons of one subscription alone. A new rule about subscriptions adds its reason here.
func ofSubscription(s Subscription, at time.Time) []Reason { return []Reason{ofStanding(s, at)} }

// ofStanding returns the reason that follows from the subscription's life and its payments. The instant PaidUntil is no
// longer paid for; the instant StartsAt already belongs to the service.
func ofStanding(s Subscription, at time.Time) Reason {
	itself := Cause{"subscription", id.Any(s.ID)}
	owed := itself
	if !s.OpenInvoice.IsZero() {
		owed = Cause{"invoice", id.Any(s.OpenInvoice)}
	}
	switch {
	case s.Standing == Ended:
		return Reason{CodeEnded, None, s.Since, itself}
	case s.Standing == Paused:
		return Reason{CodePaused, None, s.Since, itself}
	case s.StartsAt.After(at):
		return Reason{CodeNotStarted, None, s.CreatedAt, itself}
	case s.Standing != Active:
		return Reason{CodeAwaitingPayment, None, s.CreatedAt, owed}
	case s.Mode == events.Postpaid:
		return Reason{CodePostpaid, Full, s.Since, itself}
	case s.PaidUntil.After(at):
		return Reason{CodePaid, Full, s.Since, itself}
	case s.PaidUntil.IsZero():
		return Reason{CodeExpired, None, s.Since, owed}
	}
	return Reason{CodeExpired, None, s.PaidUntil, owed}
}

// strongestFirst sorts reasons in place, the one that allows least first; equal ones keep their order.
func strongestFirst(reasons []Reason) []Reason {
	slices.SortStableFunc(reasons, func(a, b Reason) int { return cmp.Compare(a.Allows, b.Allows) })
	return reasons
}

// least is the access that all reasons allow together; Full when there is no reason.
func least(reasons []Reason) Access {
	allowed := Full
	for _, r := range reasons {
		allowed = min(allowed, r.Allows)
	}
	return allowed
}
