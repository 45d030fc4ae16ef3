package main

import (
	"context"
	"errors"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// The demo's provider credentials: known to everybody who reads this.
const (
	demoConsumerKey    = "lastmile-demo-key"
	demoConsumerSecret = "lastmile-demo-secret"
	demoPasskey        = "lastmile-demo-passkey"
	demoShortcode      = "600100"
)

// demoRoot is the id of the demo's super_admin: by it a database with the demo's data is recognised.
func demoRoot() id.User { return id.Derive[id.User]("demo", "root") }

// hasDemoSecrets tells whether the provider's credentials are the demo's.
func (c Config) hasDemoSecrets() bool {
	return c.PaymentConsumerSecret.Reveal() == demoConsumerSecret || c.PaymentPasskey.Reveal() == demoPasskey
}

// errDemoData says why serve does not start.
var errDemoData = errors.New("this data belongs to the demo, whose passwords everybody can read; " +
	"start it with `lastmile demo`, or choose another DATA_DIR or DATABASE_NAMESPACE")

// refuseDemoData keeps the demo's accounts from being served as if they were real.
func refuseDemoData(ctx context.Context, b *bus.Bus) error {
	user, _, err := bus.LoadUnchecked[identity.User](ctx, b, demoRoot())
	if err != nil {
		return err
	}
	if !user.ID.IsZero() {
		return errDemoData
	}
	return nil
}
