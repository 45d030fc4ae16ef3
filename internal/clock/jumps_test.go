package clock_test

import (
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

func TestJumps_AreAddedUpFromTheLatestOn(t *testing.T) {
	t.Parallel()
	c := clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
	j := clock.NewJumps(c)
	j.Look()
	if got := j.Sums(); len(got) != 0 {
		t.Errorf("%v", got)
	}
	for _, by := range []time.Duration{time.Hour, -2 * time.Hour} {
		c.Set(c.Now().Add(by))
		j.Look()
	}
	var got []time.Duration
	for _, sum := range j.Sums() {
		got = append(got, sum.Round(time.Minute))
	}
	if want := []time.Duration{-2 * time.Hour, -time.Hour}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
