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
	None         Access = iota // refused at sign-in, or disconnected
	WalledGarden               // the payment page and what else is allowed there
	Throttled                  // everything, at the speed that a cap leaves
	Full                       // everything that the plan gives
)

// String is the word for the degree in the API.
func (a Access) String() string {
	switch a {
	case Full:
		return "full"
	case Throttled:
		return "throttled"
	case WalledGarden:
		return "walled_garden"
	case None:
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
	ID         id.Subscription
	Standing   Standing
	Mode       events.BillingMode
	CreatedAt  time.Time
	Since      time.Time // when the present standing began
	StandingBy id.Event  // told the standing paused or ended; zero = not known
	StartsAt   time.Time // first instant of the service; not after CreatedAt = it starts at once
	PaidUntil  time.Time // first instant that is not paid for; zero before the first paid period
	Told       PaidTold  // about PaidUntil
	// LostAt is up to when the paid time ran before a correction took some of it back: to the correction, or to an end
	// before it. Zero = nothing was ever taken back.
	LostAt      time.Time
	OpenInvoice id.Invoice // the oldest unpaid one of a period that is due; zero = none
	Dunning     *Dunning   // nil = nothing was recorded, or dunning has ended
	Used        *CapUse    // nil = the cap is not reached, or there is none
	Rates       events.Rates
	Terms       events.AccessTerms
	Zone        *time.Location // of the organization, for the plan's hours; nil = UTC
}

// PaidTold is the event that told the present end of the paid time: a payment, the end of a pause, or a correction. The
// zero value is none that is known; only the reason "paid" depends on it.
type PaidTold struct {
	At      time.Time
	EventID id.Event
}

// Dunning is the step on which dunning has a subscription.
type Dunning struct {
	State   events.DunningState
	Since   time.Time
	EventID id.Event // the event that recorded the step
	// Cut is the suspension in a proposed write-off: the step before it, or the proposal itself; zero in other states.
	Cut Cut
	// NextState is expected to begin at Next, if nothing is paid; "" and zero = not known. A cut is never made by this
	// alone, but after the paid time an expected reminder or walled garden has begun.
	NextState events.DunningState
	Next      time.Time
}

// Cut is a suspension: when it began, and the event that recorded it.
type Cut struct {
	Since   time.Time
	EventID id.Event
}

// CapUse records that the traffic which the plan includes is used up.
type CapUse struct {
	Since   time.Time
	EventID id.Event  // the event that recorded it
	Until   time.Time // when the count begins anew; zero = not known
}

// Code names a reason. Codes are part of the API and never change their meaning.
type Code string

// The codes. "paid", "postpaid", "grace" and "schedule" allow full access, "cap_throttled" and "overdue" some of it.
const (
	CodeBlocked         Code = "blocked"
	CodeNoSubscription  Code = "no_subscription"
	CodeEnded           Code = "ended"
	CodePaused          Code = "paused"
	CodeNotStarted      Code = "not_started"
	CodeAwaitingPayment Code = "awaiting_payment" // the first period is not paid
	CodeExpired         Code = "expired"          // the paid time is over
	CodePaid            Code = "paid"
	CodePostpaid        Code = "postpaid"  // invoiced while it runs
	CodeGrace           Code = "grace"     // the paid time is over, and dunning still waits
	CodeOverdue         Code = "overdue"   // dunning leaves the walled garden
	CodeSuspended       Code = "suspended" // dunning has cut the service
	CodeCapThrottled    Code = "cap_throttled"
	CodeCapStopped      Code = "cap_stopped"
	CodeSchedule        Code = "schedule" // the plan has another speed at this hour
)

// Reason is one fact that decides about access, with the most that it allows.
type Reason struct {
	Code   Code
	Allows Access    // at most this
	Since  time.Time // when it began
	Cause  Cause
	// Of is the subscription that it is about; zero = all of the subscriber's.
	Of id.Subscription
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
	Rate           Rate   // zero without access, and for a plan without rates
	Decided        Reason // the strongest reason, which allows no more than Access
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
		for i := range own {
			own[i].Of = subscription.ID
		}
		service := Service{SubscriptionID: subscription.ID, Access: min(least(common), least(own))}
		service.Decided = strongestFirst(slices.Concat(common, own))[0]
		service.Rate = rateOf(subscription, service.Access, at)
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
		reasons = append(reasons, Reason{
			Code: CodeBlocked, Allows: None, Since: s.Block.Since, Cause: Cause{"event", id.Any(s.Block.EventID)},
		})
	}
	if len(s.Subscriptions) == 0 {
		reasons = append(reasons, Reason{
			Code: CodeNoSubscription, Allows: None, Since: s.RegisteredAt,
			Cause: Cause{"subscriber", id.Any(s.SubscriberID)},
		})
	}
	return reasons
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
