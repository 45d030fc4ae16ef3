package accesscases

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Holds stops the clock of dunning for one subscription. Safe for concurrent use.
type Holds struct{ Bus *bus.Bus }

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
