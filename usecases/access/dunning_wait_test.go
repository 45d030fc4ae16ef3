package accesscases_test

import (
	"context"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// slowBus takes a while for each command, and then fails as it is told.
type slowBus struct {
	accesscases.ProcessBus
	clock *clock.Manual
	takes time.Duration
	fails error
}

// Execute refuses no cut by itself.
func (b slowBus) Execute(context.Context, commands.Command, commands.Meta) (bus.Result, error) {
	b.clock.Advance(b.takes)
	return bus.Result{}, b.fails
}

// TestWaitingCuts_AReviewThatTookTooLongShutsTheGate: the log may have been away, and somebody may have paid meanwhile.
func TestWaitingCuts_AReviewThatTookTooLongShutsTheGate(t *testing.T) {
	t.Parallel()
	waits := failure.NewConflict(commands.CodeCutsWait, "")
	for name, c := range map[string]struct {
		cmd    commands.Command
		mayCut bool
		takes  time.Duration
		fails  error
		lost   bool
	}{
		"quick":                   {commands.ReviewDunning{}, true, 2 * time.Second, nil, false},
		"slow":                    {commands.ReviewDunning{}, true, 3 * time.Second, nil, true},
		"slow, with cuts waiting": {commands.ReviewDunning{}, false, time.Minute, nil, false},
		"decided too late":        {commands.ReviewDunning{}, true, 0, waits, true},
		"cuts wait":               {commands.ReviewDunning{}, false, 0, waits, false},
		"refused otherwise":       {commands.ReviewDunning{}, true, 0, failure.NewConflict("x", ""), false},
		"another command":         {commands.AskDunningReview{}, true, time.Minute, nil, false},
	} {
		now := clock.NewManual(time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC))
		lost := false
		u := accesscases.WaitingCuts{
			ProcessBus: slowBus{clock: now, takes: c.takes, fails: c.fails}, Clock: now,
			MayCut: func() bool { return c.mayCut }, Lost: func() { lost = true },
		}
		if _, err := u.Execute(t.Context(), c.cmd, commands.Meta{}); err != c.fails {
			t.Errorf("%s: %v", name, err)
		}
		if lost != c.lost {
			t.Errorf("%s: the gate is told %v", name, lost)
		}
	}
}
