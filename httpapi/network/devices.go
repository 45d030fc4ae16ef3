package networkapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/usecases/network"
)

// API serves /nas: routers and the services on them.
type API struct {
	Bus          *bus.Bus
	DeviceCases  networkcases.Devices
	ServiceCases networkcases.Services
	RunCases     networkcases.Runs
	Devices      networkviews.DevicesQuery
	Services     networkviews.ServicesQuery
	History      networkviews.HistoryQuery
	// Routers asks routers now; Fleet has their last polls.
	Routers Routers
	Fleet   Fleet
	Online  Online
	// Holders gives the customers who sign in with some usernames; a name without one is left out.
	Holders func(ctx context.Context, org id.Organization, usernames []string) (map[string]id.Subscriber, error)
	// Users gives the names of some users; one that is no member of the organization is left out.
	Users func(ctx context.Context, org id.Organization, users []id.User) (map[id.User]string, error)
	// BootstrapVersion is the newest version of the bootstrap script.
	BootstrapVersion int
	Clock            clock.Clock
}

// Routers asks a router at this moment, through its breaker. A refusal is failure.Refused "router_refused" in the
// router's own words, no answer failure.Unavailable "device_unreachable". Implementations are safe for concurrent use.
type Routers interface {
	Ping(ctx context.Context, device id.Device) (networkviews.LivePing, error)
	Resource(ctx context.Context, device id.Device) (networkviews.LiveResource, error)
	Interfaces(ctx context.Context, device id.Device) ([]networkviews.LiveInterfaces, error)
	Sessions(ctx context.Context, device id.Device) ([]networkviews.LiveSession, error)
	Leases(ctx context.Context, device id.Device) ([]networkviews.LiveLease, error)
	Queues(ctx context.Context, device id.Device) ([]networkviews.LiveQueue, error)
	Diff(ctx context.Context, service id.Service) (networkviews.LiveDiff, error)
	Drift(ctx context.Context, device id.Device) (networkviews.LiveDiff, error)
	FirewallDrift(ctx context.Context, device id.Device) (networkviews.LiveDiff, error)
	SetupDrift(ctx context.Context, device id.Device) (networkviews.LiveDiff, error)
}

// Fleet has the polls of routers. Implementations are safe for concurrent use.
type Fleet interface {
	// Latest has no entry for a router that was not polled yet. nil asks for all routers of the organization.
	Latest(ctx context.Context, org id.Organization, devices []id.Device) (map[id.Device]networkviews.Poll, error)
	// History gives the polls of one router since an instant, oldest first.
	History(ctx context.Context, org id.Organization, device id.Device, since time.Time) ([]networkviews.Poll, error)
	// Points gives the polls of some routers in a window, thinned to one point for each step of it, oldest first.
	Points(
		ctx context.Context, org id.Organization, devices []id.Device, w networkviews.PollWindow,
	) (map[id.Device][]networkviews.PollPoint, error)
}

// Online tells who is online. Implementations are safe for concurrent use.
type Online interface {
	// CustomersAt counts the customers with an open session at each of some routers. One without any has no entry.
	CustomersAt(ctx context.Context, org id.Organization, devices []id.Device) (map[id.Device]int, error)
	// SessionsOn counts the open sessions on each of some services, given with their routers. One without any has no
	// entry.
	SessionsOn(ctx context.Context, org id.Organization, services map[id.Service]id.Device) (map[id.Service]int, error)
}

// Routes lists the endpoints of the network area.
func (a API) Routes() []httpapi.Route {
	routes := []httpapi.Route{
		{
			Method: "GET", Path: "/nas/devices", Summary: "List routers", Row: deviceResponse{}, Handle: a.listDevices,
			Query: []httpapi.Param{
				{Name: "upToDate", Type: "boolean", Doc: "false: those that need the bootstrap script"},
			},
		},
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
		{
			Method: "POST", Path: "/nas/devices/:id/rotate-secrets",
			Summary:  "Give a router new secrets of its tunnel and of its script's report; it needs the new script",
			Response: deviceResponse{}, Handle: a.rotateSecrets,
		},
	}
	routes = append(routes, a.liveRoutes()...)
	routes = append(routes, a.serviceRoutes()...)
	routes = append(routes, a.runRoutes()...)
	for i := range routes {
		routes[i].Hosts, routes[i].Access = httpapi.OnOrganization, httpapi.AccessAdmin
	}
	return routes
}

// oneDevice describes how a router is read and shown.
func (a API) oneDevice() httpapi.One[id.Device, networkviews.DeviceRow, deviceResponse] {
	var polls map[id.Device]networkviews.Poll // set when the row is read
	return httpapi.One[id.Device, networkviews.DeviceRow, deviceResponse]{
		Model: networkviews.DevicesName, Missing: commands.ErrNoDevice,
		Revision: func(r networkviews.DeviceRow) int64 { return r.Revision },
		Read: func(ctx context.Context, org id.Organization, device id.Device) (*networkviews.DeviceRow, error) {
			row, err := a.Devices.Get(ctx, org, device)
			if err != nil || row == nil {
				return nil, err
			}
			polls, err = a.Fleet.Latest(ctx, org, []id.Device{device})
			return row, err
		},
		Show: func(r networkviews.DeviceRow) deviceResponse {
			out := a.showDevice(r)
			if poll, polled := polls[r.ID]; polled {
				shown := showPoll(poll)
				out.Poll = &shown
			}
			return out
		},
	}
}

// device is the router that the path names. Another organization's router is answered like one that does not exist.
// Handlers call it before they read a body, so that its faults tell a stranger nothing about the router.
func (a API) device(ctx context.Context, c *httpapi.Call) (id.Device, error) {
	device, err := httpapi.PathID[id.Device](c, "id", commands.ErrNoDevice)
	if err != nil {
		return device, err
	}
	return device, networkcases.OwnDevice(ctx, a.Bus, c.Org.ID, device)
}

// listDevices answers with a page of routers, newest first.
func (a API) listDevices(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	wanted := f.Bool("upToDate")
	if err := f.Err(); err != nil {
		return err
	}
	var has func(networkviews.DeviceRow) bool
	if wanted != nil {
		has = func(r networkviews.DeviceRow) bool { return a.upToDate(r) == *wanted }
	}
	list := func(ctx context.Context, after networkviews.DeviceKey, max int) ([]networkviews.DeviceRow, error) {
		return a.Devices.List(ctx, c.Org.ID, after, max)
	}
	return httpapi.SendList(ctx, c, a.showDevice, func(
		ctx context.Context, after networkviews.DeviceKey, max int,
	) ([]networkviews.DeviceRow, error) {
		return chosen(ctx, after, max, list, has)
	})
}

// getDevice answers with one router.
func (a API) getDevice(ctx context.Context, c *httpapi.Call) error {
	return httpapi.ReadOne(ctx, c, a.oneDevice())
}

// registerDevice registers a router with its secrets.
func (a API) registerDevice(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[deviceRequest](c)
	if err != nil {
		return err
	}
	device, done, err := a.DeviceCases.Register(ctx, c.Asked(), in.input())
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 201, a.oneDevice(), device, done)
}

// changeDevice adopts new details and credentials.
func (a API) changeDevice(ctx context.Context, c *httpapi.Call) error {
	device, err := a.device(ctx, c)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[deviceChange](c)
	if err != nil {
		return err
	}
	done, err := a.DeviceCases.Change(ctx, c.Asked(), device, in.emptied(c.Nulls()).input())
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, a.oneDevice(), device, done)
}

// rotateSecrets answers with the router, whose script is no longer up to date.
func (a API) rotateSecrets(ctx context.Context, c *httpapi.Call) error {
	device, err := a.device(ctx, c)
	if err != nil {
		return err
	}
	done, err := a.DeviceCases.RotateSecrets(ctx, c.Asked(), device)
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, a.oneDevice(), device, done)
}

// deleteDevice ends a router without services.
func (a API) deleteDevice(ctx context.Context, c *httpapi.Call) error {
	device, err := httpapi.PathID[id.Device](c, "id", commands.ErrNoDevice)
	if err != nil {
		return err
	}
	done, err := a.DeviceCases.Decommission(ctx, c.Asked(), device)
	if err != nil {
		return err
	}
	if _, err := c.WaitVisible(ctx, networkviews.DevicesName, done.Position); err != nil {
		return err
	}
	return c.NoContent()
}
