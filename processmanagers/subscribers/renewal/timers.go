package renewal

import (
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// disarm returns an output that removes the timer of a subscription.
func disarm(subscription id.Subscription) processmanagers.Output {
	return processmanagers.Output{Timers: []processmanagers.Timer{{Name: timer(subscription)}}}
}

// disarmAll returns an output that removes all timers of a subscription that has ended.
func disarmAll(subscription id.Subscription) processmanagers.Output {
	return processmanagers.Output{Timers: []processmanagers.Timer{
		{Name: timer(subscription)}, {Name: parting(subscription)}, {Name: expiry(subscription)},
	}}
}

// created arms the timer of a first period that begins later, and of the end of a prepaid subscription that is never
// paid. The latter stays armed until its end: once the subscription was paid, it does nothing.
func (s State) created(e events.SubscriptionCreated) processmanagers.Output {
	out := processmanagers.Output{Timers: []processmanagers.Timer{
		{Name: timer(e.SubscriptionID), At: s.due(e.SubscriptionID)},
	}}
	if e.Terms.Mode == events.Prepaid {
		out.Timers = append(out.Timers, processmanagers.Timer{
			Name: expiry(e.SubscriptionID), At: e.StartsAt.Add(commands.PendingFor),
		})
	}
	return out
}

// expiry names the timer of the end of a subscription that is never paid.
func expiry(subscription id.Subscription) string { return "expire:" + subscription.String() }

// timer names the timer of a subscription; one instance has several.
func timer(subscription id.Subscription) string { return "renew:" + subscription.String() }
