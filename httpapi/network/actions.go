package networkapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/usecases"
)

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

// reconcileService brings the router in line and answers with how it went.
func (a API) reconcileService(ctx context.Context, c *httpapi.Call) error {
	state, err := a.service(ctx, c)
	if err != nil {
		return err
	}
	if state.Open != events.PhaseRemoval {
		if _, err := a.Routers.Placement(ctx, state.Device, state.ID, state.Binding); err != nil {
			return err
		}
	}
	done, err := a.Bus.Execute(ctx, commands.ReconcileService{
		ServiceID: state.ID, RunID: usecases.NewID[id.Run](c.Asked(), "run"),
	},
		c.Meta())
	if err != nil {
		return err
	}
	row, err := a.outcome(ctx, c.Org.ID, state.ID, done.Position, actionWait)
	switch {
	case err != nil:
		return err
	case row == nil:
		return c.Send(202, httpapi.Accepted{ID: state.ID.String(), Status: "accepted"})
	}
	if err := errOfService(*row); err != nil {
		return err
	}
	c.SetRevision(uint64(row.Revision)) //nolint:gosec // revisions are not negative
	return c.Send(200, showService(*row))
}

// runResponse is how a run over a router went.
type runResponse struct {
	ID      id.Run `json:"id"`
	Kind    string `json:"kind" enum:"device,firewall"`
	Outcome string `json:"outcome" enum:"done"`
	Writes  int    `json:"writes"`
}

// reconcile is a handler that brings a router, or its firewall, in line and answers with how it went.
func (a API) reconcile(kind events.ReconcileKind) func(context.Context, *httpapi.Call) error {
	return func(ctx context.Context, c *httpapi.Call) error {
		device, _, err := a.device(ctx, c)
		if err != nil {
			return err
		}
		run := usecases.NewID[id.Run](c.Asked(), "run")
		if _, err := a.Bus.Execute(ctx,
			commands.RequestReconcile{RunID: run, OrgID: c.Org.ID, DeviceID: device, Kind: kind},
			c.Meta()); err != nil {
			return err
		}
		var row *networkviews.RunRow
		finished, err := a.await(ctx, networkviews.HistoryName, actionWait, func(ctx context.Context) (bool, error) {
			var err error
			row, err = a.History.Run(ctx, c.Org.ID, run)
			return row != nil, err
		})
		switch {
		case err != nil:
			return err
		case !finished:
			return c.Send(202, httpapi.Accepted{ID: run.String(), Status: "accepted"})
		}
		return sendRun(c, *row)
	}
}

// sendRun answers with the end of a run.
func sendRun(c *httpapi.Call, r networkviews.RunRow) error {
	switch events.ReconcileOutcome(r.Outcome) {
	case events.ReconcileRefused:
		return errRefused(r.Message)
	case events.ReconcileUnreachable:
		return errUnreachable(r.Message)
	case events.ReconcileUnstable:
		return failure.NewConflict("router_changed",
			"The router was read back and still differs: somebody else is changing it.")
	case events.ReconcileDone:
	}
	return c.Send(200, runResponse{ID: r.ID, Kind: r.Kind, Outcome: r.Outcome, Writes: r.Writes})
}

// reboot asks whether the router is there, then for the reboot, and waits for its answer.
func (a API) reboot(ctx context.Context, c *httpapi.Call) error {
	device, _, err := a.device(ctx, c)
	if err != nil {
		return err
	}
	if _, err := a.Routers.Resource(ctx, device); err != nil {
		return err
	}
	run := usecases.NewID[id.Run](c.Asked(), "run")
	if _, err := a.Bus.Execute(ctx, commands.RequestReboot{DeviceID: device, RunID: run}, c.Meta()); err != nil {
		return err
	}
	var row *networkviews.DeviceRow
	answered, err := a.await(ctx, networkviews.DevicesName, actionWait, func(ctx context.Context) (bool, error) {
		var err error
		if row, err = a.readDevice(ctx, c.Org.ID, device); err != nil {
			return false, err
		}
		b := row.Reboot
		return b != nil && b.RunID == run && b.Stage != networkviews.RebootRequested &&
			b.Stage != networkviews.RebootStarted, nil
	})
	switch {
	case err != nil:
		return err
	case !answered:
		return c.Send(202, httpapi.Accepted{ID: run.String(), Status: "accepted"})
	case row.Reboot.Stage == networkviews.RebootFailed:
		return errRefused(row.Reboot.Message)
	}
	return c.Send(200, a.showDevice(*row))
}
