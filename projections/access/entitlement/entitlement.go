// Package entitlement decides who may use the network, how much of it, and says why. It is one pure function of a
// subscriber's state and an instant, so that read models, endpoints, use cases and the RADIUS server cannot disagree.
//
// A Reason allows an Access at most. A subscription is entitled to the least that one of its reasons allows, a
// subscriber to the most that one of the subscriptions is. A new rule is one more reason, added to those of the
// subscriber or of one subscription; nothing else changes. Source: docs/rules/access.md#entitlement.
package entitlement

import (
	"cmp"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Access is how much of the network somebody may use. More access is the greater value; the zero value is none at all.
// Values are compared and never stored: one that lies between two others is put between them.
type Access int

// The degrees of access.
const (
	None Access = iota // is refused, or disconnected
	Full               // all that the plan gives
)

// String is the word for it in the API.
func (a Access) String() string {
	if a == Full {
		return "full"
	}
	return "none"
}

// State is all that the access of one subscriber depends on.
type State struct {
	SubscriberID  id.Subscriber
	RegisteredAt  time.Time
	Block         *Block         // nil = not blocked
	Subscriptions []Subscription // the answer keeps their order
}

// Block cuts a subscriber off by hand, whatever is paid.
type Block struct {
	Since   time.Time
	EventID id.Event // recorded it
}

// Standing is where a subscription stands in its life; its words are those of the API. The zero value gives no access.
type Standing string

// The standings.
const (
	Pending Standing = "pending" // never active so far
	Active  Standing = "active"
	Paused  Standing = "paused"
	Ended   Standing = "ended"
)

// Subscription is one plan that the subscriber has.
type Subscription struct {
	ID          id.Subscription
	Standing    Standing
	Mode        events.BillingMode
	CreatedAt   time.Time
	Since       time.Time  // when it took its standing
	StartsAt    time.Time  // first instant of the service
	PaidUntil   time.Time  // first instant that is not paid for; zero before the first paid period
	OpenInvoice id.Invoice // the oldest one of a period that is due; zero = none
}

// Code names a reason. Codes are part of the API.
type Code string

// The codes.
const (
	CodeBlocked         Code = "blocked"
	CodeNoSubscription  Code = "no_subscription"
	CodeEnded           Code = "ended"
	CodePaused          Code = "paused"
	CodeNotStarted      Code = "not_started"
	CodeAwaitingPayment Code = "awaiting_payment" // the first period is not paid
	CodeExpired         Code = "expired"          // what was paid for is over
	CodePaid            Code = "paid"
	CodePostpaid        Code = "postpaid" // is billed while it runs
)

// Reason is one fact that the access follows from.
type Reason struct {
	Code   Code
	Allows Access    // at most
	Since  time.Time // when it began to hold
	Cause  Cause
}

// Cause is the object on which the reason can be looked up.
type Cause struct {
	Type string // "event", "subscriber", "subscription" or "invoice"
	ID   id.Any
}

// Service is what one subscription comes to.
type Service struct {
	SubscriptionID id.Subscription
	Access         Access
}

// Entitlement is the answer about a subscriber.
type Entitlement struct {
	Access Access // the most that a service has
	// Reasons of the subscriber come first, then those of each subscription in the order of the state. Each group has
	// its strongest first: the reason that allows least.
	Reasons  []Reason
	Services []Service // one for each subscription, in the order of the state
}

// Of is what a subscriber is entitled to at an instant. It reads nothing but its arguments, changes none of them, and
// is safe for concurrent use.
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

// ofSubscriber are the reasons that hold for all subscriptions.
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

// ofSubscription are the reasons of one subscription.
func ofSubscription(s Subscription, at time.Time) []Reason { return []Reason{ofStanding(s, at)} }

// ofStanding is the reason that lies in the subscription's life and in what is paid for. What is paid until an instant
// is no longer paid at that instant; a service starts at its first instant.
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

// strongestFirst sorts reasons by what they allow, least first; equal ones keep their order.
func strongestFirst(reasons []Reason) []Reason {
	slices.SortStableFunc(reasons, func(a, b Reason) int { return cmp.Compare(a.Allows, b.Allows) })
	return reasons
}

// least is what all of the reasons allow; without any, nothing stands in the way.
func least(reasons []Reason) Access {
	allowed := Full
	for _, r := range reasons {
		allowed = min(allowed, r.Allows)
	}
	return allowed
}
