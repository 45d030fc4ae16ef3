package networkcases

import (
	"context"
	"errors"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases"
)

// How long a use case waits for a router. A new or changed service is shown as it stands after a short while; who asks
// for a reconcile, a removal or a reboot wants to know how it went.
const (
	changeWait = 2 * time.Second
	actionWait = 25 * time.Second
)

// await tries a condition again and again as a read model moves, for a while, and reports whether it held.
func await(
	ctx context.Context, views *runner.Views, projection string, patience time.Duration,
	cond func(ctx context.Context) (bool, error),
) (bool, error) {
	wait, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		held, err := views.WaitUntil(wait, projection, cond)
		switch {
		case held:
			return true, nil
		case wait.Err() != nil && ctx.Err() == nil && (err == nil || errors.Is(err, context.DeadlineExceeded)):
			return false, nil
		case err != nil:
			return false, err
		}
	}
}

// outcome waits until work that was asked for at a position is reported; nil when it is not in time.
func (s Services) outcome(
	ctx context.Context, org id.Organization, service id.Service, asked uint64, patience time.Duration,
) (*networkviews.ServiceRow, error) {
	var row *networkviews.ServiceRow
	reported, err := await(ctx, s.Services.Views, networkviews.ServicesName, patience,
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

// waitForChange waits a short while for the router's answer to a change. How it went is in the service's row, good or
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

// settle gives back what a service that was applied held before, so that the next request finds it free. The process
// provisioning does the same a moment later, and does it when this fails.
func (s Services) settle(ctx context.Context, asked usecases.Asked, r networkviews.ServiceRow) {
	if r.Open != "" {
		return
	}
	var command commands.Command = commands.SettleAddresses{
		OrgID: r.OrgID, ServiceID: r.ID, Binding: r.Binding, Subnet: r.Addressing.Subnet,
	}
	if r.RemovedAt != nil {
		command = commands.ReleaseAddresses{OrgID: r.OrgID, ServiceID: r.ID}
	}
	_, _ = s.Bus.Execute(ctx, command, asked.Step("settle"))
}

// errOfService is the newest error of a service as an answer, nil without one.
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
