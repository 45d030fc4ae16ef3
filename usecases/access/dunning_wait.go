package accesscases

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/usecases"
)

// WaitingCuts is a bus for processes on which no ReviewDunning cuts anybody while MayCut says no: the review is refused
// with cuts_wait then, and made again later. All other reviews and commands pass unchanged. Safe for concurrent use.
type WaitingCuts struct {
	ProcessBus
	MayCut func() bool
	// Fuse holds the cuts of an organization that cuts far more customers than usual; nil = none is held.
	Fuse *usecases.Fuse
	// Lost is told that a review took longer than a yes of MayCut holds. It returns at once.
	Lost  func()
	Clock clock.Clock // of the bus
}

// cutsHold is how long the answer of MayCut holds. A review that takes longer may have waited for a log or a database
// that was away, and somebody may have paid meanwhile.
const cutsHold = 3 * time.Second

// Execute fails as the bus does, and with cuts_wait.
func (u WaitingCuts) Execute(ctx context.Context, cmd commands.Command, meta commands.Meta) (bus.Result, error) {
	c, ok := cmd.(commands.ReviewDunning)
	if !ok {
		return u.ProcessBus.Execute(ctx, cmd, meta)
	}
	steady := clock.Steady(u.Clock)
	began := steady.Now()
	c.CutsBy = u.Clock.Now().Add(cutsHold) // before the question
	place, held := u.reserve(ctx, c)
	defer place.GiveBack()
	c.CutsWait = !u.MayCut() || held
	result, err := u.ProcessBus.Execute(ctx, c, meta)
	slow := steady.Now().Sub(began) >= cutsHold || failure.CodeOf(err) == commands.CodeCutsWait
	if slow && !c.CutsWait {
		u.Lost()
	}
	if err != nil && failure.KindOf(err) == failure.Unavailable {
		place.Use() // the outcome is unknown
	}
	for _, e := range result.Events {
		switch e.(type) {
		case events.WalledGardenEntered, events.ServiceSuspended:
			place.Use()
		}
	}
	return result, err
}

// reserve takes a place for a cut, before the review knows whether it cuts: many reviews run side by side. Without one
// the cuts of the organization wait, for a person or for the reviews that have the last places. While nobody can tell,
// they wait as well; what gives access back does not.
func (u WaitingCuts) reserve(ctx context.Context, c commands.ReviewDunning) (place *usecases.FusePlace, waits bool) {
	if u.Fuse == nil {
		return nil, false
	}
	place, _, err := u.Fuse.Reserve(ctx, c.Subject.OrgID)
	return place, err != nil || place == nil
}
