package accessjobs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
)

// TestCompare_ADeviceIsNotEndedForItsFormerSession, which the router shows still when it has dialled again; nor is
// another device that the customer may have.
func TestCompare_ADeviceIsNotEndedForItsFormerSession(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit   int
		refuses bool
		silent  time.Duration // age of the one that is not reported; the other's is ten minutes
	}{
		"the first device stays":    {1, true, 20 * time.Minute},
		"the newest device stays":   {1, false, 20 * time.Minute},
		"beside another device":     {2, false, 20 * time.Minute},
		"beside a later one":        {2, true, 20 * time.Minute},
		"the reported one is older": {1, true, 7 * time.Minute},
	} {
		town := newTown()
		town.add("amina", entitlement.Full, false, true)
		town.shown.Asks.PPP, town.shown.Reported.Asks.PPP = true, true
		town.known.Limit = func(id.Subscription) int { return c.limit }
		town.known.Refuses = func(id.Subscription) bool { return c.refuses }
		town.shown.Sessions[0].Uptime = 10 * time.Minute
		former := town.shown.Sessions[0]
		former.Key, former.Interface, former.Uptime, former.Address = "9", "", c.silent, "100.64.9.9"
		town.shown.Sessions = append(town.shown.Sessions, former)
		if c.limit > 1 {
			other := former
			other.Key, other.MAC, other.Address = "10", "02:00:00:00:01:09", "100.64.9.10"
			if other.Uptime = 30 * time.Minute; c.refuses {
				other.Uptime = 8 * time.Minute
			}
			town.shown.Sessions = append(town.shown.Sessions, other)
		}
		var beyond []string
		for _, f := range accessjobs.Compare(town.shown, town.known) {
			if strings.Contains(f.Actual, "beside") {
				beyond = append(beyond, f.Actual)
			}
		}
		if len(beyond) != 1 || !strings.Contains(beyond[0], former.MAC+", beside a newer one of its device") ||
			strings.Contains(beyond[0], "was reported") != (c.silent > 10*time.Minute) {
			t.Errorf("%s: beyond the limit %q", name, beyond)
		}
	}
}
