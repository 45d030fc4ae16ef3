package routeros_test

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start is the instant of every test's clock, in UTC.
var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// password is the API password of every simulated router; it has a character that needs care in scripts.
const password = "s3cret$word"

// kit has a gateway in front of one simulated router.
type kit struct {
	t        *testing.T
	sim      *router.Simulator
	router   *router.Router
	gateway  *routeros.Gateway
	breakers *breaker.Set
	clock    *clock.Manual
	target   routeros.Target
}

// newKit starts a router of a version; the port decides the protocol.
func newKit(t *testing.T, version string, port uint16) *kit {
	t.Helper()
	return newKitWith(t, router.RouterConfig{Version: version}, port, routeros.Config{})
}

// newKitWith starts a router and a gateway with settings other than the usual.
func newKitWith(t *testing.T, rc router.RouterConfig, port uint16, cfg routeros.Config) *kit {
	t.Helper()
	k := &kit{t: t, clock: clock.NewManual(start)}
	rc.Name, rc.Tunnel, rc.Password = "r1", netip.MustParseAddr("10.99.0.2"), password
	sim, err := router.New(router.Config{
		Routers: []router.RouterConfig{rc}, Clock: k.clock, CommandLimit: 50 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := sim.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	k.sim, k.router = sim, sim.Router("r1")
	for _, prepare := range []func() error{k.router.Certify, k.router.UseRADIUS} {
		if err := prepare(); err != nil {
			t.Fatal(err)
		}
	}
	k.breakers = breaker.New(breaker.Config{Clock: k.clock})
	cfg.Guard, cfg.Dial, cfg.Clock = k.breakers, sim.Dial, k.clock
	if cfg.Policy == nil {
		cfg.Policy = routeros.Within(netip.MustParsePrefix("10.99.0.0/16"))
	}
	if k.gateway, err = routeros.New(cfg); err != nil {
		t.Fatal(err)
	}
	k.target = routeros.Target{
		ID: "device-1", Address: rc.Tunnel, Port: port, Credentials: routeros.Credentials{
			User: "admin", Password: password,
		},
	}
	t.Cleanup(func() {
		k.gateway.Close()
		if err := sim.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return k
}

// device gives the kit's router; each call shares its connections.
func (k *kit) device() *routeros.Device { return k.gateway.Device(k.target) }

// everywhere runs a test for all versions and all protocols that each has.
func everywhere(t *testing.T, test func(t *testing.T, k *kit)) {
	t.Helper()
	for _, version := range []string{"6.49.10", "7.6", "7.16", "7.23.7"} {
		for _, port := range []uint16{routeros.PortHTTP, routeros.PortHTTPS, routeros.PortAPI, routeros.PortAPITLS} {
			t.Run(fmt.Sprintf("%s port %d", version, port), func(t *testing.T) {
				t.Parallel()
				test(t, newKit(t, version, port))
			})
		}
	}
}

// add adds an item and fails the test when the router refuses.
func (k *kit) add(menu string, props map[string]string) string {
	k.t.Helper()
	id, err := k.device().Add(k.t.Context(), menu, props)
	if err != nil || id == "" {
		k.t.Fatalf("add to /%s: %q, %v", menu, id, err)
	}
	return id
}

// print reads items and fails the test when they cannot be read.
func (k *kit) print(menu string, q routeros.Query) []routeros.Item {
	k.t.Helper()
	items, err := k.device().Print(k.t.Context(), menu, q)
	if err != nil {
		k.t.Fatalf("print /%s: %v", menu, err)
	}
	return items
}

// isUnreachable reports whether the router did not answer, or its breaker is open.
func isUnreachable(err error) bool { return failure.KindOf(err) == failure.Unavailable }
