package networkapi

import (
	"context"
	"slices"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// liveRoutes ask a router at this moment, or show its polls and its history.
func (a API) liveRoutes() []httpapi.Route {
	const of = "/nas/devices/:id"
	return []httpapi.Route{
		{
			Method: "POST", Path: of + "/ping", Summary: "Ask a router whether it answers, and how fast",
			Response: pingResponse{}, Handle: a.ping,
		},
		{
			Method: "GET", Path: of + "/bootstrap-script", Summary: "The script to paste into the router",
			Produces: "text/plain; charset=utf-8", Handle: a.bootstrapScript,
		},
		{
			Method: "GET", Path: of + "/interfaces", Summary: "Interfaces as choices for a service, read now",
			Response: interfacesResponse{}, Handle: a.interfaces,
		},
		{
			Method: "GET", Path: of + "/sessions", Summary: "Customers online, read now",
			Row: sessionShape{}, Handle: a.sessions,
		},
		{
			Method: "GET", Path: of + "/leases", Summary: "DHCP leases, read now",
			Row: leaseShape{}, Handle: live(a, a.Routers.Leases, showLease),
		},
		{
			Method: "GET", Path: of + "/queues", Summary: "Simple queues, read now",
			Row: queueShape{}, Handle: live(a, a.Routers.Queues, showQueue),
		},
		{
			Method: "GET", Path: of + "/resource", Summary: "Load of a router, read now", Response: resourceShape{},
			Handle: a.resource,
		},
		{
			Method: "GET", Path: of + "/history", Summary: "What happened to a router and its services, newest first",
			Row: historyShape{}, Handle: a.deviceHistory,
		},
		{
			Method: "GET", Path: of + "/polls", Summary: "What a router said when it was polled, oldest first",
			Response: httpapi.ListOf[pollShape]{}, Handle: a.polls,
		},
		{
			Method: "GET", Path: "/nas/fleet", Summary: "All routers as they were polled last", Row: fleetRow{},
			Query: fleetFilters, Handle: a.fleet,
		},
	}
}

// pingResponse shows how a router answered; all but reachable and error are null when it did not.
type pingResponse struct {
	Reachable  bool    `json:"reachable"`
	ResponseMs *int64  `json:"responseMs"`
	BoardName  *string `json:"boardName"`
	Version    *string `json:"version"`
	Error      *string `json:"error"`
}

// ping asks the router. A router that does not answer is no failure here: 200 with reachable false.
func (a API) ping(ctx context.Context, c *httpapi.Call) error {
	device, err := a.device(ctx, c)
	if err != nil {
		return err
	}
	p, err := a.Routers.Ping(ctx, device)
	if err != nil {
		return err
	}
	out := pingResponse{
		Reachable: p.Reachable, BoardName: null.Of(p.BoardName), Version: null.Of(p.Version),
		Error: null.Of(p.Error),
	}
	if p.Reachable {
		out.ResponseMs = &p.ResponseMs
	}
	return c.Send(200, out)
}

// bootstrapScript answers with the script, which the audit log then tells. It holds the router's own credentials, so no
// cache may keep it.
func (a API) bootstrapScript(ctx context.Context, c *httpapi.Call) error {
	device, err := a.device(ctx, c)
	if err != nil {
		return err
	}
	script, err := a.DeviceCases.ShowBootstrap(ctx, c.Asked(), device)
	if err != nil {
		return err
	}
	c.Writer.Header().Set("Cache-Control", "no-store")
	c.SendBytes(200, "text/plain; charset=utf-8", []byte(script))
	return nil
}

// interfacesResponse has the interfaces to choose from for a service (docs/rules/network.md#reserved-interfaces).
type interfacesResponse struct {
	Groups []interfaceGroup `json:"groups"`
}

// interfaceGroup is the choices of one kind of interface.
type interfaceGroup struct {
	Name    string            `json:"name" enum:"Bridges,Ethernet,SFP,VLAN"`
	Options []interfaceOption `json:"options"`
}

// interfaceOption is an interface that can be chosen unless it is reserved.
type interfaceOption struct {
	Name      string  `json:"name"`
	Type      string  `json:"type"`
	Running   bool    `json:"running"`
	Disabled  bool    `json:"disabled"`
	Comment   *string `json:"comment"`
	RxBytes   int64   `json:"rxBytes"`
	TxBytes   int64   `json:"txBytes"`
	RxPackets int64   `json:"rxPackets"`
	TxPackets int64   `json:"txPackets"`
	LinkDowns int64   `json:"linkDowns" doc:"how often the link went down since the router started"`
	MTU       *int64  `json:"mtu" doc:"in use, in bytes; null = the router does not tell"`
	Reserved  bool    `json:"reserved"`
	// ReasonOf and WarningOf name what the code is about, where it is about something.
	Reason      *string           `json:"reason" doc:"why it is reserved, in English"`
	ReasonCode  *interfaceReason  `json:"reasonCode" doc:"why it is reserved; more can be added"`
	ReasonOf    *string           `json:"reasonOf" doc:"name of the bridge, bond, uplink or list, or the protocol"`
	Warning     *string           `json:"warning" doc:"why a service on it would not work now, such as: has no link"`
	WarningCode *interfaceWarning `json:"warningCode" doc:"the same as a code; more can be added"`
	WarningOf   *string           `json:"warningOf" doc:"name of the interface that is disabled"`
}

// interfaceReason is one of networkviews.InterfaceReservations.
type interfaceReason string

// Texts implements httpapi.Enumerated.
func (interfaceReason) Texts() []string { return networkviews.InterfaceReservations }

// interfaceWarning is one of networkviews.InterfaceWarnings.
type interfaceWarning string

// Texts implements httpapi.Enumerated.
func (interfaceWarning) Texts() []string { return networkviews.InterfaceWarnings }

// interfaces asks the router and answers with the choices.
func (a API) interfaces(ctx context.Context, c *httpapi.Call) error {
	device, err := a.device(ctx, c)
	if err != nil {
		return err
	}
	groups, err := a.Routers.Interfaces(ctx, device)
	if err != nil {
		return err
	}
	out := interfacesResponse{Groups: make([]interfaceGroup, 0, len(groups))}
	for _, g := range groups {
		shown := interfaceGroup{Name: g.Name, Options: make([]interfaceOption, 0, len(g.Options))}
		for _, o := range g.Options {
			shown.Options = append(shown.Options, interfaceOption{
				Name: o.Name, Type: o.Type, Running: o.Running, Disabled: o.Disabled, Comment: null.Of(o.Comment),
				RxBytes: o.RxBytes, TxBytes: o.TxBytes, RxPackets: o.RxPackets, TxPackets: o.TxPackets,
				LinkDowns: o.LinkDowns, MTU: null.Of(o.MTU), Reserved: o.Reserved, Reason: null.Of(o.Reason.Text),
				ReasonCode: null.Of(interfaceReason(o.Reason.Code)), ReasonOf: null.Of(o.Reason.Of),
				Warning: null.Of(o.Warning.Text), WarningCode: null.Of(interfaceWarning(o.Warning.Code)),
				WarningOf: null.Of(o.Warning.Of),
			})
		}
		out.Groups = append(out.Groups, shown)
	}
	return c.Send(200, out)
}

// live makes a handler that asks the router for a list now, for each page again.
func live[R httpapi.Row[networkviews.LiveKey], T any](
	a API, read func(context.Context, id.Device) ([]R, error), show func(R) T,
) func(context.Context, *httpapi.Call) error {
	return func(ctx context.Context, c *httpapi.Call) error {
		device, err := a.device(ctx, c)
		if err != nil {
			return err
		}
		return httpapi.SendList(ctx, c, show,
			func(ctx context.Context, after networkviews.LiveKey, max int) ([]R, error) {
				rows, err := read(ctx, device)
				return pageOf(rows, after, max), err
			})
	}
}

// pageOf gives up to max rows behind a key, in the order of their keys.
func pageOf[R httpapi.Row[networkviews.LiveKey]](rows []R, after networkviews.LiveKey, max int) []R {
	rows = slices.DeleteFunc(rows, func(r R) bool { return !after.Less(r.Key()) })
	slices.SortFunc(rows, func(x, y R) int {
		if x.Key().Less(y.Key()) {
			return -1
		}
		return 1
	})
	return rows[:min(len(rows), max)]
}

// sessionShape is one customer online.
type sessionShape struct {
	ID            string `json:"id" doc:"of the session on the router"`
	Kind          string `json:"kind" enum:"ppp,hotspot"`
	User          string `json:"user"`
	Service       string `json:"service" doc:"pppoe and the like; of a hotspot its server"`
	CallerID      string `json:"callerId"`
	Address       string `json:"address"`
	UptimeSeconds int64  `json:"uptimeSeconds"`
	Encoding      string `json:"encoding"`
	Radius        bool   `json:"radius"`

	SubscriberID *id.Subscriber         `json:"subscriberId" doc:"null: signed in otherwise, or a voucher"`
	Subscriber   *httpapi.SubscriberRef `json:"subscriber" doc:"null likewise"`
}

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *sessionShape) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	r.Subscriber = name(null.Zero(r.SubscriberID))
}

// sessions asks the router who is online, and finds the customers of those that signed in through the platform.
func (a API) sessions(ctx context.Context, c *httpapi.Call) error {
	device, err := a.device(ctx, c)
	if err != nil {
		return err
	}
	var holders map[string]id.Subscriber // set when the page is read
	show := func(s networkviews.LiveSession) sessionShape { return showSession(s, holders) }
	return httpapi.SendList(ctx, c, show, func(
		ctx context.Context, after networkviews.LiveKey, max int,
	) ([]networkviews.LiveSession, error) {
		rows, err := a.Routers.Sessions(ctx, device)
		if err != nil {
			return nil, err
		}
		rows = pageOf(rows, after, max)
		names := make([]string, len(rows))
		for i, r := range rows {
			names[i] = r.User
		}
		holders, err = a.Holders(ctx, c.Org.ID, names)
		return rows, err
	})
}

// showSession names the customer of a session that the platform let in. A user that the router itself knows is no
// customer, though it may be called like one.
func showSession(s networkviews.LiveSession, holders map[string]id.Subscriber) sessionShape {
	out := sessionShape{
		ID: s.ID, Kind: s.Kind, User: s.User, Service: s.Service, CallerID: s.CallerID, Address: s.Address,
		UptimeSeconds: s.UptimeSeconds, Encoding: s.Encoding, Radius: s.Radius,
	}
	if s.Radius {
		out.SubscriberID = null.Of(holders[s.User])
	}
	return out
}

// leaseShape is one DHCP lease.
type leaseShape struct {
	ID           string `json:"id" doc:"of the lease on the router"`
	Address      string `json:"address"`
	MACAddress   string `json:"macAddress"`
	HostName     string `json:"hostName"`
	Status       string `json:"status"`
	Server       string `json:"server"`
	ExpiresAfter string `json:"expiresAfter" doc:"as the router writes it; empty for static ones"`
	Dynamic      bool   `json:"dynamic"`
}

// showLease copies all fields, which have the same names.
func showLease(l networkviews.LiveLease) leaseShape { return leaseShape(l) }

// queueShape is one simple queue.
type queueShape struct {
	ID         string `json:"id" doc:"of the queue on the router"`
	Name       string `json:"name"`
	Target     string `json:"target"`
	MaxLimit   string `json:"maxLimit" doc:"upload/download in bits a second"`
	BurstLimit string `json:"burstLimit"`
	Dynamic    bool   `json:"dynamic"`
	Disabled   bool   `json:"disabled"`
}

// showQueue copies all fields, which have the same names.
func showQueue(q networkviews.LiveQueue) queueShape { return queueShape(q) }

// resourceShape is a router's load.
type resourceShape struct {
	BoardName     string `json:"boardName"`
	Version       string `json:"version"`
	Architecture  string `json:"architecture"`
	CPUPercent    int    `json:"cpuPercent"`
	MemoryPercent int    `json:"memoryPercent"`
	TotalMemory   int64  `json:"totalMemory" doc:"bytes"`
	FreeMemory    int64  `json:"freeMemory" doc:"bytes"`
	UptimeSeconds int64  `json:"uptimeSeconds"`
}

// resource asks the router for its load.
func (a API) resource(ctx context.Context, c *httpapi.Call) error {
	device, err := a.device(ctx, c)
	if err != nil {
		return err
	}
	r, err := a.Routers.Resource(ctx, device)
	if err != nil {
		return err
	}
	return c.Send(200, resourceShape(r))
}
