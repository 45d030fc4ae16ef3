package main

import (
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands/bus"
)

// registerSubscribers adds subscribers, plans and subscriptions.
func registerSubscribers(b *bus.Bus) {
	bus.Register(b, subscribers.Subscribers())
	bus.Register(b, subscribers.Plans())
	bus.Register(b, subscribers.Subscriptions())
}
