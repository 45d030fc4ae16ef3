package networkapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/usecases/network"
)

// runResponse is a run over a router that has ended well; another end is a failure.
type runResponse struct {
	ID      id.Run `json:"id"`
	Kind    string `json:"kind" enum:"device,firewall,setup"`
	Outcome string `json:"outcome" enum:"done"`
	Writes  int    `json:"writes"`
	// Message says what no write could repair.
	Message *string `json:"message" doc:"what is left for a person; null = nothing"`
}

// sendAccepted answers 202 with the id of work that goes on after the answer.
func sendAccepted[I ~[16]byte](c *httpapi.Call, work I) error {
	return c.Send(202, httpapi.Accepted{ID: id.Any(work).String(), Status: "accepted"})
}

// reconcileService brings the router in line with a service and answers with the service afterwards.
func (a API) reconcileService(ctx context.Context, c *httpapi.Call) error {
	service, err := httpapi.PathID[id.Service](c, "id", commands.ErrNoService)
	if err != nil {
		return err
	}
	row, err := a.ServiceCases.Reconcile(ctx, c.Asked(), service)
	switch {
	case err != nil:
		return err
	case row == nil:
		return sendAccepted(c, service)
	}
	c.SetRevision(uint64(row.Revision)) //nolint:gosec // revisions are not negative
	served, err := a.served(ctx, c.Org.ID, []networkviews.ServiceRow{*row})
	if err != nil {
		return err
	}
	return c.Send(200, showService(served[0]))
}

// reconcile makes a handler that brings a router, or its firewall, in line and answers with the run.
func (a API) reconcile(kind events.ReconcileKind) func(context.Context, *httpapi.Call) error {
	return func(ctx context.Context, c *httpapi.Call) error {
		device, err := httpapi.PathID[id.Device](c, "id", commands.ErrNoDevice)
		if err != nil {
			return err
		}
		run, err := a.RunCases.Reconcile(ctx, c.Asked(), device, kind)
		return sendRun(c, run, err)
	}
}

// repairSetup brings the setup of a router in line and answers with the run.
func (a API) repairSetup(ctx context.Context, c *httpapi.Call) error {
	device, err := httpapi.PathID[id.Device](c, "id", commands.ErrNoDevice)
	if err != nil {
		return err
	}
	f := c.Filters()
	confirmed := flagOf(f, confirmParam)
	if err := f.Err(); err != nil {
		return err
	}
	run, err := a.RunCases.RepairSetup(ctx, c.Asked(), device, confirmed)
	return sendRun(c, run, err)
}

// sendRun answers with a run that has ended, with 202 for one that goes on, or with the failure.
func sendRun(c *httpapi.Call, run networkcases.Reconciled, err error) error {
	switch {
	case err != nil:
		return err
	case run.Ended == nil:
		return sendAccepted(c, run.Run)
	}
	r := *run.Ended
	return c.Send(200, runResponse{
		ID: r.ID, Kind: r.Kind, Outcome: r.Outcome, Writes: r.Writes, Message: null.Of(r.Message),
	})
}

// reboot answers once the router has accepted the reboot, before it is back.
func (a API) reboot(ctx context.Context, c *httpapi.Call) error {
	device, err := httpapi.PathID[id.Device](c, "id", commands.ErrNoDevice)
	if err != nil {
		return err
	}
	reboot, err := a.RunCases.Reboot(ctx, c.Asked(), device)
	switch {
	case err != nil:
		return err
	case reboot.Device == nil:
		return sendAccepted(c, reboot.Run)
	}
	return c.Send(200, a.showDevice(*reboot.Device))
}
