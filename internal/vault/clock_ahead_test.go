package vault_test

import (
	"testing"
	"time"
)

func TestClockAhead_NeverGoesBack(t *testing.T) {
	t.Parallel()
	v := open(t)
	if got, known, err := v.ClockAhead.Load(t.Context()); err != nil || got != 0 || known {
		t.Errorf("a clock that was never moved is ahead by %v, %v", got, err)
	}
	for _, step := range []struct{ keep, want time.Duration }{
		{-48 * time.Hour, -48 * time.Hour}, {-time.Hour, -time.Hour}, {-2 * time.Hour, -time.Hour}, {0, 0},
		{time.Hour, time.Hour}, {time.Minute, time.Hour}, {48 * time.Hour, 48 * time.Hour},
	} {
		if err := v.ClockAhead.Keep(t.Context(), step.keep); err != nil {
			t.Fatal(err)
		}
		if got, known, err := v.ClockAhead.Load(t.Context()); err != nil || got != step.want || !known {
			t.Errorf("after %v the clock is ahead by %v, %v; want %v", step.keep, got, err, step.want)
		}
	}
}
