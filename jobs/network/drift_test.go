package networkjobs_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs/network"
)

// TestDriftDue_OncePerIntervalAndSpreadEvenly: each router has one offset in the interval, and the offsets of many
// routers fill it.
func TestDriftDue_OncePerIntervalAndSpreadEvenly(t *testing.T) {
	t.Parallel()
	const every, slots, routers = 15 * time.Minute, 15, 1500
	start := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	var filled [slots]int
	for n := range routers {
		device := id.Derive[id.Device]("test", string(rune(n)))
		seen := map[time.Time]bool{}
		for minute := range 60 {
			now := start.Add(time.Duration(minute) * time.Minute)
			due := networkjobs.DriftDue(device, now, every)
			if due.After(now) || now.Sub(due) >= every {
				t.Fatalf("at %v: due %v", now, due)
			}
			seen[due] = true
		}
		if len(seen) < 4 || len(seen) > 5 { // an hour has four intervals, and may begin within one
			t.Fatalf("%d checks in an hour", len(seen))
		}
		filled[networkjobs.DriftDue(device, start, every).Sub(start.Add(-every))/time.Minute%slots]++
	}
	for slot, n := range filled {
		if n < routers/slots/2 || n > routers/slots*2 {
			t.Errorf("minute %d has %d of %d checks", slot, n, routers)
		}
	}
}
