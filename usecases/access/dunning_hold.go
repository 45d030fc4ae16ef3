package accesscases

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Holds stops the clock of dunning for one subscription. Safe for concurrent use.
type Holds struct {
	Bus   *bus.Bus
	Clock clock.Clock
}

// Place stops the clock until an instant, or changes the end of the present hold. Fails: subscription_not_found,
// subscription_ended, invalid_input, stale_revision.
func (h Holds) Place(
	ctx context.Context, asked usecases.Asked, subscription id.Subscription, until time.Time, reason string,
) (bus.Result, error) {
	s, err := h.load(ctx, asked.Org(), subscription)
	if err != nil {
		return bus.Result{}, err
	}
	if s.State == subscribers.Ended {
		return bus.Result{}, failure.NewConflict("subscription_ended", "This subscription has ended.")
	}
	meta := asked.Meta
	meta.Reason = reason
	return h.Bus.Execute(ctx, commands.PlaceHold{Subject: subjectOf(s, subscription), Until: until, Reason: reason},
		meta)
}

// Lift ends the hold now; without one it does nothing. Fails: subscription_not_found, stale_revision.
func (h Holds) Lift(ctx context.Context, asked usecases.Asked, subscription id.Subscription) (bus.Result, error) {
	s, err := h.load(ctx, asked.Org(), subscription)
	if err != nil {
		return bus.Result{}, err
	}
	return h.Bus.Execute(ctx, commands.LiftHold{Subject: subjectOf(s, subscription)}, asked.Meta)
}

// Next is the step that comes by itself as the log is now, with the state that it leads to: what the next review of the
// subscription will find, also when an event has asked for that review only just now. It records nothing. The state is
// "" when nothing comes. Fails: subscription_not_found.
func (h Holds) Next(
	ctx context.Context, org id.Organization, subscription id.Subscription,
) (events.DunningState, time.Time, error) {
	s, err := h.load(ctx, org, subscription)
	if err != nil {
		return "", time.Time{}, err
	}
	d, _, err := bus.LoadUnchecked[access.Dunning](ctx, h.Bus, subscription) // its owner is that of the subscription
	if err != nil || d.Reviewed.State == "" {
		return "", time.Time{}, err
	}
	rules, err := loadRules(ctx, h.Bus, org)
	if err != nil {
		return "", time.Time{}, err
	}
	seen := d.Reviewed
	list, err := access.Dunnings().Decide(d, rules.fill(commands.ReviewDunning{
		Subject: d.Subject, PlanID: seen.PlanID, Policy: s.Terms.Access.DunningPolicy,
		Short: s.Terms.ShortDunning(), Owed: d.Owed(),
	}), h.Clock.Now())
	for _, e := range list {
		if review, ok := e.(events.DunningReviewed); ok {
			seen = review
		}
	}
	return seen.NextState, seen.NextAt, err
}

// load reads the subscription from the log.
func (h Holds) load(
	ctx context.Context, org id.Organization, subscription id.Subscription,
) (subscribers.Subscription, error) {
	s, _, err := bus.LoadOwned[subscribers.Subscription](ctx, h.Bus, org, subscription)
	return s, err
}

// subjectOf names the subscription in commands of dunning.
func subjectOf(s subscribers.Subscription, subscription id.Subscription) events.DunningSubject {
	return events.DunningSubject{SubscriptionID: subscription, OrgID: s.Owner, SubscriberID: s.SubscriberID}
}
