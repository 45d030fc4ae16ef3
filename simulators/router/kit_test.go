package router_test

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start is the instant of every test's clock, in UTC.
var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// versions has one release of each group in docs/facts/routeros.md#releases.
var versions = []string{"6.49.10", "7.6", "7.16", "7.23.7"}

// kit has a simulator of one router.
type kit struct {
	*router.Router
	t     *testing.T
	sim   *router.Simulator
	clock *clock.Manual
}

// newKit starts a router of a version; its user is admin, password "secret".
func newKit(t *testing.T, version string) *kit {
	t.Helper()
	k := &kit{t: t, clock: clock.NewManual(start)}
	sim, err := router.New(router.Config{
		Routers: []router.RouterConfig{
			{Name: "r1", Version: version, Password: "secret", Tunnel: netip.MustParseAddr("10.99.0.2")}, {
				Name: "r2", Version: version, Host: "127.0.0.2",
			},
		},
		Clock: k.clock, CommandLimit: 30 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := sim.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sim.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	k.sim, k.Router = sim, sim.Router("r1")
	return k
}

// certified makes a certificate for www-ssl and api-ssl, as their operator would, and switches both on.
func (k *kit) certified() *kit {
	k.t.Helper()
	if err := k.Certify(); err != nil {
		k.t.Fatal(err)
	}
	return k
}

// withRADIUS lets a RADIUS server check customers.
func (k *kit) withRADIUS() *kit {
	k.t.Helper()
	if err := k.UseRADIUS(); err != nil {
		k.t.Fatal(err)
	}
	return k
}

// do runs a command and fails the test when it is refused.
func (k *kit) do(menu, command string, args router.Item) []router.Item {
	k.t.Helper()
	items, err := k.Do(menu, command, args)
	if err != nil {
		k.t.Fatalf("/%s %s %v: %v", menu, command, args, err)
	}
	return items
}

// only gives the single item that a print finds by one property.
func (k *kit) only(menu, name, value string) router.Item {
	k.t.Helper()
	var found []router.Item
	for _, item := range k.do(menu, "print", nil) {
		if item[name] == value {
			found = append(found, item)
		}
	}
	if len(found) != 1 {
		k.t.Fatalf("/%s has %d items with %s=%s", menu, len(found), name, value)
	}
	return found[0]
}
