package webhooksjobs_test

import (
	"github.com/lastmile-isp/lastmile/aggregates/webhooks"
	"github.com/lastmile-isp/lastmile/commands/bus"
)

// registerEndpoints lets a bus execute commands on endpoints.
func registerEndpoints(b *bus.Bus) { bus.Register(b, webhooks.Endpoints()) }
