package router_test

import (
	"net/netip"
	"testing"

	"github.com/lastmile-isp/lastmile/simulators/router"
)

// A packet goes by active routes and the firewall, and is translated where a rule says so; with a check of sources it
// must come by the interface that leads back.
func TestTransit_GoesAsOnARouter(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		k := newKit(t, version)
		k.do("ip/address", "add", router.Item{"address": "10.50.0.1/24", "interface": "ether4"})
		k.do("ip/address", "add", router.Item{"address": "10.60.0.1/24", "interface": "ether5"})
		k.do("ip/firewall/filter", "add", router.Item{
			"chain": "forward", "action": "drop", "connection-nat-state": "!dstnat", "in-interface-list": "WAN",
		})
		at := netip.MustParseAddr
		pass := func(in, from, to string) router.Transited {
			return k.Transit(router.Transit{In: in, From: at(from), To: at(to), Protocol: "tcp", Port: "80"})
		}
		if got := pass("ether4", "10.50.0.7", "198.51.100.7"); !got.Passed || got.Out != "ether1" ||
			got.From == at("10.50.0.7") {
			t.Errorf("%s: to the internet: %+v", version, got)
		}
		if got := pass("ether4", "10.50.0.7", "10.60.0.7"); got != (router.Transited{
			Passed: true, Out: "ether5", From: at("10.50.0.7"),
		}) {
			t.Errorf("%s: to a neighbour: %+v", version, got)
		}
		if got := pass("ether1", "198.51.100.7", "10.50.0.7"); got.Passed {
			t.Errorf("%s: from the internet: %+v", version, got)
		}
		if got := pass("ether4", "10.50.0.7", "10.50.0.1"); got.Passed {
			t.Errorf("%s: the router itself, which hears its LAN alone: %+v", version, got)
		}
		if got := pass("ether4", "10.60.0.7", "198.51.100.7"); !got.Passed {
			t.Errorf("%s: sources are checked by default: %+v", version, got)
		}
		k.do("ip/settings", "set", router.Item{"rp-filter": "strict"})
		if got := pass("ether4", "10.60.0.7", "198.51.100.7"); got.Passed {
			t.Errorf("%s: a source from elsewhere: %+v", version, got)
		}
		k.refused("ip/settings", "set", router.Item{"rp-filter": "sometimes"}, "rp-filter")
		k.do("interface", "disable", router.Item{"numbers": "ether5"})
		if got := pass("ether4", "10.50.0.7", "10.60.0.7"); got.Passed && got.Out == "ether5" {
			t.Errorf("%s: by an interface that is off: %+v", version, got)
		}
	}
}
