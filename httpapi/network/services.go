package networkapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/usecases"
)

// confirmParam is how a disruptive change is confirmed.
var confirmParam = httpapi.Param{Name: "confirm", Type: "boolean", Doc: "true: customers may be disconnected"}

// abandonParam gives up a router that will not come back.
var abandonParam = httpapi.Param{Name: "abandon", Type: "boolean",
	Doc: "true, with confirm: when the router is not reached the service is forgotten all the same; what is left " +
		"there is an orphan"}

// serviceRoutes are services, and what brings routers in line.
func (a API) serviceRoutes() []httpapi.Route {
	const of, device = "/nas/services/:id", "/nas/devices/:id"
	confirm := []httpapi.Param{confirmParam}
	return []httpapi.Route{
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
			Method: "POST", Path: device + "/reboot", Summary: "Reboot a router", Response: deviceResponse{},
			Handle: a.reboot,
		},
	}
}

// gardenShape is what a hotspot's customers reach before they sign in.
type gardenShape struct {
	Domains   []string `json:"domains,omitempty" doc:"example.com or *.example.com"`
	Addresses []string `json:"addresses,omitempty" doc:"IPv4 addresses or subnets"`
}

// serviceRequest is api.md's body.
type serviceRequest struct {
	Type            string       `json:"type" enum:"pppoe,hotspot,cpe-management"`
	ParentInterface string       `json:"parentInterface"`
	VlanID          *int         `json:"vlanId,omitempty"`
	Subnet          string       `json:"subnet,omitempty" doc:"allocated when absent"`
	Gateway         string       `json:"gateway,omitempty"`
	PoolStart       string       `json:"poolStart,omitempty"`
	PoolEnd         string       `json:"poolEnd,omitempty"`
	WalledGarden    *gardenShape `json:"walledGarden,omitempty" doc:"of a hotspot"`
}

// serviceResponse is a service as api.md shows it.
type serviceResponse struct {
	ID              id.Service         `json:"id"`
	DeviceID        id.Device          `json:"deviceId"`
	Type            string             `json:"type" enum:"pppoe,hotspot,cpe-management"`
	ParentInterface string             `json:"parentInterface"`
	VlanID          *int               `json:"vlanId"`
	Subnet          string             `json:"subnet"`
	Gateway         string             `json:"gateway"`
	PoolStart       string             `json:"poolStart"`
	PoolEnd         string             `json:"poolEnd"`
	WalledGarden    gardenResponse     `json:"walledGarden"`
	State           string             `json:"state" enum:"pending,active,failed,degraded"`
	Slug            string             `json:"slug" doc:"part of every name on the router"`
	Removing        bool               `json:"removing"`
	Working         bool               `json:"working" doc:"work on the router is under way"`
	LastError       *serviceErrorShape `json:"lastError"`
	Drift           *driftShape        `json:"drift"`
	AppliedAt       *time.Time         `json:"appliedAt"`
	CreatedAt       time.Time          `json:"createdAt"`
}

// gardenResponse is a walled garden with both lists.
type gardenResponse struct {
	Domains   []string `json:"domains"`
	Addresses []string `json:"addresses"`
}

// serviceErrorShape is the newest error, in the router's words.
type serviceErrorShape struct {
	At        time.Time `json:"at"`
	Operation string    `json:"operation"`
	Path      string    `json:"path"`
	Message   string    `json:"message"`
}

// driftShape is the present difference, as the last check found it.
type driftShape struct {
	FirstSeenAt time.Time       `json:"firstSeenAt"`
	Hash        string          `json:"hash"`
	Resources   []resourceDrift `json:"resources"`
}

// resourceDrift is one difference.
type resourceDrift struct {
	Path     string            `json:"path"`
	Kind     string            `json:"kind" enum:"missing,extra,changed,orphan"`
	Name     string            `json:"name"`
	Expected map[string]string `json:"expected"`
	Actual   map[string]string `json:"actual"`
}

// showDrift is a list of differences, never null.
func showDrift(list []events.DriftedResource) []resourceDrift {
	out := make([]resourceDrift, 0, len(list))
	for _, r := range list {
		out = append(out, resourceDrift(r))
	}
	return out
}

// showService is a row as the API shows it.
func showService(r networkviews.ServiceRow) serviceResponse {
	out := serviceResponse{
		ID: r.ID, DeviceID: r.DeviceID, Type: string(r.Binding.Type), ParentInterface: r.Binding.ParentInterface,
		Subnet: r.Addressing.Subnet, Gateway: r.Addressing.Gateway, PoolStart: r.Addressing.PoolStart,
		PoolEnd: r.Addressing.PoolEnd, State: r.State, Slug: slugOf(r.ID),
		WalledGarden: gardenResponse{
			Domains:   append([]string{}, r.WalledGarden.Domains...),
			Addresses: append([]string{}, r.WalledGarden.Addresses...),
		},
		Removing: r.Open == events.PhaseRemoval, Working: r.Open != "" && r.State != networkviews.StateFailed,
		AppliedAt: r.AppliedAt, CreatedAt: r.CreatedAt,
	}
	if r.Binding.VlanID != 0 {
		out.VlanID = &r.Binding.VlanID
	}
	if e := r.LastError; e != nil {
		out.LastError = &serviceErrorShape{At: e.At, Operation: e.Operation, Path: e.Path, Message: e.Message}
	}
	if d := r.Drift; d != nil {
		out.Drift = &driftShape{FirstSeenAt: d.FirstSeenAt, Hash: d.Hash, Resources: showDrift(d.Resources)}
	}
	return out
}

// slugOf is the first 8 hex digits of a service's id.
func slugOf(service id.Service) string { return service.String()[:8] }

// newServiceID makes an id whose first 8 hex digits are unlike those of any other: new ids begin with the time, and
// names on a router are made of these digits.
func newServiceID(c *httpapi.Call) id.Service {
	return id.Derive[id.Service]("network_service", usecases.NewID[id.Any](c.Asked(), "service").String())
}

// service is the service that the path names, of the host's organization, as the log has it.
func (a API) service(ctx context.Context, c *httpapi.Call) (network.Service, error) {
	service, err := httpapi.PathID[id.Service](c, "id", commands.ErrNoService)
	if err != nil {
		return network.Service{}, err
	}
	state, _, err := bus.LoadUnchecked[network.Service](ctx, a.Bus, service)
	if err == nil && (state.Org != c.Org.ID || state.Removed) {
		err = commands.ErrNoService()
	}
	return state, err
}

// readService is a service's row; a removed one is absent.
func (a API) readService(
	ctx context.Context, org id.Organization, service id.Service,
) (networkviews.ServiceRow, error) {
	row, err := a.Services.Get(ctx, org, service)
	if err != nil {
		return networkviews.ServiceRow{}, err
	}
	if row == nil || row.RemovedAt != nil {
		return networkviews.ServiceRow{}, commands.ErrNoService()
	}
	return *row, nil
}

// listServices answers with a page of a router's services.
func (a API) listServices(ctx context.Context, c *httpapi.Call) error {
	device, _, err := a.device(ctx, c)
	if err != nil {
		return err
	}
	page, err := httpapi.PageOf[networkviews.ServiceKey](c)
	if err != nil {
		return err
	}
	rows, err := a.Services.List(ctx, c.Org.ID, device, null.Zero(page.After), page.Fetch())
	if err != nil {
		return err
	}
	return httpapi.SendPage(c, page, rows, func(r networkviews.ServiceRow) networkviews.ServiceKey {
		return networkviews.ServiceKey{CreatedAt: r.CreatedAt, ID: r.ID}
	}, showService)
}

// getService answers with one service.
func (a API) getService(ctx context.Context, c *httpapi.Call) error {
	service, err := httpapi.PathID[id.Service](c, "id", commands.ErrNoService)
	if err != nil {
		return err
	}
	row, err := a.readService(ctx, c.Org.ID, service)
	if err != nil {
		return err
	}
	c.SetRevision(uint64(row.Revision)) //nolint:gosec // revisions are not negative
	return c.Send(200, showService(row))
}

// serviceHistory answers with a page of what happened to a service, also after its removal.
func (a API) serviceHistory(ctx context.Context, c *httpapi.Call) error {
	service, err := httpapi.PathID[id.Service](c, "id", commands.ErrNoService)
	if err != nil {
		return err
	}
	row, err := a.Services.Get(ctx, c.Org.ID, service)
	if err != nil {
		return err
	}
	if row == nil {
		return commands.ErrNoService()
	}
	return sendHistory(c, func(after networkviews.HistoryKey, max int) ([]networkviews.HistoryRow, error) {
		return a.History.OfService(ctx, c.Org.ID, service, after, max)
	})
}

// diffResponse is how a router differs from what it should be (api.md).
type diffResponse struct {
	InSync    bool            `json:"inSync"`
	Resources []resourceDrift `json:"resources"`
	Hash      *string         `json:"hash" doc:"the same for the same difference; null when in sync"`
}

// showDiff is a difference as the API shows it.
func showDiff(d networkviews.LiveDiff) diffResponse {
	out := diffResponse{InSync: len(d.Resources) == 0, Resources: showDrift(d.Resources)}
	if !out.InSync {
		out.Hash = &d.Hash
	}
	return out
}

// serviceDiff answers with the difference before anything is written.
func (a API) serviceDiff(ctx context.Context, c *httpapi.Call) error {
	state, err := a.service(ctx, c)
	if err != nil {
		return err
	}
	d, err := a.Routers.Diff(ctx, state.ID)
	if err != nil {
		return err
	}
	return c.Send(200, showDiff(d))
}

// diff is a handler that compares a whole router.
func (a API) diff(
	read func(context.Context, id.Device) (networkviews.LiveDiff, error),
) func(context.Context, *httpapi.Call) error {
	return func(ctx context.Context, c *httpapi.Call) error {
		device, _, err := a.device(ctx, c)
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
