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
	"github.com/lastmile-isp/lastmile/internal/money"
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
	// LastSigns gives where each subscription was heard of last, as far as that is kept.
	LastSigns(
		ctx context.Context, org id.Organization, subscriber id.Subscriber, of []id.Subscription,
	) ([]telemetry.LastSign, error)
}

// Explanations answers why a subscriber is on or off. Safe for concurrent use.
type Explanations struct {
	Bus           *bus.Bus
	Settings      usecases.SettingsOf
	Subscribers   subscribersviews.SubscribersQuery
	Subscriptions subscribersviews.SubscriptionsQuery
	Dunning       accessviews.DunningQuery
	Network       Network       // nil = routers' reports are not known here
	Away          Away          // nil = whether routers answer is not known here
	SignIns       SignIns       // nil = the answers to sign-ins are not known here
	Auditor       *Auditor      // nil = what routers show is not known here
	Kept          time.Duration // how long ended sessions are known; 0 = for ever
	Clock         clock.Clock
	Logger        *slog.Logger
}

// Explanation says what a subscriber is entitled to at an instant, why, and what the network shows.
type Explanation struct {
	At          time.Time
	Entitlement entitlement.Entitlement
	Observed    Observed
	// Services are subscriptions that had not ended, the oldest first; where all had, the one that ended last.
	Services []Service
	Refusals []telemetry.Refusal
}

// Service is one subscription in an explanation, as it was at the instant.
type Service struct {
	entitlement.Service
	Sold
	State     entitlement.Standing
	CreatedAt time.Time
	PaidUntil time.Time // zero before the first paid period
	Dunning   *entitlement.Dunning
	// Due and OverdueDays are as the board has them (Present.Overdue).
	Due         money.Amount
	OverdueDays int
	Hold        *Hold    // nil = none
	Stopped     *Stopped // nil = nothing but a hold can stop the clock
	Observed    Observed
	Sessions    []telemetry.Session
	Difference  *Difference         // of the present; nil = sign-ins get what the customer is entitled to
	Heard       *telemetry.LastSign // of the present; nil = nothing that is kept was heard, or that is not known
	NotHeard    *NotHeard           // of the present; nil = Heard has it, or that is not known
	Outage      *Outage             // of the present; nil = the router of Heard answers
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
	now := x.Clock.Now()
	asked := now
	if !at.IsZero() {
		asked = lastOf(at)
	}
	p, err := presentOf(ctx, x.Settings, org, asked)
	if err != nil {
		return nil, err
	}
	var known recorded
	switch {
	case at.IsZero():
		known, err = x.present(ctx, *row, p.Zone)
	case at.After(now):
		return nil, failure.NewInvalid("invalid_input", "at must not be in the future")
	case at.Before(row.CreatedAt):
		return nil, failure.NewInvalid("invalid_input", "at must not be before the subscriber was registered")
	default:
		known, err = x.past(ctx, *row, p.Zone, asked)
	}
	if err != nil {
		return nil, err
	}
	out := Explanation{At: p.Now.Truncate(time.Microsecond), Entitlement: entitlement.Of(known.state, p.Now)}
	for i, s := range known.state.Subscriptions {
		one := Service{
			Service: out.Entitlement.Services[i], Sold: known.sold[s.ID], State: s.Standing, CreatedAt: s.CreatedAt,
			PaidUntil: s.PaidUntil, Dunning: s.Dunning, Hold: p.Hold(known.board[s.ID]),
			Stopped: StoppedClock(known.board[s.ID]), Observed: Unknown,
		}
		if s.Standing == entitlement.Ended { // nothing waits there any more
			one.Hold = nil
		}
		one.Due, one.OverdueDays = p.Overdue(known.board[s.ID])
		out.Services = append(out.Services, one)
	}
	out.whole()
	open := x.observe(ctx, &out, *row, now)
	if at.IsZero() {
		x.shown(ctx, &out, *row, open)
		x.heard(ctx, &out, *row)
		x.differ(ctx, &out, org)
	}
	return &out, nil
}

// lastOf is the last nanosecond of the microsecond that an instant lies in. Answers show whole microseconds and events
// have nanoseconds: an instant that was copied from an answer means its event, too.
func lastOf(at time.Time) time.Time { return at.Truncate(time.Microsecond).Add(time.Microsecond - 1) }

// whole cuts instants to microseconds, as read models have them: events have more.
func (x *Explanation) whole() {
	for i, r := range x.Entitlement.Reasons {
		x.Entitlement.Reasons[i].Since = r.Since.Truncate(time.Microsecond)
	}
	for i, s := range x.Services {
		x.Services[i].Decided.Since = s.Decided.Since.Truncate(time.Microsecond)
		x.Entitlement.Services[i].Decided.Since = x.Services[i].Decided.Since
		x.Services[i].CreatedAt = s.CreatedAt.Truncate(time.Microsecond)
		x.Services[i].PaidUntil = s.PaidUntil.Truncate(time.Microsecond)
		if s.Dunning != nil {
			step := *s.Dunning
			step.Since, step.Next = step.Since.Truncate(time.Microsecond), step.Next.Truncate(time.Microsecond)
			step.Cut.Since = step.Cut.Since.Truncate(time.Microsecond)
			x.Services[i].Dunning = &step
		}
		if s.Hold != nil {
			s.Hold.From, s.Hold.Until = s.Hold.From.Truncate(time.Microsecond), s.Hold.Until.Truncate(time.Microsecond)
		}
		if s.Stopped != nil {
			s.Stopped.Since = s.Stopped.Since.Truncate(time.Microsecond)
		}
	}
}

// recorded has everything that is recorded about a customer at an instant.
type recorded struct {
	state entitlement.State
	sold  map[id.Subscription]Sold
	// board has what is owed, the hold, and what stops the clock. A subscription that never had any of it is not there.
	board  map[id.Subscription]accessviews.DunningRow
	clocks map[id.Subscription]*stopped // of a past instant
}

// present reads what is known from the read models.
func (x Explanations) present(
	ctx context.Context, who subscribersviews.SubscriberRow, zone *time.Location,
) (recorded, error) {
	k := recorded{
		state: entitlement.State{SubscriberID: who.ID, RegisteredAt: who.CreatedAt}, sold: map[id.Subscription]Sold{},
		board: map[id.Subscription]accessviews.DunningRow{},
	}
	owned, block, err := x.Subscriptions.OfSubscriber(ctx, who.OrgID, who.ID)
	if err != nil {
		return k, err
	}
	if len(owned) == 0 {
		last, err := x.Subscriptions.LastEnded(ctx, who.OrgID, who.ID)
		if err != nil {
			return k, err
		}
		if last != nil {
			owned = append(owned, *last)
		}
	}
	ids := make([]id.Subscription, len(owned))
	for i, s := range owned {
		ids[i] = s.ID
	}
	steps, err := x.Dunning.Steps(ctx, who.OrgID, ids)
	if err != nil {
		return k, err
	}
	rows, err := x.Dunning.OfSubscriber(ctx, who.OrgID, who.ID)
	if err != nil {
		return k, err
	}
	used, err := accessviews.UsageQuery(x.Dunning).Reached(ctx, who.OrgID, ids)
	if err != nil {
		return k, err
	}
	for _, r := range rows {
		k.board[r.ID] = r
	}
	for _, s := range owned {
		s.Dunning, s.Used = steps[s.ID], used[s.ID]
		k.state.Subscriptions = append(k.state.Subscriptions, s.Entitlement(zone))
		k.sold[s.ID] = Sold{Username: null.Zero(s.Username), PlanName: s.Terms.Name}
	}
	k.state.Block = block.Entitlement()
	return k, nil
}

// past folds the events of the subscriber, its subscriptions, and their dunning and usage that were recorded until an
// instant.
func (x Explanations) past(
	ctx context.Context, who subscribersviews.SubscriberRow, zone *time.Location, at time.Time,
) (recorded, error) {
	var history entitlement.History
	k := recorded{
		sold: map[id.Subscription]Sold{}, board: map[id.Subscription]accessviews.DunningRow{},
		clocks: map[id.Subscription]*stopped{},
	}
	apply := func(list []events.Envelope, err error) error {
		for _, e := range list {
			if e.Meta.At.After(at) {
				break
			}
			history.Apply(e)
			k.tell(e.Event)
		}
		return err
	}
	if err := apply(bus.HistoryUnchecked[subscribers.Subscriber](ctx, x.Bus, who.ID)); err != nil {
		return k, err
	}
	owned, err := x.Subscriptions.EverOf(ctx, who.OrgID, who.ID, at)
	if err != nil {
		return k, err
	}
	for _, s := range owned {
		if err := apply(bus.HistoryUnchecked[subscribers.Subscription](ctx, x.Bus, s)); err != nil {
			return k, err
		}
		if err := apply(bus.HistoryUnchecked[access.Dunning](ctx, x.Bus, s)); err != nil {
			return k, err
		}
		if err := apply(bus.HistoryUnchecked[access.Usage](ctx, x.Bus, s)); err != nil {
			return k, err
		}
	}
	k.state = history.State(zone)
	return k, nil
}

// tell adds what the entitlement does not need to know: names, what is owed, the hold, and what stops the clock.
func (k recorded) tell(e events.Event) {
	switch v := e.(type) {
	case events.SubscriptionCreated:
		k.sold[v.SubscriptionID] = Sold{Username: v.Username.Reveal(), PlanName: v.Terms.Name}
	case events.SubscriptionPlanChanged:
		k.sold[v.SubscriptionID] = Sold{Username: k.sold[v.SubscriptionID].Username, PlanName: v.Terms.Name}
	case events.SubscriptionCredentialsSet:
		k.sold[v.SubscriptionID] = Sold{Username: v.Username.Reveal(), PlanName: k.sold[v.SubscriptionID].PlanName}
	case events.DunningReviewed:
		row := k.board[v.SubscriptionID]
		row.PaidUntil, row.Debts = null.Time(v.Owed.PaidUntil), v.Owed.Debts
		k.board[v.SubscriptionID] = row
	case events.HoldPlaced:
		row := k.board[v.SubscriptionID]
		row.HoldFrom, row.HoldUntil, row.HoldReason = &v.From, &v.Until, v.Reason.Reveal()
		k.board[v.SubscriptionID] = row
	case events.HoldLifted:
		row := k.board[v.SubscriptionID]
		row.HoldFrom, row.HoldUntil, row.HoldReason = nil, nil, ""
		k.board[v.SubscriptionID] = row
	case events.DunningClockStopped:
		k.tellClock(v.SubscriptionID, v)
	case events.DunningClockStarted:
		k.tellClock(v.SubscriptionID, v)
	}
}

// tellClock adds what stops the clock of a subscription after an event.
func (k recorded) tellClock(of id.Subscription, e events.DunningEvent) {
	if k.clocks[of] == nil {
		k.clocks[of] = &stopped{since: map[string]time.Time{}}
	}
	k.clocks[of].follow(e)
	row := k.board[of]
	row.StoppedCause, row.StoppedFrom = k.clocks[of].longest()
	k.board[of] = row
}

// observe adds what the network reported, and gives the open sessions. What cannot be asked stays unknown: the
// entitlement is worth having alone.
func (x Explanations) observe(
	ctx context.Context, out *Explanation, who subscribersviews.SubscriberRow, now time.Time,
) []telemetry.Session {
	if out.Observed = Unknown; x.Network == nil {
		return nil
	}
	refusals, err := x.Network.RefusalsOf(ctx, who.OrgID, who.ID, out.At)
	if err != nil {
		x.Logger.WarnContext(ctx, "refused sign-ins cannot be read", "error", err)
	}
	out.Refusals = refusals
	if x.Kept > 0 && out.At.Before(now.Add(-x.Kept)) {
		return nil
	}
	sessions, err := x.Network.OpenAt(ctx, who.OrgID, who.ID, out.At)
	if err != nil {
		x.Logger.WarnContext(ctx, "sessions cannot be read", "error", err)
		return nil
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
	return sessions
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
