package clock_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

func TestAhead_IsWhatWasMovedByHand(t *testing.T) {
	t.Parallel()
	manual := clock.NewManual(noon)
	movable := clock.NewMovable(manual, time.Hour)
	manual.Set(noon.Add(-time.Minute))
	movable.Advance(time.Hour)
	for c, want := range map[clock.Clock]time.Duration{
		clock.System(): 0, clock.Steady(clock.System()): 0, manual: -time.Minute, movable: 2*time.Hour - time.Minute,
		clock.NewMovable(clock.System(), time.Hour): time.Hour,
	} {
		if got := clock.Ahead(c); got != want {
			t.Errorf("%T is ahead by %v, want %v", c, got, want)
		}
	}
}
