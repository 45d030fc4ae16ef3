package networkcases

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Overtakes lets tests ask whether a change can be merged.
func (in ServiceChange) Overtakes(from, now network.Service) bool { return in.overtakes(from, now) }

// Adopt lets tests ask for secrets that the router refuses.
func (d Devices) Adopt(
	ctx context.Context, asked usecases.Asked, command commands.ReplaceDeviceCredentials,
) (bus.Result, error) {
	return d.adopt(ctx, asked, command)
}
