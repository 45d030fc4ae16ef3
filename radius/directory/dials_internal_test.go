package directory

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// TestDials_AFloodIsBounded: and leaves room for those of other organizations. What is over makes room.
func TestDials_AFloodIsBounded(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	watch := clock.NewManual(at)
	r := NewRefusals(watch)
	loud, calm := id.New[id.Organization](), id.New[id.Organization]()
	for range 2 {
		for range maxDials {
			r.accepted(caller{subscription: id.New[id.Subscription]()}, dial{org: loud, at: watch.Now()})
		}
		r.accepted(caller{subscription: id.New[id.Subscription]()}, dial{org: calm, at: watch.Now()})
		if n := len(r.dials); n != maxDials/2+1 || r.dialRoom.Used() != int64(n) {
			t.Errorf("%d are awaited, and hold %d places", n, r.dialRoom.Used())
		}
		watch.Advance(dialPatience)
		if list := r.Drain(); len(list) != 1 || list[0].Code != telemetry.Accepted {
			t.Errorf("told %+v", list)
		}
		if len(r.dials) > 0 || r.dialRoom.Used() != 0 {
			t.Errorf("%d are awaited for ever", len(r.dials))
		}
	}
}
