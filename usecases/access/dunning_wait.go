package accesscases

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
)

// WaitingCuts is a bus for processes on which no ReviewDunning cuts anybody while MayCut says no: the review is refused
// with cuts_wait then, and made again later. All other reviews and commands pass unchanged. Safe for concurrent use.
type WaitingCuts struct {
	ProcessBus
	MayCut func() bool
}

// Execute fails as the bus does, and with cuts_wait.
func (u WaitingCuts) Execute(ctx context.Context, cmd commands.Command, meta commands.Meta) (bus.Result, error) {
	if c, ok := cmd.(commands.ReviewDunning); ok {
		c.CutsWait = !u.MayCut()
		cmd = c
	}
	return u.ProcessBus.Execute(ctx, cmd, meta)
}
