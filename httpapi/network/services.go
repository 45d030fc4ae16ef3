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

// confirmParam confirms a change that may disconnect customers.
var confirmParam = httpapi.Param{Name: "confirm", Type: "boolean", Doc: "true: customers may be disconnected"}

// abandonParam gives up what is left on a router that will not come back.
var abandonParam = httpapi.Param{Name: "abandon", Type: "boolean",
	Doc: "true, with confirm: when the router is not reached the service is forgotten all the same; what is left " +
		"there is an orphan"}

// serviceRoutes serve services.
func (a API) serviceRoutes() []httpapi.Route {
	const of, device = "/nas/services/:id", "/nas/devices/:id"
	confirm := []httpapi.Param{confirmParam}
	return []httpapi.Route{
		{
			Method: "GET", Path: "/nas/services", Summary: "List the services on all routers", Row: serviceResponse{},
			Query: []httpapi.Param{
				{Name: "deviceId", Type: "uuid", Doc: "the router"},
				{Name: "state", Type: "string", Enum: serviceStates},
				{Name: "drift", Type: "boolean", Doc: "whether the last check found a difference"},
			}, Handle: a.allServices,
		},
		{
			Method: "GET", Path: device + "/services", Summary: "List the services on a router", Row: serviceResponse{},
			Handle: a.listServices,
		},
		{
			Method: "POST", Path: device + "/services", Summary: "Create a service", Request: serviceRequest{},
			Response: serviceResponse{}, Status: 201, Handle: a.createService,
		},
		{Method: "GET", Path: of, Summary: "Read a service", Response: serviceResponse{}, Handle: a.getService},
		{
			Method: "PATCH", Path: of, Summary: "Change a service", Request: serviceChange{},
			Response: serviceResponse{}, Query: confirm, Handle: a.changeService,
		},
		{
			Method: "DELETE", Path: of, Summary: "Delete a service with all its resources",
			Query: append(confirm, abandonParam), Status: 204, Handle: a.deleteService,
		},
		{
			Method: "POST", Path: of + "/reconcile", Summary: "Bring the router in line with a service",
			Response: serviceResponse{}, Handle: a.reconcileService,
		},
		{
			Method: "GET", Path: of + "/diff", Summary: "How the router differs from a service, read now",
			Response: diffResponse{}, Handle: a.serviceDiff,
		},
		{
			Method: "GET", Path: of + "/history", Summary: "What happened to a service, newest first",
			Row: historyShape{}, Handle: a.serviceHistory,
		},
	}
}

// runRoutes compare and write routers as a whole.
func (a API) runRoutes() []httpapi.Route {
	const device = "/nas/devices/:id"
	return []httpapi.Route{
		{
			Method: "GET", Path: device + "/drift", Summary: "How a router differs from all its services, read now",
			Response: diffResponse{}, Handle: a.diff(a.Routers.Drift),
		},
		{
			Method: "POST", Path: device + "/reconcile",
			Summary: "Bring a router in line with its services, and remove orphans", Response: runResponse{},
			Handle: a.reconcile(events.ReconcileDevice),
		},
		{
			Method: "GET", Path: device + "/firewall", Summary: "How the platform's firewall rules differ, read now",
			Response: diffResponse{}, Handle: a.diff(a.Routers.FirewallDrift),
		},
		{
			Method: "POST", Path: device + "/firewall/reconcile",
			Summary: "Bring the platform's firewall rules in line", Response: runResponse{},
			Handle: a.reconcile(events.ReconcileFirewall),
		},
		{
			Method: "GET", Path: device + "/setup",
			Summary:  "How RADIUS client, accounting, API user, services, tunnel and firewall of a router differ now",
			Response: diffResponse{}, Handle: a.diff(a.Routers.SetupDrift),
		},
		{
			Method: "POST", Path: device + "/setup/reconcile", Summary: "Bring the setup of a router in line",
			Query: []httpapi.Param{{Name: "confirm", Type: "boolean",
				Doc: "true: services and firewall may be written, through which the router is reached, and the " +
					"platform's RADIUS client may be put before others"}},
			Response: runResponse{}, Handle: a.repairSetup,
		},
		{
			Method: "POST", Path: device + "/reboot", Summary: "Reboot a router", Response: deviceResponse{},
			Handle: a.reboot,
		},
	}
}

// oneService describes how a service is read and shown.
func (a API) oneService() httpapi.One[id.Service, servedService, serviceResponse] {
	return httpapi.One[id.Service, servedService, serviceResponse]{
		Model: networkviews.ServicesName, Missing: commands.ErrNoService, Read: a.presentService, Show: showService,
		Revision: func(r servedService) int64 { return r.Revision },
	}
}

// presentService is a service's row; a removed service is answered as absent.
func (a API) presentService(
	ctx context.Context, org id.Organization, service id.Service,
) (*servedService, error) {
	row, err := a.everService(ctx, org, service)
	if err != nil || row == nil || row.RemovedAt != nil {
		return nil, err
	}
	return row, nil
}

// everService is a service's row, also after its removal.
func (a API) everService(ctx context.Context, org id.Organization, service id.Service) (*servedService, error) {
	row, err := a.Services.Get(ctx, org, service)
	if err != nil || row == nil {
		return nil, err
	}
	served, err := a.served(ctx, org, []networkviews.ServiceRow{*row})
	if err != nil {
		return nil, err
	}
	return &served[0], nil
}

// listed gives a page of services, newest first.
func (a API) listed(ctx context.Context, c *httpapi.Call, filter networkviews.ServiceFilter) error {
	return httpapi.SendList(ctx, c, showService, func(
		ctx context.Context, after networkviews.ServiceKey, max int,
	) ([]servedService, error) {
		rows, err := a.Services.List(ctx, c.Org.ID, filter, after, max)
		if err != nil {
			return nil, err
		}
		return a.served(ctx, c.Org.ID, rows)
	})
}

// served counts the sessions on services.
func (a API) served(
	ctx context.Context, org id.Organization, rows []networkviews.ServiceRow,
) ([]servedService, error) {
	devices := make(map[id.Service]id.Device, len(rows))
	for _, r := range rows {
		devices[r.ID] = r.DeviceID
	}
	sessions, err := a.Online.SessionsOn(ctx, org, devices)
	if err != nil {
		return nil, err
	}
	out := make([]servedService, 0, len(rows))
	for _, r := range rows {
		out = append(out, servedService{ServiceRow: r, sessions: sessions[r.ID]})
	}
	return out, nil
}

// service is the service that the path names. Another organization's service is answered like one that does not exist.
func (a API) service(ctx context.Context, c *httpapi.Call) (id.Service, error) {
	service, err := httpapi.PathID[id.Service](c, "id", commands.ErrNoService)
	if err != nil {
		return service, err
	}
	return service, networkcases.OwnService(ctx, a.Bus, c.Org.ID, service)
}

// listServices answers with a page of a router's services, newest first.
func (a API) listServices(ctx context.Context, c *httpapi.Call) error {
	device, err := a.device(ctx, c)
	if err != nil {
		return err
	}
	return a.listed(ctx, c, networkviews.ServiceFilter{Device: device})
}

// serviceStates are the values of the filter state.
var serviceStates = []string{
	networkviews.StatePending, networkviews.StateActive, networkviews.StateFailed, networkviews.StateDegraded,
}

// allServices answers with a page of the services of an organization, newest first.
func (a API) allServices(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	filter := networkviews.ServiceFilter{
		Device: httpapi.FilterID[id.Device](f, "deviceId"), State: f.OneOf("state", serviceStates...),
		Drift: f.Bool("drift"),
	}
	if err := f.Err(); err != nil {
		return err
	}
	return a.listed(ctx, c, filter)
}

// getService answers with one service.
func (a API) getService(ctx context.Context, c *httpapi.Call) error {
	return httpapi.ReadOne(ctx, c, a.oneService())
}

// createService puts a service on a router, and answers before or after the router has it.
func (a API) createService(ctx context.Context, c *httpapi.Call) error {
	device, err := a.device(ctx, c)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[serviceRequest](c)
	if err != nil {
		return err
	}
	service, done, err := a.ServiceCases.Create(ctx, c.Asked(), in.input(device))
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 201, a.oneService(), service, done)
}

// changeService adopts another desired state. A change that disconnects customers is refused with their number until
// the caller confirms it.
func (a API) changeService(ctx context.Context, c *httpapi.Call) error {
	service, err := a.service(ctx, c)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[serviceChange](c)
	if err != nil {
		return err
	}
	f := c.Filters()
	confirmed := flagOf(f, confirmParam)
	if err := f.Err(); err != nil {
		return err
	}
	done, err := a.ServiceCases.Change(ctx, c.Asked(), service, in.emptied(c.Nulls()).input(confirmed))
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, a.oneService(), service, done)
}

// flagOf reads a query parameter that is true or false; an absent one is false.
func flagOf(f *httpapi.Filters, p httpapi.Param) bool { return null.Zero(f.Bool(p.Name)) }

// deleteService asks for the removal and waits for it: 202 when it goes on after the answer.
func (a API) deleteService(ctx context.Context, c *httpapi.Call) error {
	service, err := a.service(ctx, c)
	if err != nil {
		return err
	}
	f := c.Filters()
	in := networkcases.DeleteInput{
		Service: service, Confirmed: flagOf(f, confirmParam), Abandon: flagOf(f, abandonParam),
	}
	if err := f.Err(); err != nil {
		return err
	}
	gone, err := a.ServiceCases.Delete(ctx, c.Asked(), in)
	switch {
	case err != nil:
		return err
	case !gone:
		return sendAccepted(c, service)
	}
	return c.NoContent()
}

// serviceHistory answers with a page of a service's events, newest first, also after its removal.
func (a API) serviceHistory(ctx context.Context, c *httpapi.Call) error {
	service, err := httpapi.PathID[id.Service](c, "id", commands.ErrNoService)
	if err != nil {
		return err
	}
	ever := a.oneService()
	ever.Read = a.everService
	if _, err := ever.Find(ctx, c, service); err != nil {
		return err
	}
	return a.sendHistory(ctx, c, func(
		ctx context.Context, after networkviews.HistoryKey, max int,
	) ([]networkviews.HistoryRow, error) {
		return a.History.OfService(ctx, c.Org.ID, service, after, max)
	})
}

// serviceDiff asks the router and answers with the difference; it writes nothing.
func (a API) serviceDiff(ctx context.Context, c *httpapi.Call) error {
	service, err := a.service(ctx, c)
	if err != nil {
		return err
	}
	d, err := a.Routers.Diff(ctx, service)
	if err != nil {
		return err
	}
	return c.Send(200, showDiff(d))
}

// diff makes a handler that compares a whole router with what it should be; it writes nothing.
func (a API) diff(
	read func(context.Context, id.Device) (networkviews.LiveDiff, error),
) func(context.Context, *httpapi.Call) error {
	return func(ctx context.Context, c *httpapi.Call) error {
		device, err := a.device(ctx, c)
		if err != nil {
			return err
		}
		d, err := read(ctx, device)
		if err != nil {
			return err
		}
		return c.Send(200, showDiff(d))
	}
}
