package commands_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

func TestAddresses_AnyUsualNotationIsOneAddress(t *testing.T) {
	t.Parallel()
	got := commands.NormalAddresses(commands.ServiceAddresses{
		StaticIP: personal.Of(" 203.0.113.9 "), StaticIPv6Prefix: personal.Of("2001:DB8:0001:0100::/56"),
		MACAddresses: personal.OfAll([]string{
			"aa:bb:cc:dd:ee:ff", "AA-BB-CC-DD-EE-FF", "aabb.ccdd.eeff", "aabbccddeeff", " 00:1a:2B:3c:4D:5e",
		}),
	})
	if got.StaticIP.Reveal() != "203.0.113.9" || got.StaticIPv6Prefix.Reveal() != "2001:db8:1:100::/56" {
		t.Errorf("%s and %s", got.StaticIP.Reveal(), got.StaticIPv6Prefix.Reveal())
	}
	want := []string{"AA:BB:CC:DD:EE:FF", "00:1A:2B:3C:4D:5E"}
	if diff := cmp.Diff(want, personal.RevealAll(got.MACAddresses)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	got.MACAddresses = got.MACAddresses[1:]
	command := commands.AssignAddresses{SubscriptionID: id.New[id.Subscription](), Addresses: got}
	if err := command.Validate(); err != nil {
		t.Error(err)
	}
}

func TestAddresses_WhatNoCustomerCanHaveIsRefused(t *testing.T) {
	t.Parallel()
	many := make([]string, 17)
	for i := range many {
		many[i] = fmt.Sprintf("00:00:00:00:01:%02X", i)
	}
	for field, texts := range map[string][]string{
		"staticIp": {
			"x", "0.0.0.0", "0.1.2.3", "127.0.0.1", "169.254.1.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::1",
			"10.0.0.1/24", "010.0.0.1", "1.2.3",
		},
		"staticIpv6Prefix": {
			"x", "2001:db8::1", "2001:db8::1/56", "2001:db8::/39", "2001:db8::/65", "fe80::/64", "ff02::/64", "::/48",
			"10.0.0.0/8", "::ffff:10.0.0.0/64",
		},
		"macAddresses": {
			"x", "AA:BB:CC:DD:EE", "AA:BB:CC:DD:EE:FG", "01:00:5E:00:00:01", "FF:FF:FF:FF:FF:FF", "000000000000",
			strings.Join(many, ","),
		},
	} {
		for _, text := range texts {
			var a commands.ServiceAddresses
			switch field {
			case "staticIp":
				a.StaticIP = personal.Of(text)
			case "staticIpv6Prefix":
				a.StaticIPv6Prefix = personal.Of(text)
			default:
				a.MACAddresses = personal.OfAll(strings.Split(text, ","))
			}
			command := commands.AssignAddresses{
				SubscriptionID: id.New[id.Subscription](), Addresses: commands.NormalAddresses(a),
			}
			if err := command.Validate(); err == nil || !strings.Contains(err.Error(), field+" ") {
				t.Errorf("%s %q: %v", field, text, err)
			}
		}
	}
}

func TestRoutes_WhatNoCustomerCanHaveIsRefused(t *testing.T) {
	t.Parallel()
	command := func(routes ...string) commands.AssignAddresses {
		return commands.AssignAddresses{
			SubscriptionID: id.New[id.Subscription](),
			Addresses:      commands.NormalAddresses(commands.ServiceAddresses{Routes: personal.OfAll(routes)}),
		}
	}
	good := command(" 203.0.113.0/29", "203.0.113.64", "2001:DB8:0005::/48", "203.0.113.0/29", "192.168.7.0/24")
	want := []string{"203.0.113.0/29", "203.0.113.64/32", "2001:db8:5::/48", "192.168.7.0/24"}
	if diff := cmp.Diff(want, personal.RevealAll(good.Addresses.Routes)); diff != "" || good.Validate() != nil {
		t.Errorf("%v, %s", good.Validate(), diff)
	}
	many := make([]string, 17)
	for i := range many {
		many[i] = fmt.Sprintf("192.0.2.%d/32", i)
	}
	for name, routes := range map[string][]string{
		"no network": {"x"}, "host bits": {"203.0.113.1/29"}, "everything": {"0.0.0.0/0"}, "too wide": {"203.0.0.0/15"},
		"loopback": {"127.0.0.0/24"}, "multicast": {"224.1.0.0/16"}, "link-local": {"169.254.7.0/24"},
		"all IPv6": {"::/0"}, "a part of a link": {"2001:db8::/65"}, "IPv6 link-local": {"fe80::/64"},
		"mapped": {"::ffff:10.0.0.0/120"}, "customers' pools": {"10.50.7.0/24"}, "around them": {"10.50.0.0/16"},
		"management": {"10.20.4.0/24"}, "tunnel": {"10.99.0.0/24"},
		"within another": {"203.0.113.0/24", "203.0.113.8/29"},
		"too many":       many,
	} {
		if err := command(routes...).Validate(); err == nil || !strings.Contains(err.Error(), "routes") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
