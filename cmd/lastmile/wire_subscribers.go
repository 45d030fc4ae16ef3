package main

import (
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
)

// registerSubscribers adds subscribers, plans and subscriptions, and what the process renewal asks of these.
func registerSubscribers(b *bus.Bus) {
	bus.Register(b, subscribers.Subscribers())
	bus.Register(b, subscribers.Plans())
	bus.Register(b, subscribers.Subscriptions())
	bus.RegisterStored[commands.MakePeriodDue](b)
	bus.RegisterStored[commands.ExtendSubscription](b)
	bus.RegisterStored[commands.WithdrawPeriod](b)
	bus.RegisterStored[commands.CancelPeriod](b)
}
