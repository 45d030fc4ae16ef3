package main

import (
	"context"
	"errors"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// The demo's provider credentials. They are public, so nothing but the simulator accepts them.
const (
	demoConsumerKey    = "lastmile-demo-key"
	demoConsumerSecret = "lastmile-demo-secret"
	demoPasskey        = "lastmile-demo-passkey"
	demoShortcode      = "600100"
	demoInitiator      = "lastmile-demo-operator"
	demoCredential     = "lastmile-demo-credential"
	demoBillKey        = "lastmile-demo-bill-key"
	demoBillSecret     = "lastmile-demo-bill-secret"
)

// demoRoot gives the id of the demo's super_admin, by which a database with the demo's data is recognised.
func demoRoot() id.User { return id.Derive[id.User]("demo", "root") }

// hasDemoSecrets reports whether the provider's credentials are those of the demo.
func (c Config) hasDemoSecrets() bool {
	return c.PaymentConsumerSecret.Reveal() == demoConsumerSecret || c.PaymentPasskey.Reveal() == demoPasskey ||
		c.PaymentCredential.Reveal() == demoCredential || c.BillManagerSecret.Reveal() == demoBillSecret
}

// errDemoData is the reason why `serve` does not start on the demo's data.
var errDemoData = errors.New("this data belongs to the demo, whose passwords everybody can read; " +
	"start it with `lastmile demo`, or choose another DATA_DIR or DATABASE_NAMESPACE")

// refuseDemoData fails with errDemoData when the log holds the demo's super_admin, whose password is public.
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
