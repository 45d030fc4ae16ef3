package routerplan_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

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

// FuzzParseDuration checks that a duration of a router is never negative, and is the same after it is written in
// seconds.
func FuzzParseDuration(f *testing.F) {
	for _, text := range []string{"1w2d3h4m5s", "500ms", "00:05:00", "1d02:03:04", "never", "", "300", "15251w"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, ok := routerplan.ParseDuration(text)
		if !ok || d >= 1<<31*time.Second {
			return
		}
		seconds := d.Truncate(time.Second)
		again, ok := routerplan.ParseDuration(strconv.FormatInt(int64(seconds/time.Second), 10))
		if d < 0 || !ok || again != seconds {
			t.Fatalf("%q is %v, read again %v, %t", text, d, again, ok)
		}
	})
}

// FuzzParseVersion checks that a version that was read is read alike after it is written.
func FuzzParseVersion(f *testing.F) {
	for _, text := range []string{"7.16 (stable)", "6.49.10", "7.20beta4", ".", "7.-1", " 7.1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v := routerplan.ParseVersion(text)
		if again := routerplan.ParseVersion(fmt.Sprintf("%d.%d", v.Major, v.Minor)); again != v {
			t.Fatalf("%q is %v, read again %v", text, v, again)
		}
	})
}
