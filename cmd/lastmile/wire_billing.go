package main

import (
	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands/bus"
)

// registerBilling adds accounts and number series.
func registerBilling(b *bus.Bus) {
	bus.Register(b, billing.Accounts())
	bus.Register(b, billing.NumberSeries())
}
