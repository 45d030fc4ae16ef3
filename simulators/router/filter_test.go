package router_test

import (
	"context"
	"errors"
	"maps"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// farKit starts a router that is reached through its tunnel only, and gives a function that dials it as the platform
// does. Its tunnel is not set up.
func farKit(t *testing.T) (*kit, func(patience time.Duration) error) {
	t.Helper()
	sim, err := router.New(router.Config{
		Clock: clock.NewManual(start), Routers: []router.RouterConfig{
			{Name: "far", Password: "secret", Tunnel: netip.MustParseAddr("10.99.0.9"), Remote: true},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := sim.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sim.Stop(context.Background()) })
	return &kit{Router: sim.Router("far"), t: t, sim: sim}, func(patience time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		conn, err := sim.Dial(ctx, "tcp", "10.99.0.9:80")
		if err == nil {
			_ = conn.Close()
		}
		return err
	}
}

// tunnelUp sets up the router's tunnel.
func (k *kit) tunnelUp() {
	k.do("interface/sstp-client", "add", router.Item{
		"name": "platform-tunnel", "connect-to": "vpn.example.net", "user": "u", "disabled": "no",
	})
}

func TestFirewall_CutsThePathThroughTheTunnel(t *testing.T) {
	t.Parallel()
	k, dial := farKit(t)
	if err := dial(brief); !timesOut(err) {
		t.Errorf("a router without a tunnel: %v", err)
	}
	k.tunnelUp()
	if err := dial(brief); !timesOut(err) {
		t.Errorf("the default firewall drops what does not come from the LAN: %v", err)
	}
	first := k.Snapshot(false)["ip/firewall/filter"][0][".id"]
	k.do("ip/firewall/filter", "add", router.Item{
		"chain": "input", "in-interface": "platform-tunnel", "src-address": "10.99.0.1", "place-before": first,
	})
	if err := dial(patient); err != nil {
		t.Errorf("the tunnel's rule does not admit the platform: %v", err)
	}
	k.do("interface", "disable", router.Item{"numbers": "platform-tunnel"})
	if err := dial(brief); !timesOut(err) {
		t.Errorf("a router whose tunnel is off: %v", err)
	}
}

func TestFirewall_MatchesAsARouterDoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rules []router.Item // before the default ones; the last of them decides
		want  string
	}{
		"list of interfaces, included": {[]router.Item{{"in-interface-list": "outer"}}, "heard"},
		"not of that list":             {[]router.Item{{"in-interface-list": "!outer"}}, "silent"},
		"list of addresses":            {[]router.Item{{"src-address-list": "platform"}}, "heard"},
		"range of addresses":           {[]router.Item{{"src-address": "10.99.0.1-10.99.0.5"}}, "heard"},
		"another source":               {[]router.Item{{"src-address": "10.99.0.2"}}, "silent"},
		"its own address":              {[]router.Item{{"dst-address": "10.99.0.9"}}, "heard"},
		"ports":                        {[]router.Item{{"protocol": "tcp", "dst-port": "22,79-81"}}, "heard"},
		"another protocol":             {[]router.Item{{"protocol": "udp", "dst-port": "80"}}, "silent"},
		"established only":             {[]router.Item{{"connection-state": "established"}}, "silent"},
		"off":                          {[]router.Item{{"disabled": "yes"}}, "silent"},
		"rejected":                     {[]router.Item{{"action": "reject"}}, "refused"},
		"logged first":                 {[]router.Item{{"action": "log"}, {}}, "heard"},
		"a matcher nobody knows":       {[]router.Item{{"layer7-protocol": "x"}}, "silent"},
		"jump and back": {[]router.Item{
			{"action": "jump", "jump-target": "mine"}, {"chain": "mine", "action": "return"}, {},
		}, "heard"},
		"jump and drop": {[]router.Item{
			{"action": "jump", "jump-target": "mine"}, {"chain": "mine", "action": "drop"}, {},
		}, "silent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, dial := farKit(t)
			k.tunnelUp()
			k.do("interface/list", "add", router.Item{"name": "inner"})
			k.do("interface/list", "add", router.Item{"name": "outer", "include": "inner"})
			k.do("interface/list/member", "add", router.Item{"list": "inner", "interface": "platform-tunnel"})
			k.do("ip/firewall/address-list", "add", router.Item{"list": "platform", "address": "10.99.0.0/24"})
			first := k.Snapshot(false)["ip/firewall/filter"][0][".id"]
			for _, rule := range c.rules {
				args := router.Item{"chain": "input", "action": "accept", "place-before": first}
				maps.Copy(args, rule)
				k.do("ip/firewall/filter", "add", args)
			}
			patience := patient
			if c.want == "silent" {
				patience = brief
			}
			err := dial(patience)
			got := map[bool]string{true: "silent", false: "heard"}[timesOut(err)]
			if errors.Is(err, syscall.ECONNREFUSED) {
				got = "refused"
			}
			if got != c.want {
				t.Errorf("%s, not %s: %v", got, c.want, err)
			}
		})
	}
}
