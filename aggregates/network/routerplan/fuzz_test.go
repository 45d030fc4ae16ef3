package routerplan_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
)

// FuzzCanonical reads values as a router could send them. It must never panic, and the canonical form of a canonical
// form must be itself.
func FuzzCanonical(f *testing.F) {
	for _, value := range []string{
		"1w2d3h4m5s", "01:02:03", "10M/512k", "10.0.0.1-10.0.0.9,10.0.0.0/8", "2001:db8::/32", "yes", "0x64", "a,b",
		"9999999999w", "NaN", "*1",
	} {
		f.Add(value)
	}
	properties := []string{"disabled", "lease-time", "ranges", "address", "login-by", "max-limit", "vlan-id", "name"}
	f.Fuzz(func(t *testing.T, value string) {
		for _, property := range properties {
			once := routerplan.Canonical(property, value)
			if again := routerplan.Canonical(property, once); again != once {
				t.Errorf("%s: %q becomes %q, then %q", property, value, once, again)
			}
		}
		routerplan.ParseVersion(value)
		//nolint:errcheck // only a panic is a failure
		routerplan.CheckBinding(routerplan.Snapshot{
			routerplan.MenuRoute: {{"gateway": value, "immediate-gw": value, "gateway-status": value}},
		},
			testService(1, "", "", 0).ID, testService(1, "", value, 1).Binding)
	})
}
