package router_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/router"
)

// A lease ends by the clock unless its device asks again; a device whose address the pool no longer has gets another.
func TestLease_EndsByTheClockAndIsKeptByADeviceThatAsksAgain(t *testing.T) {
	t.Parallel()
	k := newKit(t, "7.16")
	k.do("ip/address", "add", router.Item{"address": "10.20.0.1/16", "interface": "ether5"})
	k.do("ip/pool", "add", router.Item{"name": "p", "ranges": "10.20.0.10-10.20.0.20"})
	k.do("ip/dhcp-server", "add", router.Item{
		"name": "d", "interface": "ether5", "address-pool": "p", "disabled": "no", "lease-time": "1h",
	})
	ask := func(mac string) {
		t.Helper()
		if err := k.Lease(router.Lease{Server: "d", MAC: mac}); err != nil {
			t.Fatal(err)
		}
	}
	leases := func() map[string]string {
		found := map[string]string{}
		for _, l := range k.do("ip/dhcp-server/lease", "print", nil) {
			found[l["mac-address"]] = l["address"] + " " + l["expires-after"]
		}
		return found
	}
	const one, two = "02:00:00:00:00:01", "02:00:00:00:00:02"
	ask(one)
	ask(two)
	k.clock.Advance(20 * time.Minute)
	if got := leases(); got[one] != "10.20.0.10 40m" || got[two] != "10.20.0.11 40m" {
		t.Errorf("after 20 minutes %v", got)
	}
	ask(one)
	k.clock.Advance(50 * time.Minute)
	if got := leases(); len(got) != 1 || got[one] != "10.20.0.10 10m" {
		t.Errorf("after an hour %v", got)
	}
	k.do("ip/pool", "set", router.Item{"numbers": "p", "ranges": "10.20.1.10-10.20.1.20"})
	ask(one)
	if got := leases(); len(got) != 1 || got[one] != "10.20.1.10 1h" {
		t.Errorf("in another pool %v", got)
	}
}
