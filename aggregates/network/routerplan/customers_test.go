package routerplan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
)

// TestCustomersOf_ReadsTheRoutersOwnAndLeavesThePlatformsOut.
func TestCustomersOf_ReadsTheRoutersOwnAndLeavesThePlatformsOut(t *testing.T) {
	t.Parallel()
	const tag = "Platform-svc:0193a1b2-0000-7000-8000-000000000001"
	got := routerplan.CustomersOf(routerplan.Snapshot{
		"ppp/profile": {
			{"name": "default", "default": "true"}, {"name": "default-encryption"},
			{"name": "home-10", "rate-limit": " 5M/10M "},
			{"name": "operator-made", "comment": tag}, {"name": "ppp-prof-svc-0193a1b2"},
			{"name": "ppp-prof-svc-home"}, {"name": "platform-tunnel", "only-one": "yes"},
		},
		"ip/hotspot/user/profile": {{"name": "default", "default": "true"}, {"name": "day", "rate-limit": "1M/2M"}},
		"ppp/secret": {
			{
				"name": "amina", "password": "one", "profile": "home-10", "service": "pppoe", "comment": "Amina",
				"caller-id": "aa:bb:cc:dd:ee:01", "remote-address": "10.9.0.1", "limit-bytes-in": "0",
				"routes": "203.0.113.0/29 10.9.0.1 1, 192.168.7.0/24", "remote-ipv6-prefix": "2001:DB8:5::/48",
			},
			{
				"name": "brian", "password": "****", "profile": "ppp-prof-svc-0193a1b2", "service": "any",
				"caller-id": "eth7", "remote-address": "pool1", "disabled": "true", "limit-bytes-out": "10",
			},
			{"name": "own", "comment": tag + " note"}, {"name": ""}, {"name": "passing", "dynamic": "true"},
			{"name": "zero", "remote-address": "0.0.0.0", "profile": "default", "remote-ipv6-prefix": "::/0"},
			{"name": "six", "remote-address": "2001:db8::1", "profile": "default"},
			{"name": "tunnelled", "profile": "platform-tunnel"},
		},
		"ip/hotspot/user": {
			{"name": "default-trial"}, {"name": "admin", "default": "true"},
			{"name": "room1", "profile": "day", "mac-address": "00:00:00:00:00:00", "limit-uptime": "0s"},
			{
				"name": "room2", "profile": "day", "mac-address": "AA:BB:CC:DD:EE:02", "address": "10.9.1.2",
				"limit-uptime": "1h", "password": "two",
			},
		},
	})
	want := routerplan.Customers{
		Profiles: []routerplan.CustomerProfile{
			{Name: "default", Standard: true}, {Name: "default-encryption", Standard: true},
			{Name: "home-10", Limit: "5M/10M"}, {Name: "ppp-prof-svc-home"},
			{Hotspot: true, Name: "default", Standard: true}, {Hotspot: true, Name: "day", Limit: "1M/2M"},
		},
		Logins: []routerplan.CustomerLogin{
			{
				Name: "amina", Password: "one", Profile: "home-10", Service: "pppoe", Comment: "Amina",
				Address: "10.9.0.1", MAC: "AA:BB:CC:DD:EE:01",
				Prefix: "2001:db8:5::/48", Routes: []string{"203.0.113.0/29", "192.168.7.0/24"},
			},
			{Name: "brian", Service: "any", Disabled: true, Caller: "eth7", Limited: true},
			{Name: "zero", Profile: "default"}, {Name: "six", Profile: "default"}, {Name: "tunnelled"},
			{Hotspot: true, Name: "room1", Profile: "day"},
			{
				Hotspot: true, Name: "room2", Password: "two", Profile: "day", MAC: "AA:BB:CC:DD:EE:02",
				Address: "10.9.1.2", Limited: true,
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("customers (-want +got):\n%s", diff)
	}
}

// TestCustomersOf_ARouterThatShowsNoPasswordHidesThem, and one without users hides nothing.
func TestCustomersOf_ARouterThatShowsNoPasswordHidesThem(t *testing.T) {
	t.Parallel()
	hidden := routerplan.Snapshot{"ppp/secret": {{"name": "a"}, {"name": "b", "password": "*****"}}}
	if got := routerplan.CustomersOf(hidden); !got.Hidden || len(got.Logins) != 2 {
		t.Errorf("%+v", got)
	}
	if got := routerplan.CustomersOf(routerplan.Snapshot{}); got.Hidden {
		t.Errorf("%+v", got)
	}
}
