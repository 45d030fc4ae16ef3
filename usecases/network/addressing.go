package networkcases

import (
	"context"
	"fmt"
	"slices"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/usecases"
)

// allocate takes addresses from the organization's plan and gives those that it took. The step is named after binding
// and addresses: when a change is made again because another one came first, it may want other addresses, and must not
// count as a repeat.
func (s Services) allocate(
	ctx context.Context, asked usecases.Asked, c commands.AllocateAddresses,
) (events.ServiceAddressing, error) {
	step := asked.Step(fmt.Sprintf("allocate %+v %+v", c.Binding, c.Wanted))
	if _, err := s.Bus.Execute(ctx, c, step); err != nil {
		return events.ServiceAddressing{}, err
	}
	plan, _, err := bus.LoadOwned[network.Addressing](ctx, s.Bus, c.OrgID, c.OrgID)
	if err != nil {
		return events.ServiceAddressing{}, err
	}
	wanted := commands.CompleteAddressing(c.Wanted)
	for _, held := range slices.Backward(plan.Held) {
		if held.Service == c.ServiceID && held.Device == c.DeviceID && held.Binding == c.Binding &&
			(wanted.Subnet == "" || held.Addressing == wanted) {
			return held.Addressing, nil
		}
	}
	return events.ServiceAddressing{}, bus.ErrConcurrentChange() // the service was removed meanwhile
}
