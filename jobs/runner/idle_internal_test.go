package jobrunner

import (
	"testing"
	"time"
)

// TestEnds_AJobRestsUntilItGoesOn: one that has succeeded rests for ever, one that waits until its instant, and one
// that runs again not at all.
func TestEnds_AJobRestsUntilItGoesOn(t *testing.T) {
	t.Parallel()
	var e ends
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	e.note(1, time.Time{})
	e.note(2, noon)
	for _, c := range []struct {
		row   int64
		until time.Time
		rests bool
	}{
		{1, noon.AddDate(1, 0, 0), true},
		{2, noon.Add(-time.Second), true},
		{2, noon, false},
		{3, noon, false},
	} {
		if got := e.rest(c.row, c.until); got != c.rests {
			t.Errorf("job %d until %v: rests %v", c.row, c.until, got)
		}
	}
	e.forget(2)
	if e.rest(2, noon.Add(-time.Second)) {
		t.Error("a job that runs again rests")
	}
}
