package processrunner

import "testing"

// TestCrew_OneWaitsUntilThereAreTheMost: work that comes while all others are busy finds somebody.
func TestCrew_OneWaitsUntilThereAreTheMost(t *testing.T) {
	t.Parallel()
	c := crew{most: 3, hired: 1, idle: 1}
	for n, want := range []bool{true, true, false} {
		if got := c.hires(); got != want {
			t.Errorf("the worker %d that finds work hires another: %v", n+1, got)
		}
	}
	if c.hired != 3 || c.idle != 0 {
		t.Errorf("%d hired, %d idle", c.hired, c.idle)
	}
	c.waits()
	c.waits()
	for range 2 {
		if c.hires() {
			t.Error("more than the most are hired")
		}
	}
	c.waits()
	c.waits()
	c.waits()
	if c.hires() || c.hired != 3 || c.idle != 2 {
		t.Errorf("%d hired, %d idle", c.hired, c.idle)
	}
}
