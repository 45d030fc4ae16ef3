package accesscases_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases"
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

// togetherBus executes reviews when all of them have come, so that none has an outcome before the last one asks. Each
// cuts, unless cuts wait.
type togetherBus struct {
	accesscases.ProcessBus
	all  *sync.WaitGroup
	cuts *atomic.Int64
}

// Execute refuses a cut that waits, as the bus does.
func (b togetherBus) Execute(_ context.Context, c commands.Command, _ commands.Meta) (bus.Result, error) {
	b.all.Done()
	b.all.Wait()
	review, ok := c.(commands.ReviewDunning)
	if !ok || review.CutsWait {
		return bus.Result{}, failure.NewConflict(commands.CodeCutsWait, "")
	}
	b.cuts.Add(1)
	return bus.Result{Changed: true, Events: []events.Event{events.ServiceSuspended{}}}, nil
}

// TestCuts_OfManyReviewsSideBySideStayBelowTheFuse: 200 customers are due at one instant, and 90 may be cut.
func TestCuts_OfManyReviewsSideBySideStayBelowTheFuse(t *testing.T) {
	t.Parallel()
	now := clock.NewManual(time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC))
	k, org := coretest.New(t, now), id.New[id.Organization]()
	bus.Register(k.Bus, billing.Fuses())
	bus.Register(k.Bus, identity.Organizations())
	k.Run(t, coretest.Operator(id.Organization{}), coretest.NewOrganization(org, "acme"))
	fuse := usecases.NewFuse(events.FuseCuts, k.Bus, func(
		context.Context, id.Organization, string, calendar.Date, *time.Location,
	) (map[calendar.Date]int, error) {
		return nil, nil
	}, now)
	var cuts, held atomic.Int64
	for range 2 { // those that had no place are reviewed again
		var arrived, over sync.WaitGroup
		arrived.Add(200)
		u := accesscases.WaitingCuts{
			ProcessBus: togetherBus{all: &arrived, cuts: &cuts}, Clock: now, Fuse: fuse,
			MayCut: func() bool { return true }, Lost: func() {},
		}
		held.Store(0)
		for range 200 {
			over.Go(func() {
				review := commands.ReviewDunning{Subject: events.DunningSubject{OrgID: org}}
				if _, err := u.Execute(t.Context(), review, commands.Meta{}); err != nil {
					held.Add(1)
				}
			})
		}
		over.Wait()
	}
	if cuts.Load() != 90 || held.Load() != 200 {
		t.Errorf("%d were cut, want 90; %d wait of the second 200", cuts.Load(), held.Load())
	}
}
