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

// Subscriptions defines the subscriptions: one stream for each, closed into periods because it grows with every paid
// period.
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

// SubscriptionState is the state of a subscription. Source: docs/rules/subscribers.md#subscription-life.
type SubscriptionState string

// The states. Ended never changes again.
const (
	Pending SubscriptionState = "pending"
	Active  SubscriptionState = "active"
	Paused  SubscriptionState = "paused"
	Ended   SubscriptionState = "ended"
)

// keptPeriods is the number of paid periods that the state keeps, so that their payment can be withdrawn.
const keptPeriods = 24

// Span is the half-open time [From, To) that an invoice paid for, in UTC.
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
	Timezone     string // IANA name; days and months of periods are in this zone
	StartsAt     time.Time
	Username     personal.Text `json:"-"` // personal: the closing event carries it sealed, outside its JSON
	State        SubscriptionState
	PausedAt     time.Time // start of the present pause; zero = not paused
	PaidUntil    time.Time // exclusive; zero before the first paid period
	// day of the month, 1 to 31, on which monthly periods begin; 0 before the first period
	AnchorDay int
	LastTo    time.Time           // postpaid: end of the latest period that became due
	Open      []id.Invoice        // invoices of due and unpaid periods, each once
	Paid      map[id.Invoice]Span // the newest paid periods
}

// evolveSubscription applies one recorded event.
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

// reopened decodes the state that a closed stream period passes on. It panics on JSON that closeSubscription did not
// write.
func reopened(e events.SubscriptionPeriodClosed) Subscription {
	var s Subscription
	if err := json.Unmarshal(e.Opening, &s); err != nil {
		panic("subscription opening: " + err.Error()) // the log is damaged
	}
	s.Username = e.Username
	return s
}

// closeSubscription makes the last event of a full stream period. The username travels outside the JSON, so that the
// codec seals it.
func closeSubscription(s Subscription) events.SubscriptionEvent {
	opening, err := json.Marshal(s)
	if err != nil {
		panic("subscription opening: " + err.Error()) // no field can fail to marshal
	}
	return events.SubscriptionPeriodClosed{
		SubscriptionID: s.ID, SubscriberID: s.SubscriberID, Opening: opening, Username: s.Username,
	}
}

// resumed ends a pause. The shifted period sets a new anniversary.
func (s Subscription) resumed(e events.SubscriptionResumed) Subscription {
	s.State, s.PausedAt, s.PaidUntil = Active, time.Time{}, e.PaidUntil
	next := e.PaidUntil
	if s.Terms.Mode == events.Postpaid && !e.NextFrom.IsZero() {
		s.LastTo, next = e.NextFrom, e.NextFrom
	}
	s.AnchorDay = s.anchorOf(next)
	return s
}

// opened adds an invoice to the open ones; above keptPeriods the oldest are dropped.
func opened(open []id.Invoice, invoice id.Invoice) []id.Invoice {
	open = append(closed(open, invoice), invoice)
	return open[max(0, len(open)-keptPeriods):]
}

// closed returns a copy of the open invoices without one; nil when none is left.
func closed(open []id.Invoice, invoice id.Invoice) []id.Invoice {
	var left []id.Invoice
	for _, o := range open {
		if o != invoice {
			left = append(left, o)
		}
	}
	return left
}

// extended records a paid period. A prepaid period that does not continue the previous one sets a new anniversary.
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

// oldestEnd is the earliest end among the kept periods; zero without any.
func (s Subscription) oldestEnd() time.Time {
	var oldest time.Time
	for _, span := range s.Paid {
		if oldest.IsZero() || span.To.Before(oldest) {
			oldest = span.To
		}
	}
	return oldest
}

// anchorFor keeps the anniversary, or takes it from the start of the first period.
func (s Subscription) anchorFor(from time.Time) int {
	if s.AnchorDay != 0 {
		return s.AnchorDay
	}
	return from.In(s.zone()).Day()
}

// anchorOf keeps the anniversary when a period that begins at the instant begins on it, with the last day of shorter
// months. Otherwise the day of the instant becomes the anniversary, so that a shifted period has its full length.
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

// zone is the time zone of the periods; UTC for a name that is unknown here. The name was checked when the organization
// chose it.
func (s Subscription) zone() *time.Location {
	zone, err := time.LoadLocation(s.Timezone)
	if err != nil {
		return time.UTC
	}
	return zone
}

// ownerSubscription: a subscription belongs to one organization for ever.
func ownerSubscription(s Subscription) id.Organization { return s.Owner }

// claimsSubscription claims the network username within the organization, until the subscription ends.
func claimsSubscription(s Subscription) []commands.Claim {
	if s.ID.IsZero() || s.State == Ended || s.Username.Reveal() == "" {
		return nil
	}
	return []commands.Claim{{
		Kind: "username", Value: s.Owner.String() + "/" + s.Username.Reveal(),
		Code: "username_taken", Message: "This username is in use. Choose another one.",
	}}
}
