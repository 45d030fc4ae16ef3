package networkcases

import (
	"context"
	"fmt"
	"slices"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/usecases"
)

// managementTries bounds how many subnets of the management plan are tried; it has 256.
const managementTries = 256

// take executes the allocation. The subnets of management services are claimed on the whole platform. When another
// organization holds one, or takes it at this moment, the next free one is tried, unless the caller named the subnet.
func (s Services) take(ctx context.Context, asked usecases.Asked, c commands.AllocateAddresses) error {
	management := c.Binding.Type == events.ServiceCPEManagement
	if management {
		others, err := s.Services.ManagementSubnets(ctx, c.OrgID)
		if err != nil {
			return err
		}
		c.Occupied = append(slices.Clone(c.Occupied), others...)
	}
	for {
		step := asked.Step(fmt.Sprintf("allocate %+v %+v %d", c.Binding, c.Wanted, c.Try))
		_, err := s.Bus.Execute(ctx, c, step)
		again := failure.CodeOf(err) == "management_subnet_taken" && c.Wanted.Subnet == ""
		if c.Try++; !again || c.Try == managementTries {
			return err
		}
	}
}

// allocate takes addresses from the organization's plan and gives those that it took. The step is named after binding
// and addresses: when a change is made again because another one came first, it may want other addresses, and must not
// count as a repeat.
func (s Services) allocate(
	ctx context.Context, asked usecases.Asked, c commands.AllocateAddresses,
) (events.ServiceAddressing, error) {
	if err := s.take(ctx, asked, c); err != nil {
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
