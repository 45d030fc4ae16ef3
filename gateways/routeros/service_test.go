package routeros_test

import (
	"maps"
	"testing"

	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// tag is the comment that marks the resources of a service as the platform's.
const tag = "Platform-svc:5d1e0f3a-0000-7000-8000-000000000001"

// resources are added in this order: a PPPoE service on a VLAN, a hotspot and a management network.
var resources = []struct {
	menu  string
	props props
}{
	{"interface/vlan", props{"name": "vlan-svc-5d1e0f3a", "interface": "ether5", "vlan-id": "100", "comment": tag}},
	{"interface/bridge", props{"name": "br-svc-5d1e0f3a", "protocol-mode": "none", "comment": tag}},
	{"interface/bridge/port", props{"bridge": "br-svc-5d1e0f3a", "interface": "ether4", "comment": tag}},
	{"ip/pool", props{"name": "pool-svc-5d1e0f3a", "ranges": "10.50.0.2-10.50.0.254", "comment": tag}},
	{"ip/address", props{"address": "10.50.0.1/24", "interface": "br-svc-5d1e0f3a", "comment": tag}},
	{
		"ppp/profile", props{
			"name": "ppp-prof-svc-5d1e0f3a", "local-address": "10.50.0.1", "remote-address": "pool-svc-5d1e0f3a",
			"only-one": "yes", // no comment: releases before 7.9 have none here
		},
	},
	{"interface/pppoe-server/server", props{
		"service-name": "pppoe-svc-5d1e0f3a", "interface": "vlan-svc-5d1e0f3a",
		"default-profile": "ppp-prof-svc-5d1e0f3a", "one-session-per-host": "yes", "authentication": "pap,chap,mschap2",
		"disabled": "no", "comment": tag,
	}},
	{
		"ip/dhcp-server/network", props{
			"address": "10.50.0.0/24", "gateway": "10.50.0.1", "dns-server": "10.50.0.1", "comment": tag,
		},
	},
	{
		"ip/dhcp-server", props{
			"name": "dhcp-svc-5d1e0f3a", "interface": "br-svc-5d1e0f3a", "address-pool": "pool-svc-5d1e0f3a",
			"lease-time": "1h", "disabled": "no", "comment": tag,
		},
	},
	{
		"ip/hotspot/profile", props{
			"name": "hsprof-svc-5d1e0f3a", "hotspot-address": "10.50.0.1", "login-by": "http-chap,http-pap",
			"use-radius": "yes", "radius-interim-update": "5m",
		},
	},
	{
		"ip/hotspot", props{
			"name": "hs-svc-5d1e0f3a", "interface": "br-svc-5d1e0f3a", "address-pool": "pool-svc-5d1e0f3a",
			"profile": "hsprof-svc-5d1e0f3a", "disabled": "no",
		},
	},
	{
		"ip/hotspot/walled-garden", props{
			"dst-host": "*.example.com", "server": "hs-svc-5d1e0f3a", "action": "allow", "comment": tag,
		},
	},
	{
		"ip/hotspot/walled-garden/ip", props{
			"dst-address": "203.0.113.7", "server": "hs-svc-5d1e0f3a", "action": "accept", "comment": tag,
		},
	},
	{"ip/firewall/address-list", props{"list": "walled", "address": "10.50.0.9", "comment": tag}},
	{
		"ip/firewall/nat", props{
			"chain": "srcnat", "action": "masquerade", "src-address": "10.50.0.0/24", "out-interface-list": "WAN",
			"comment": tag,
		},
	},
	{
		"radius", props{
			"service": "ppp,hotspot", "address": "10.99.0.1", "secret": "s", "timeout": "3s", "comment": "Platform",
		},
	},
}

func TestService_AllItsResourcesFitOnEveryRelease(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, k *kit) {
		before := k.router.Snapshot(false)
		type made struct{ menu, id string }
		var all []made
		for _, r := range resources {
			id := k.add(r.menu, r.props)
			all = append(all, made{r.menu, id})
			items := k.print(r.menu, routeros.Query{Where: props{".id": id}})
			if len(items) != 1 {
				t.Fatalf("/%s: %v", r.menu, items)
			}
			for name, want := range r.props {
				have := items[0][name]
				if flag := flags[want]; flag != "" && name != "only-one" {
					want, have = flag, flags[have]
				}
				if have != want {
					t.Errorf("/%s %s is %q, not %q", r.menu, name, have, want)
				}
			}
		}
		for _, s := range []router.Session{
			{Kind: "pppoe", User: "jane", Server: "pppoe-svc-5d1e0f3a", Address: "10.50.0.7"}, {
				Kind: "hotspot", User: "v", Server: "hs-svc-5d1e0f3a", Address: "10.50.0.8",
			},
		} {
			if _, err := k.router.Connect(s); err != nil {
				t.Error(err)
			}
		}
		if got := k.print("ppp/active", routeros.Query{Props: []string{"name"}}); len(got) != 1 ||
			!maps.Equal(got[0], routeros.Item{"name": "jane"}) {
			t.Errorf("active: %v", got)
		}
		for i := len(all) - 1; i >= 0; i-- {
			if err := k.device().Remove(t.Context(), all[i].menu, all[i].id); err != nil {
				t.Errorf("remove %v: %v", all[i], err)
			}
		}
		if after := k.router.Snapshot(false); !sameConfiguration(before, after) {
			t.Errorf("left behind: %v", after)
		}
	})
}

// sameConfiguration compares two snapshots of the simulated router.
func sameConfiguration(a, b router.Snapshot) bool {
	return maps.EqualFunc(a, b, func(x, y []router.Item) bool {
		if len(x) != len(y) {
			return false
		}
		for i := range x {
			if !maps.Equal(x[i], y[i]) {
				return false
			}
		}
		return true
	})
}

// flags gives both forms of a flag, which releases write differently, as one.
var flags = map[string]string{"true": "yes", "yes": "yes", "false": "no", "no": "no"}
