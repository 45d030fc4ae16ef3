package clock_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// TestPassed_IsWhatLogAndMachineAgreeOnForADay: the days are those since noon.
func TestPassed_IsWhatLogAndMachineAgreeOnForADay(t *testing.T) {
	t.Parallel()
	const hour, never = 1. / 24, -1
	for name, looks := range map[string][]struct{ recorded, now, passed float64 }{
		"a log that is read":       {{1, 40, 0}, {1.5, 40, never}, {2, 40, 1}, {5, 40, 2}, {9, 40, 5}},
		"a program that was ahead": {{1, 1, 0}, {100, 1 + hour, never}, {1 + 2*hour, 1 + 2*hour, never}, {2, 2, 1}},
		"this machine was ahead":   {{1, 1, 0}, {100, 100, 1}, {1 + hour, 1 + hour, 1 + hour}, {3, 3, 1 + hour}},
		"it was when it began":     {{1, 100, 0}, {2, 100, 1}, {2 + hour, 2 + hour, never}},
		"this machine is behind":   {{1, 1, 0}, {5, 2, 1}, {9, 2 + hour, never}, {9, 3, 2}},
	} {
		var p clock.Passed
		p.Look(noon, noon)
		at := func(days float64) time.Time { return noon.Add(time.Duration(days * float64(24*time.Hour))) }
		for n, look := range looks {
			passed, ok := p.Look(at(look.recorded), at(look.now))
			if ok != (look.passed != never) || ok && !passed.Equal(at(look.passed)) {
				t.Errorf("%s, look %d: %v %v", name, n, passed, ok)
			}
		}
	}
}
