package networkcases

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/usecases"
)

// How long a use case waits for a router. A new or changed service is shown after a short while, applied or not; a
// reconcile, a removal and a reboot are waited for longer, since the answer is their result.
const (
	changeWait = 2 * time.Second
	actionWait = 25 * time.Second
)

// outcome waits until work that was asked for at a position is reported, and gives the service's row; nil when that is
// not in time.
func (s Services) outcome(
	ctx context.Context, org id.Organization, service id.Service, asked uint64, patience time.Duration,
) (*networkviews.ServiceRow, error) {
	var row *networkviews.ServiceRow
	reported, err := usecases.Await(ctx, s.Services.Views, networkviews.ServicesName, patience,
		func(ctx context.Context) (bool, error) {
			var err error
			row, err = s.Services.Get(ctx, org, service)
			return row != nil && uint64(row.OutcomePosition) > asked, err //nolint:gosec // positions are not negative
		})
	if err != nil || !reported {
		return nil, err
	}
	return row, nil
}

// waitForChange waits a short while for the router's answer to a change. The service's row shows the answer, good or
// bad.
func (s Services) waitForChange(
	ctx context.Context, asked usecases.Asked, service id.Service, done bus.Result,
) error {
	if !done.Changed {
		return nil
	}
	row, err := s.outcome(ctx, asked.Org(), service, done.Position, changeWait)
	if err == nil && row != nil {
		s.settle(ctx, asked, *row)
	}
	return err
}

// settle gives back the addresses that a service held before, so that the next request finds them free. The process
// provisioning does the same a moment later, so a failure here is ignored.
func (s Services) settle(ctx context.Context, asked usecases.Asked, r networkviews.ServiceRow) {
	if r.Open != "" || r.RemovedAt == nil && len(r.Former) > 0 {
		return // devices may still use a former subnet: the process knows
	}
	var command commands.Command = commands.SettleAddresses{
		OrgID: r.OrgID, ServiceID: r.ID, Binding: r.Binding, Subnet: r.Addressing.Subnet,
	}
	if r.RemovedAt != nil {
		command = commands.ReleaseAddresses{OrgID: r.OrgID, ServiceID: r.ID}
	}
	_, _ = s.Bus.Execute(ctx, command, asked.Step("settle"))
}

// errOfService is the newest error of a service as a failure, nil without one.
func errOfService(r networkviews.ServiceRow) error {
	switch e := r.LastError; {
	case e == nil:
		return nil
	case e.Refused:
		return errRefused(e.Message)
	default:
		return errUnreachable(e.Message)
	}
}
