package vault_test

import (
	"testing"
	"time"
)

func TestClockAhead_NeverGoesBack(t *testing.T) {
	t.Parallel()
	v := open(t)
	for _, step := range []struct{ keep, want time.Duration }{
		{0, 0}, {time.Hour, time.Hour}, {time.Minute, time.Hour}, {48 * time.Hour, 48 * time.Hour},
	} {
		if step.keep > 0 {
			if err := v.ClockAhead.Keep(t.Context(), step.keep); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := v.ClockAhead.Load(t.Context()); err != nil || got != step.want {
			t.Errorf("after %v the clock is ahead by %v, %v; want %v", step.keep, got, err, step.want)
		}
	}
}
