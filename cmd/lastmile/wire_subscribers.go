package main

import (
	rules "github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
)

// registerSubscribers adds subscribers, plans and subscriptions, and what the process renewal asks of these.
func registerSubscribers(b *bus.Bus) {
	bus.Register(b, bus.Aggregate[rules.Subscriber, commands.SubscriberCommand, events.SubscriberEvent]{
		Category: "subscriber", Evolve: rules.EvolveSubscriber, Decide: rules.DecideSubscriber,
		Owner: rules.OwnerSubscriber, Claims: rules.ClaimsSubscriber,
	})
	bus.Register(b, bus.Aggregate[rules.Plan, commands.PlanCommand, events.PlanEvent]{
		Category: "plan", Evolve: rules.EvolvePlan, Decide: rules.DecidePlan, Owner: rules.OwnerPlan, Claims: rules.ClaimsPlan,
	})
	bus.Register(b, bus.Aggregate[rules.Subscription, commands.SubscriptionCommand, events.SubscriptionEvent]{
		Category: "subscription", Evolve: rules.EvolveSubscription, Decide: rules.DecideSubscription,
		Owner: rules.OwnerSubscription, Claims: rules.ClaimsSubscription, Close: rules.CloseSubscription,
	})
	bus.RegisterStored[commands.MakePeriodDue](b)
	bus.RegisterStored[commands.ExtendSubscription](b)
	bus.RegisterStored[commands.WithdrawPeriod](b)
	bus.RegisterStored[commands.CancelPeriod](b)
}
