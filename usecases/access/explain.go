package accesscases

import (
	"context"
	"log/slog"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Network tells what routers reported about a subscriber. telemetry.Store implements it.
type Network interface {
	// OpenAt gives the sessions that were open at an instant, the newest first.
	OpenAt(
		ctx context.Context, org id.Organization, subscriber id.Subscriber, at time.Time,
	) ([]telemetry.Session, error)
	// RefusalsOf gives the refused sign-ins that are kept and began until an instant, the latest first.
	RefusalsOf(
		ctx context.Context, org id.Organization, subscriber id.Subscriber, at time.Time,
	) ([]telemetry.Refusal, error)
}

// Explanations answers why a subscriber is on or off. Safe for concurrent use.
type Explanations struct {
	Bus           *bus.Bus
	Subscribers   subscribersviews.SubscribersQuery
	Subscriptions subscribersviews.SubscriptionsQuery
	Dunning       accessviews.DunningQuery
	Network       Network       // nil = routers' reports are not known here
	Kept          time.Duration // how long ended sessions are known; 0 = for ever
	Clock         clock.Clock
	Logger        *slog.Logger
}

// Explanation says what a subscriber is entitled to at an instant, why, and what the network shows.
type Explanation struct {
	At          time.Time
	Entitlement entitlement.Entitlement
	Observed    Observed
	Services    []Service // of subscriptions that had not ended, the oldest first
	Refusals    []telemetry.Refusal
}

// Service is one subscription in an explanation, as it was at the instant.
type Service struct {
	entitlement.Service
	Sold
	State     entitlement.Standing
	PaidUntil time.Time // zero before the first paid period
	Dunning   *entitlement.Dunning
	Observed  Observed
	Sessions  []telemetry.Session
}

// Sold names a subscription for people.
type Sold struct {
	Username string // "" = none, or forgotten
	PlanName string
}

// Of explains an instant, or the present when at is zero. The present comes from the read models; a past instant from
// the events of the subscriber that were recorded until then, so that later corrections do not change the answer. The
// hours of plans are in the organization's present zone. Fails: subscriber_not_found, invalid_input.
func (x Explanations) Of(
	ctx context.Context, org id.Organization, subscriber id.Subscriber, at time.Time,
) (*Explanation, error) {
	row, err := x.Subscribers.Get(ctx, org, subscriber)
	if err != nil {
		return nil, err
	}
	if row == nil {
		return nil, commands.ErrNoSubscriber()
	}
	zone, err := usecases.ZoneOf(ctx, x.Bus, org)
	if err != nil {
		return nil, err
	}
	now := x.Clock.Now()
	var state entitlement.State
	var sold map[id.Subscription]Sold
	switch {
	case at.IsZero():
		at = now
		state, sold, err = x.present(ctx, *row, zone)
	case at.After(now):
		return nil, failure.NewInvalid("invalid_input", "at must not be in the future")
	case at.Before(row.CreatedAt):
		return nil, failure.NewInvalid("invalid_input", "at must not be before the subscriber was registered")
	default:
		state, sold, err = x.past(ctx, *row, zone, at)
	}
	if err != nil {
		return nil, err
	}
	out := Explanation{At: at, Entitlement: entitlement.Of(state, at)}
	for i, s := range state.Subscriptions {
		out.Services = append(out.Services, Service{
			Service: out.Entitlement.Services[i], Sold: sold[s.ID], State: s.Standing, PaidUntil: s.PaidUntil,
			Dunning: s.Dunning, Observed: Unknown,
		})
	}
	out.whole()
	x.observe(ctx, &out, *row, now)
	return &out, nil
}

// whole cuts instants to microseconds, as read models have them: events have more.
func (x *Explanation) whole() {
	for i, r := range x.Entitlement.Reasons {
		x.Entitlement.Reasons[i].Since = r.Since.Truncate(time.Microsecond)
	}
	for i, s := range x.Services {
		x.Services[i].Decided.Since = s.Decided.Since.Truncate(time.Microsecond)
		x.Services[i].PaidUntil = s.PaidUntil.Truncate(time.Microsecond)
		if s.Dunning != nil {
			step := *s.Dunning
			step.Since, step.Next = step.Since.Truncate(time.Microsecond), step.Next.Truncate(time.Microsecond)
			x.Services[i].Dunning = &step
		}
	}
}

// present reads the state from the read models.
func (x Explanations) present(
	ctx context.Context, who subscribersviews.SubscriberRow, zone *time.Location,
) (entitlement.State, map[id.Subscription]Sold, error) {
	state := entitlement.State{SubscriberID: who.ID, RegisteredAt: who.CreatedAt}
	owned, block, err := x.Subscriptions.OfSubscriber(ctx, who.OrgID, who.ID)
	if err != nil {
		return state, nil, err
	}
	ids := make([]id.Subscription, len(owned))
	for i, s := range owned {
		ids[i] = s.ID
	}
	steps, err := x.Dunning.Steps(ctx, who.OrgID, ids)
	if err != nil {
		return state, nil, err
	}
	used, err := accessviews.UsageQuery(x.Dunning).Reached(ctx, who.OrgID, ids)
	if err != nil {
		return state, nil, err
	}
	sold := map[id.Subscription]Sold{}
	for _, s := range owned {
		s.Dunning, s.Used = steps[s.ID], used[s.ID]
		state.Subscriptions = append(state.Subscriptions, s.Entitlement(zone))
		sold[s.ID] = Sold{Username: null.Zero(s.Username), PlanName: s.Terms.Name}
	}
	state.Block = block.Entitlement()
	return state, sold, nil
}

// past folds the events of the subscriber, its subscriptions, and their dunning and usage that were recorded until an
// instant.
func (x Explanations) past(
	ctx context.Context, who subscribersviews.SubscriberRow, zone *time.Location, at time.Time,
) (entitlement.State, map[id.Subscription]Sold, error) {
	var history entitlement.History
	sold := map[id.Subscription]Sold{}
	apply := func(list []events.Envelope, err error) error {
		for _, e := range list {
			if e.Meta.At.After(at) {
				break
			}
			history.Apply(e)
			switch v := e.Event.(type) {
			case events.SubscriptionCreated:
				sold[v.SubscriptionID] = Sold{Username: v.Username.Reveal(), PlanName: v.Terms.Name}
			case events.SubscriptionCredentialsSet:
				sold[v.SubscriptionID] = Sold{Username: v.Username.Reveal(), PlanName: sold[v.SubscriptionID].PlanName}
			}
		}
		return err
	}
	if err := apply(bus.HistoryUnchecked[subscribers.Subscriber](ctx, x.Bus, who.ID)); err != nil {
		return entitlement.State{}, nil, err
	}
	owned, err := x.Subscriptions.EverOf(ctx, who.OrgID, who.ID, at)
	if err != nil {
		return entitlement.State{}, nil, err
	}
	for _, s := range owned {
		if err := apply(bus.HistoryUnchecked[subscribers.Subscription](ctx, x.Bus, s)); err != nil {
			return entitlement.State{}, nil, err
		}
		if err := apply(bus.HistoryUnchecked[access.Dunning](ctx, x.Bus, s)); err != nil {
			return entitlement.State{}, nil, err
		}
		if err := apply(bus.HistoryUnchecked[access.Usage](ctx, x.Bus, s)); err != nil {
			return entitlement.State{}, nil, err
		}
	}
	return history.State(zone), sold, nil
}

// observe adds what the network showed. What cannot be asked stays unknown: the entitlement is worth having alone.
func (x Explanations) observe(
	ctx context.Context, out *Explanation, who subscribersviews.SubscriberRow, now time.Time,
) {
	if out.Observed = Unknown; x.Network == nil {
		return
	}
	refusals, err := x.Network.RefusalsOf(ctx, who.OrgID, who.ID, out.At)
	if err != nil {
		x.Logger.WarnContext(ctx, "refused sign-ins cannot be read", "error", err)
	}
	out.Refusals = refusals
	if x.Kept > 0 && out.At.Before(now.Add(-x.Kept)) {
		return
	}
	sessions, err := x.Network.OpenAt(ctx, who.OrgID, who.ID, out.At)
	if err != nil {
		x.Logger.WarnContext(ctx, "sessions cannot be read", "error", err)
		return
	}
	out.Observed = observedFrom(sessions)
	for i := range out.Services {
		s := &out.Services[i]
		for _, one := range sessions {
			if one.SubscriptionID == s.SubscriptionID {
				s.Sessions = append(s.Sessions, one)
			}
		}
		s.Observed = observedFrom(s.Sessions)
	}
}

// Observed tells how the network shows a customer, as a word of the API.
type Observed string

// What the network can show.
const (
	Online       Observed = "online"
	WalledGarden Observed = "walled_garden" // all open sessions reach only the payment page
	Offline      Observed = "offline"
	Unknown      Observed = "unknown" // what routers reported cannot be read, or is not kept so long
)

// observedFrom follows from the open sessions: one that is not in the walled garden is enough to be online.
func observedFrom(open []telemetry.Session) Observed {
	seen := Offline
	for _, s := range open {
		if s.Access != entitlement.WalledGarden.String() {
			return Online
		}
		seen = WalledGarden
	}
	return seen
}
