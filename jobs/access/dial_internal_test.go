package accessjobs

import (
	"net/netip"
	"testing"
)

// In production a request goes where the router reports from, but never to this machine, its wire, a group, or another
// router in the tunnel: then it goes to the router's own address.
func TestDialled_NeverReachesThePlatformInProduction(t *testing.T) {
	t.Parallel()
	const own = "10.99.7.7"
	for from, want := range map[string]string{
		"196.201.214.9": "196.201.214.9", "192.168.1.1": "192.168.1.1", "::ffff:196.201.214.9": "196.201.214.9",
		"10.99.7.7": own, "10.99.0.1": own, "10.99.1.1": own, "127.0.0.1": own, "::1": own, "::ffff:127.0.0.1": own,
		"169.254.169.254": own, "fe80::1": own, "224.0.0.1": own, "255.255.255.255": own, "0.0.0.0": own,
		"203.0.113.9": own, "198.18.0.1": own, "240.0.0.1": own, "192.0.0.8": own, "::7f00:1": own,
		"64:ff9b::7f00:1": own,
		"64:ff9b:1::1":    own, "2002:7f00:1::": own, "100.64.0.1": "100.64.0.1",
	} {
		source := netip.MustParseAddr(from)
		if got, ok := (&Enforcer{}).dialled(own, &source); !ok || got.String() != want {
			t.Errorf("%s: %v %v", from, got, ok)
		}
		if got, _ := (&Enforcer{Anywhere: true}).dialled(own, &source); got != source.Unmap() {
			t.Errorf("%s in development: %v", from, got)
		}
	}
	for _, door := range []string{"", "127.0.0.1", "10.99.0.1", "::ffff:127.0.0.1"} {
		if got, ok := (&Enforcer{}).dialled(door, nil); ok {
			t.Errorf("%q is dialled: %v", door, got)
		}
	}
}
