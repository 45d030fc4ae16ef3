package subscribers

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// Subscriptions is the definition of subscriptions.
func Subscriptions() aggregates.Definition[Subscription, commands.SubscriptionCommand, events.SubscriptionEvent] {
	return aggregates.Definition[Subscription, commands.SubscriptionCommand, events.SubscriptionEvent]{
		Category: commands.SubscriptionCategory, Missing: commands.ErrNoSubscription, Evolve: evolveSubscription,
		Decide: decideSubscription, Owner: ownerSubscription, Claims: claimsSubscription, Close: closeSubscription,
		Commands: []commands.SubscriptionCommand{
			commands.CreateSubscription{}, commands.MakePeriodDue{}, commands.ExtendSubscription{},
			commands.WithdrawPeriod{}, commands.CancelPeriod{}, commands.PauseSubscription{},
			commands.ResumeSubscription{}, commands.EndSubscription{},
		},
	}
}

// SubscriptionState is where a subscription stands. Source: docs/rules/subscribers.md#subscription-life.
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
	PaidUntil    time.Time    // exclusive; zero before the first paid period
	AnchorDay    int          // day of the month that monthly periods return to
	LastTo       time.Time    // postpaid: end of the last period that was due
	Open         []id.Invoice // of periods that are due and not paid, each once
	Paid         map[id.Invoice]Span
}

// evolveSubscription applies one recorded fact.
func evolveSubscription(s Subscription, e events.SubscriptionEvent) Subscription {
	switch e := e.(type) {
	case events.SubscriptionCreated:
		return Subscription{
			ID: e.SubscriptionID, Owner: e.OrgID, SubscriberID: e.SubscriberID, PlanVersion: e.PlanVersion,
			Terms: e.Terms, Timezone: e.Timezone, StartsAt: e.StartsAt, Username: e.Username, State: Pending,
		}
	case events.PeriodDue:
		s.Open = opened(s.Open, e.InvoiceID)
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
		s.Paid, s.PaidUntil, s.Open = paid, e.PaidUntil, opened(s.Open, e.InvoiceID)
		s.AnchorDay = s.anchorOf(e.PaidUntil)
	case events.PeriodCancelled:
		s.Open = closed(s.Open, e.InvoiceID)
	case events.SubscriptionPaused:
		s.State, s.PausedAt = Paused, e.At
	case events.SubscriptionResumed:
		return s.resumed(e)
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
		panic("subscription opening: " + err.Error()) // written by closeSubscription: a broken one is a broken log
	}
	s.Username = e.Username
	return s
}

// closeSubscription is the last event of a full stream period.
func closeSubscription(s Subscription) events.SubscriptionEvent {
	opening, err := json.Marshal(s)
	if err != nil {
		panic("subscription opening: " + err.Error()) // no field of it can fail
	}
	return events.SubscriptionPeriodClosed{
		SubscriptionID: s.ID, SubscriberID: s.SubscriberID, Opening: opening, Username: s.Username,
	}
}

// resumed ends a pause: what the pause moved sets a new anniversary.
func (s Subscription) resumed(e events.SubscriptionResumed) Subscription {
	s.State, s.PausedAt, s.PaidUntil = Active, time.Time{}, e.PaidUntil
	next := e.PaidUntil
	if s.Terms.Mode == events.Postpaid && !e.NextFrom.IsZero() {
		s.LastTo, next = e.NextFrom, e.NextFrom
	}
	s.AnchorDay = s.anchorOf(next)
	return s
}

// opened is the open invoices with one more; the oldest are forgotten when there are very many.
func opened(open []id.Invoice, invoice id.Invoice) []id.Invoice {
	open = append(closed(open, invoice), invoice)
	return open[max(0, len(open)-keptPeriods):]
}

// closed is the open invoices without one, nil when none is left.
func closed(open []id.Invoice, invoice id.Invoice) []id.Invoice {
	var left []id.Invoice
	for _, o := range open {
		if o != invoice {
			left = append(left, o)
		}
	}
	return left
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
	s.Open = closed(s.Open, e.InvoiceID)
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

// anchorOf keeps the anniversary when a period that begins at an instant lies on it, else takes a new one: a shifted
// period is as long as any other.
func (s Subscription) anchorOf(from time.Time) int {
	if from.IsZero() || s.AnchorDay == 0 {
		return s.AnchorDay
	}
	local := from.In(s.zone())
	last := time.Date(local.Year(), local.Month()+1, 0, 12, 0, 0, 0, s.zone()).Day()
	if local.Day() == min(s.AnchorDay, last) {
		return s.AnchorDay
	}
	return local.Day()
}

// zone is the zone that periods follow; the name was checked when the organization chose it.
func (s Subscription) zone() *time.Location {
	zone, err := time.LoadLocation(s.Timezone)
	if err != nil {
		return time.UTC
	}
	return zone
}

// ownerSubscription is the organization of the customer.
func ownerSubscription(s Subscription) id.Organization { return s.Owner }

// claimsSubscription is the login on the network, unique in the organization until the subscription ends.
func claimsSubscription(s Subscription) []commands.Claim {
	if s.ID.IsZero() || s.State == Ended || s.Username.Reveal() == "" {
		return nil
	}
	return []commands.Claim{{
		Kind: "username", Value: s.Owner.String() + "/" + s.Username.Reveal(),
		Code: "username_taken", Message: "this username is in use",
	}}
}
