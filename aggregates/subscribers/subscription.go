package subscribers

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// SubscriptionState is where a subscription stands. Source: facts/billing.md, Life cycles.
type SubscriptionState string

// The states.
const (
	Pending SubscriptionState = "pending"
	Active  SubscriptionState = "active"
	Paused  SubscriptionState = "paused"
	Ended   SubscriptionState = "ended"
)

// keptPeriods is how many paid periods the state remembers, so that a payment can be withdrawn.
const keptPeriods = 24

// Span is the half-open time [From, To) that an invoice paid for.
type Span struct {
	From, To time.Time
}

// Subscription is a plan that a subscriber has. The zero value is "does not exist".
type Subscription struct {
	ID           id.Subscription
	Owner        id.Organization
	SubscriberID id.Subscriber
	PlanVersion  int
	Terms        events.PlanTerms
	Timezone     string
	StartsAt     time.Time
	Username     personal.Text `json:"-"`
	State        SubscriptionState
	PausedAt     time.Time
	PaidUntil    time.Time // exclusive; zero before the first paid period
	AnchorDay    int       // day of the month that monthly periods return to
	LastTo       time.Time // postpaid: end of the last period that was due
	Open         id.Invoice
	Paid         map[id.Invoice]Span
}

// EvolveSubscription applies one recorded fact.
func EvolveSubscription(s Subscription, e events.SubscriptionEvent) Subscription {
	switch e := e.(type) {
	case events.SubscriptionCreated:
		return Subscription{
			ID: e.SubscriptionID, Owner: e.OrgID, SubscriberID: e.SubscriberID, PlanVersion: e.PlanVersion, Terms: e.Terms,
			Timezone: e.Timezone, StartsAt: e.StartsAt, Username: e.Username, State: Pending,
		}
	case events.PeriodDue:
		s.Open = e.InvoiceID
		if !e.To.IsZero() {
			s.LastTo = e.To
			s.AnchorDay = s.anchorFor(e.From)
		}
	case events.SubscriptionActivated:
		s.State = Active
	case events.SubscriptionExtended:
		return s.extended(e)
	case events.PeriodWithdrawn:
		paid := maps.Clone(s.Paid)
		delete(paid, e.InvoiceID)
		s.Paid, s.PaidUntil, s.Open = paid, e.PaidUntil, e.InvoiceID
	case events.PeriodCancelled:
		s.Open = id.Invoice{}
	case events.SubscriptionPaused:
		s.State, s.PausedAt = Paused, e.At
	case events.SubscriptionResumed:
		s.State, s.PausedAt, s.PaidUntil = Active, time.Time{}, e.PaidUntil
	case events.SubscriptionEnded:
		s.State = Ended
	case events.SubscriptionPeriodClosed:
		return reopened(e)
	}
	return s
}

// reopened is the state that a closed period of the stream hands on.
func reopened(e events.SubscriptionPeriodClosed) Subscription {
	var s Subscription
	if err := json.Unmarshal(e.Opening, &s); err != nil {
		panic("subscription opening: " + err.Error()) // written by CloseSubscription: a broken one is a broken log
	}
	s.Username = e.Username
	return s
}

// CloseSubscription is the last event of a full stream period.
func CloseSubscription(s Subscription) events.SubscriptionEvent {
	opening, err := json.Marshal(s)
	if err != nil {
		panic("subscription opening: " + err.Error()) // no field of it can fail
	}
	return events.SubscriptionPeriodClosed{SubscriptionID: s.ID, SubscriberID: s.SubscriberID, Opening: opening, Username: s.Username}
}

// extended notes a paid period; a period that does not continue the one before it sets a new anniversary.
func (s Subscription) extended(e events.SubscriptionExtended) Subscription {
	if !e.From.Equal(s.PaidUntil) && s.Terms.Mode == events.Prepaid {
		s.AnchorDay = e.From.In(s.zone()).Day()
	}
	paid := make(map[id.Invoice]Span, len(s.Paid)+1)
	for invoice, span := range s.Paid {
		if len(s.Paid) < keptPeriods || span.To.After(s.oldestEnd()) {
			paid[invoice] = span
		}
	}
	paid[e.InvoiceID] = Span{e.From, e.PaidUntil}
	s.Paid, s.PaidUntil = paid, e.PaidUntil
	if s.Open == e.InvoiceID {
		s.Open = id.Invoice{}
	}
	return s
}

// oldestEnd is the earliest end among the remembered periods.
func (s Subscription) oldestEnd() time.Time {
	var oldest time.Time
	for _, span := range s.Paid {
		if oldest.IsZero() || span.To.Before(oldest) {
			oldest = span.To
		}
	}
	return oldest
}

// anchorFor keeps the anniversary, or takes it from the first period's start.
func (s Subscription) anchorFor(from time.Time) int {
	if s.AnchorDay != 0 {
		return s.AnchorDay
	}
	return from.In(s.zone()).Day()
}

// zone is the zone that periods follow; the name was checked when the organization chose it.
func (s Subscription) zone() *time.Location {
	zone, err := time.LoadLocation(s.Timezone)
	if err != nil {
		return time.UTC
	}
	return zone
}

// OwnerSubscription is the organization of the customer.
func OwnerSubscription(s Subscription) id.Organization { return s.Owner }

// ClaimsSubscription is the login on the network, unique in the organization until the subscription ends.
func ClaimsSubscription(s Subscription) []commands.Claim {
	if s.ID.IsZero() || s.State == Ended || s.Username.Reveal() == "" {
		return nil
	}
	return []commands.Claim{{
		Kind: "username", Value: s.Owner.String() + "/" + s.Username.Reveal(),
		Code: "username_taken", Message: "this username is in use",
	}}
}
