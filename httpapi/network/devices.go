package networkapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// API serves /nas: routers and the services on them.
type API struct {
	Bus      *bus.Bus
	Devices  networkviews.DevicesQuery
	Services networkviews.ServicesQuery
	History  networkviews.HistoryQuery
	Secrets  *vault.Secrets
	// Routers asks routers; Fleet knows what they said last.
	Routers Routers
	Fleet   Fleet
	// Forget drops what is remembered about a router that is no more: its breaker and connections.
	Forget func(id.Device)
	// ManagementAddresses allows addresses besides the tunnel's: outside production only (rules.md 23).
	ManagementAddresses bool
	// BootstrapVersion is the newest version of the script.
	BootstrapVersion int
	Clock            clock.Clock
}

// Routers asks a router at this moment, through its breaker. A refusal is failure.Refused "router_refused" in the
// router's own words, no answer failure.Unavailable "device_unreachable".
type Routers interface {
	Ping(ctx context.Context, device id.Device) (networkviews.LivePing, error)
	Resource(ctx context.Context, device id.Device) (networkviews.LiveResource, error)
	Interfaces(ctx context.Context, device id.Device) ([]networkviews.LiveInterfaces, error)
	Sessions(ctx context.Context, device id.Device) ([]networkviews.LiveSession, error)
	Leases(ctx context.Context, device id.Device) ([]networkviews.LiveLease, error)
	Queues(ctx context.Context, device id.Device) ([]networkviews.LiveQueue, error)
	// Placement fails when a service may not be there: 400 reserved_interface, or 422 naming the field. It gives the
	// subnets that the router uses for something of its own.
	Placement(ctx context.Context, device id.Device, service id.Service,
		b events.ServiceBinding) (occupied []string, err error)
	AffectedSessions(ctx context.Context, service id.Service) (int, error)
	Diff(ctx context.Context, service id.Service) (networkviews.LiveDiff, error)
	Drift(ctx context.Context, device id.Device) (networkviews.LiveDiff, error)
	FirewallDrift(ctx context.Context, device id.Device) (networkviews.LiveDiff, error)
	// BootstrapScript makes the script. Meta is of who asks: a router without API credentials gets some with it.
	BootstrapScript(ctx context.Context, device id.Device, meta commands.Meta) (string, error)
}

// Fleet knows what routers said when they were asked last.
type Fleet interface {
	Latest(ctx context.Context, org id.Organization, devices []id.Device) (map[id.Device]networkviews.Poll, error)
	History(ctx context.Context, org id.Organization, device id.Device, since time.Time) ([]networkviews.Poll, error)
	// Soon has a router polled at once, as it is at a position of the log.
	Soon(device id.Device, position uint64)
}

// Routes lists the endpoints of the network area.
func (a API) Routes() []httpapi.Route {
	routes := []httpapi.Route{
		{Method: "GET", Path: "/nas/devices", Summary: "List routers", Row: deviceResponse{}, Handle: a.listDevices},
		{
			Method: "POST", Path: "/nas/devices", Summary: "Register a router", Request: deviceRequest{},
			Response: deviceResponse{}, Status: 201, Handle: a.registerDevice,
		},
		{
			Method: "GET", Path: "/nas/devices/:id", Summary: "Read a router", Response: deviceResponse{},
			Handle: a.getDevice,
		},
		{
			Method: "PATCH", Path: "/nas/devices/:id", Summary: "Change a router", Request: deviceChange{},
			Response: deviceResponse{}, Handle: a.changeDevice,
		},
		{
			Method: "DELETE", Path: "/nas/devices/:id", Summary: "Delete a router that has no services", Status: 204,
			Handle: a.deleteDevice,
		},
	}
	routes = append(routes, a.liveRoutes()...)
	routes = append(routes, a.serviceRoutes()...)
	for i := range routes {
		routes[i].Hosts, routes[i].Access = httpapi.OnOrganization, httpapi.AccessAdmin
	}
	return routes
}

// deviceRequest is api.md's body. Source: spec.md, NAS device inputs.
type deviceRequest struct {
	Name              string       `json:"name"`
	IPAddress         string       `json:"ipAddress" doc:"WAN address, of the RADIUS client"`
	RadiusSecret      secrets.Text `json:"radiusSecret"`
	CoAPort           *int         `json:"coaPort,omitempty" doc:"3799 when absent"`
	APIUsername       string       `json:"apiUsername,omitempty" doc:"made with the bootstrap script when absent"`
	APIPassword       secrets.Text `json:"apiPassword,omitempty"`
	APIPort           *int         `json:"apiPort,omitempty" doc:"80 (default), 443, 8728, 8729 or another: decides how the router is spoken to"`
	ManagementAddress string       `json:"managementAddress,omitempty" doc:"instead of the tunnel address; not in production"`
}

// deviceResponse is a router as the API shows it: never a secret.
type deviceResponse struct {
	ID                id.Device       `json:"id"`
	Name              string          `json:"name"`
	IPAddress         string          `json:"ipAddress"`
	CoAPort           int             `json:"coaPort"`
	APIPort           int             `json:"apiPort"`
	HasAPICredentials bool            `json:"hasApiCredentials"`
	TunnelAddress     string          `json:"tunnelAddress" doc:"the address that is dialled"`
	TunnelUser        string          `json:"tunnelUser"`
	ManagementAddress *string         `json:"managementAddress"`
	Transport         *transportShape `json:"transport" doc:"how the router was found to answer; null = not known yet"`
	UnreachableSince  *time.Time      `json:"unreachableSince" doc:"null: it answers, or was never asked"`
	Error             *string         `json:"error"`
	Bootstrap         bootstrapShape  `json:"bootstrap"`
	Reboot            *rebootShape    `json:"reboot" doc:"the newest one"`
	CreatedAt         time.Time       `json:"createdAt"`
}

// transportShape is how a router answers.
type transportShape struct {
	Protocol  string `json:"protocol" enum:"rest,api"`
	TLS       bool   `json:"tls"`
	Port      int    `json:"port"`
	Version   string `json:"version"`
	BoardName string `json:"boardName"`
}

// bootstrapShape is which script a router is on.
type bootstrapShape struct {
	Version    int        `json:"version" doc:"0: none was reported"`
	Newest     int        `json:"newest"`
	UpToDate   bool       `json:"upToDate"`
	ReportedAt *time.Time `json:"reportedAt"`
}

// rebootShape is how far a reboot is.
type rebootShape struct {
	Stage         string    `json:"stage" enum:"requested,started,accepted,confirmed,failed"`
	Message       *string   `json:"message"`
	UptimeSeconds *int64    `json:"uptimeSeconds"`
	At            time.Time `json:"at"`
}

// showDevice is a row as the API shows it.
func (a API) showDevice(r networkviews.DeviceRow) deviceResponse {
	out := deviceResponse{
		ID: r.ID, Name: r.Details.Name, IPAddress: r.Details.IPAddress, CoAPort: r.Details.CoAPort,
		APIPort:           r.Details.APIPort,
		HasAPICredentials: !r.APIRef.IsZero(), TunnelAddress: r.TunnelAddress, TunnelUser: r.TunnelUser,
		ManagementAddress: null.Of(r.Details.ManagementAddress), UnreachableSince: r.UnreachableSince,
		Error: null.Of(r.UnreachableError),
		Bootstrap: bootstrapShape{
			Version: r.BootstrapVersion, Newest: a.BootstrapVersion, UpToDate: r.BootstrapVersion >= a.BootstrapVersion,
			ReportedAt: r.BootstrapAt,
		},
		CreatedAt: r.CreatedAt,
	}
	if r.Transport != nil {
		shape := transportShape(*r.Transport)
		out.Transport = &shape
	}
	if b := r.Reboot; b != nil {
		out.Reboot = &rebootShape{Stage: b.Stage, Message: null.Of(b.Message), At: b.At}
		if b.Stage == networkviews.RebootConfirmed {
			out.Reboot.UptimeSeconds = &b.UptimeSeconds
		}
	}
	return out
}

// device is the router that the path names, of the host's organization, as the log has it.
func (a API) device(ctx context.Context, c *httpapi.Call) (id.Device, network.Device, error) {
	device, err := httpapi.PathID[id.Device](c, "id", commands.ErrNoDevice)
	if err != nil {
		return device, network.Device{}, err
	}
	state, _, err := bus.LoadUnchecked[network.Device](ctx, a.Bus, device)
	if err == nil && (state.Org != c.Org.ID || state.Decommissioned) {
		err = commands.ErrNoDevice()
	}
	return device, state, err
}

// listDevices answers with a page of routers.
func (a API) listDevices(ctx context.Context, c *httpapi.Call) error {
	page, err := httpapi.PageOf[networkviews.DeviceKey](c)
	if err != nil {
		return err
	}
	rows, err := a.Devices.List(ctx, c.Org.ID, null.Zero(page.After), page.Fetch())
	if err != nil {
		return err
	}
	return httpapi.SendPage(c, page, rows, func(r networkviews.DeviceRow) networkviews.DeviceKey {
		return networkviews.DeviceKey{CreatedAt: r.CreatedAt, ID: r.ID}
	}, a.showDevice)
}

// getDevice answers with one router.
func (a API) getDevice(ctx context.Context, c *httpapi.Call) error {
	device, err := httpapi.PathID[id.Device](c, "id", commands.ErrNoDevice)
	if err != nil {
		return err
	}
	out, err := a.readDevice(ctx, c.Org.ID, device)
	if err != nil {
		return err
	}
	c.SetRevision(uint64(out.Revision)) //nolint:gosec // revisions are not negative
	return c.Send(200, a.showDevice(*out))
}

// readDevice is a router's row.
func (a API) readDevice(
	ctx context.Context, org id.Organization, device id.Device,
) (*networkviews.DeviceRow, error) {
	row, err := a.Devices.Get(ctx, org, device)
	if err == nil && row == nil {
		err = commands.ErrNoDevice()
	}
	return row, err
}

// sendDevice answers a write with the router as the read side shows it.
func (a API) sendDevice(ctx context.Context, c *httpapi.Call, status int, device id.Device, done bus.Result) error {
	a.Fleet.Soon(device, done.Position)
	v := httpapi.Visible{Projection: networkviews.DevicesName, ID: device.String(), Result: done}
	return httpapi.SendVisible(ctx, c, status, v, func(ctx context.Context) (deviceResponse, error) {
		row, err := a.readDevice(ctx, c.Org.ID, device)
		if err != nil {
			return deviceResponse{}, err
		}
		return a.showDevice(*row), nil
	})
}

// deleteDevice ends a router without services: its tunnel address is free again, its secrets are gone.
func (a API) deleteDevice(ctx context.Context, c *httpapi.Call) error {
	device, state, err := a.device(ctx, c)
	if err != nil {
		return err
	}
	if _, err := a.Bus.Execute(ctx, commands.CloseAddressingDevice{OrgID: c.Org.ID, DeviceID: device},
		c.Asked().Step("close")); err != nil {
		return err
	}
	done, err := a.Bus.Execute(ctx, commands.DecommissionDevice{DeviceID: device}, c.Meta())
	if err != nil {
		return err
	}
	for _, ref := range []id.Secret{state.APIRef, state.RadiusRef, state.TunnelRef, state.ReportRef} {
		if !ref.IsZero() {
			if err := a.Secrets.Delete(ctx, ref); err != nil {
				return err
			}
		}
	}
	a.Forget(device)
	if _, err := c.WaitVisible(ctx, networkviews.DevicesName, done.Position); err != nil {
		return err
	}
	return c.NoContent()
}
