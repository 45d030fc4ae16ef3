package networkcases

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases"
)

// canStandBehind refuses an upstream before anything else of a change is written. The topology decides again. Fails:
// device_not_found, upstream_cycle.
func (d Devices) canStandBehind(ctx context.Context, org id.Organization, device, upstream id.Device) error {
	if upstream.IsZero() {
		return nil
	}
	topology, _, err := bus.LoadUnchecked[network.Topology](ctx, d.Bus, org) // the id is the organization's own
	if err != nil {
		return err
	}
	if err := topology.Refuses(device, upstream); err != nil {
		return err
	}
	return OwnDevice(ctx, d.Bus, org, upstream)
}

// standBehind puts a router behind another one, or behind none. done is the result of what was written before.
func (d Devices) standBehind(
	ctx context.Context, asked usecases.Asked, device, upstream id.Device, done bus.Result,
) (bus.Result, error) {
	chosen, err := d.Bus.Execute(ctx, commands.ChooseUpstream{
		OrgID: asked.Org(), DeviceID: device, UpstreamID: upstream,
	}, asked.Step("upstream"))
	done.Position = max(done.Position, chosen.Position)
	return done, err
}
