package httpapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// liveRoutes are what a router is asked at this moment, and what it said before.
func (a NetworkAPI) liveRoutes() []Route {
	const of = "/nas/devices/:id"
	return []Route{
		{Method: "POST", Path: of + "/ping", Summary: "Ask a router whether it answers, and how fast", Response: pingResponse{}, Handle: a.ping},
		{Method: "GET", Path: of + "/bootstrap-script", Summary: "The script to paste into the router", Produces: "text/plain; charset=utf-8", Handle: a.bootstrapScript},
		{Method: "GET", Path: of + "/interfaces", Summary: "Interfaces as choices for a service, read now", Response: interfacesResponse{}, Handle: a.interfaces},
		{Method: "GET", Path: of + "/sessions", Summary: "Customers online, read now", Response: listOf[sessionShape]{}, Handle: live(a, a.Routers.Sessions, showSession)},
		{Method: "GET", Path: of + "/leases", Summary: "DHCP leases, read now", Response: listOf[leaseShape]{}, Handle: live(a, a.Routers.Leases, showLease)},
		{Method: "GET", Path: of + "/queues", Summary: "Simple queues, read now", Response: listOf[queueShape]{}, Handle: live(a, a.Routers.Queues, showQueue)},
		{Method: "GET", Path: of + "/resource", Summary: "Load of a router, read now", Response: resourceShape{}, Handle: a.resource},
		{Method: "GET", Path: of + "/history", Summary: "What happened to a router and its services, newest first", Row: historyShape{}, Handle: a.deviceHistory},
		{Method: "GET", Path: of + "/polls", Summary: "What a router said when it was polled, oldest first", Response: listOf[pollShape]{}, Handle: a.polls},
		{Method: "GET", Path: "/nas/fleet", Summary: "All routers as they were polled last", Row: fleetRow{}, Handle: a.fleet},
	}
}

// pingResponse tells whether a router answers.
type pingResponse struct {
	Reachable  bool    `json:"reachable"`
	ResponseMs *int64  `json:"responseMs"`
	BoardName  *string `json:"boardName"`
	Version    *string `json:"version"`
	Error      *string `json:"error"`
}

// ping asks the router. No answer is an answer here: 200 with reachable false.
func (a NetworkAPI) ping(ctx context.Context, c *Call) error {
	device, _, err := a.device(ctx, c)
	if err != nil {
		return err
	}
	p, err := a.Routers.Ping(ctx, device)
	if err != nil {
		return err
	}
	out := pingResponse{Reachable: p.Reachable, BoardName: textOrNil(p.BoardName), Version: textOrNil(p.Version), Error: textOrNil(p.Error)}
	if p.Reachable {
		out.ResponseMs = &p.ResponseMs
	}
	return c.Send(200, out)
}

// bootstrapScript answers with the script, which holds the router's own credentials.
func (a NetworkAPI) bootstrapScript(ctx context.Context, c *Call) error {
	device, _, err := a.device(ctx, c)
	if err != nil {
		return err
	}
	script, err := a.Routers.BootstrapScript(ctx, device, c.Meta())
	if err != nil {
		return err
	}
	c.Writer.Header().Set("Cache-Control", "no-store")
	c.SendBytes(200, "text/plain; charset=utf-8", []byte(script))
	return nil
}

// interfacesResponse is the picker of a service's place (api.md).
type interfacesResponse struct {
	Groups []interfaceGroup `json:"groups"`
}

// interfaceGroup is one heading of the picker.
type interfaceGroup struct {
	Name    string            `json:"name" enum:"Bridges,Ethernet,SFP,VLAN"`
	Options []interfaceOption `json:"options"`
}

// interfaceOption is one interface.
type interfaceOption struct {
	Name     string  `json:"name"`
	Type     string  `json:"type"`
	Running  bool    `json:"running"`
	Disabled bool    `json:"disabled"`
	Comment  *string `json:"comment"`
	RxBytes  int64   `json:"rxBytes"`
	TxBytes  int64   `json:"txBytes"`
	Reserved bool    `json:"reserved"`
	Reason   *string `json:"reason" doc:"why it is reserved"`
}

// interfaces answers with the picker.
func (a NetworkAPI) interfaces(ctx context.Context, c *Call) error {
	device, _, err := a.device(ctx, c)
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
			shown.Options = append(shown.Options, interfaceOption{Name: o.Name, Type: o.Type, Running: o.Running, Disabled: o.Disabled,
				Comment: textOrNil(o.Comment), RxBytes: o.RxBytes, TxBytes: o.TxBytes, Reserved: o.Reserved, Reason: textOrNil(o.Reason)})
		}
		out.Groups = append(out.Groups, shown)
	}
	return c.Send(200, out)
}

// live is a handler that asks the router for a list.
func live[R, T any](a NetworkAPI, read func(context.Context, id.Device) ([]R, error), show func(R) T) func(context.Context, *Call) error {
	return func(ctx context.Context, c *Call) error {
		device, _, err := a.device(ctx, c)
		if err != nil {
			return err
		}
		rows, err := read(ctx, device)
		if err != nil {
			return err
		}
		out := listOf[T]{Data: make([]T, 0, len(rows))}
		for _, r := range rows {
			out.Data = append(out.Data, show(r))
		}
		return c.Send(200, out)
	}
}

// sessionShape is one customer online.
type sessionShape struct {
	Kind          string `json:"kind" enum:"ppp,hotspot"`
	User          string `json:"user"`
	Service       string `json:"service" doc:"pppoe and the like; of a hotspot its server"`
	CallerID      string `json:"callerId"`
	Address       string `json:"address"`
	UptimeSeconds int64  `json:"uptimeSeconds"`
	Encoding      string `json:"encoding"`
	Radius        bool   `json:"radius"`
}

// showSession is a session as the API shows it.
func showSession(s network.LiveSession) sessionShape { return sessionShape(s) }

// leaseShape is one DHCP lease.
type leaseShape struct {
	Address      string `json:"address"`
	MACAddress   string `json:"macAddress"`
	HostName     string `json:"hostName"`
	Status       string `json:"status"`
	Server       string `json:"server"`
	ExpiresAfter string `json:"expiresAfter" doc:"as the router writes it; empty for static ones"`
	Dynamic      bool   `json:"dynamic"`
}

// showLease is a lease as the API shows it.
func showLease(l network.LiveLease) leaseShape { return leaseShape(l) }

// queueShape is one simple queue.
type queueShape struct {
	Name       string `json:"name"`
	Target     string `json:"target"`
	MaxLimit   string `json:"maxLimit" doc:"upload/download in bits a second"`
	BurstLimit string `json:"burstLimit"`
	Dynamic    bool   `json:"dynamic"`
	Disabled   bool   `json:"disabled"`
}

// showQueue is a queue as the API shows it.
func showQueue(q network.LiveQueue) queueShape { return queueShape(q) }

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

// resource answers with the load.
func (a NetworkAPI) resource(ctx context.Context, c *Call) error {
	device, _, err := a.device(ctx, c)
	if err != nil {
		return err
	}
	r, err := a.Routers.Resource(ctx, device)
	if err != nil {
		return err
	}
	return c.Send(200, resourceShape(r))
}

// fleetRow is a router as it was polled last (api.md; spec.md, Fleet monitoring).
type fleetRow struct {
	DeviceID       id.Device  `json:"deviceId"`
	Name           string     `json:"name"`
	Reachable      bool       `json:"reachable"`
	Error          *string    `json:"error"`
	BoardName      *string    `json:"boardName"`
	Version        *string    `json:"version"`
	CPUPercent     *int       `json:"cpuPercent"`
	MemoryPercent  *int       `json:"memoryPercent"`
	UptimeSeconds  *int64     `json:"uptimeSeconds"`
	ActiveSessions *int       `json:"activeSessions"`
	PolledAt       *time.Time `json:"polledAt"`
}

// fleet answers with a page of routers and what they said last.
func (a NetworkAPI) fleet(ctx context.Context, c *Call) error {
	page, err := PageOf[network.DeviceKey](c)
	if err != nil {
		return err
	}
	rows, err := a.Devices.List(ctx, c.Org.ID, orZero(page.After), page.Fetch())
	if err != nil {
		return err
	}
	ids := make([]id.Device, 0, len(rows))
	for _, r := range rows {
		ids = append(ids, r.ID)
	}
	polls, err := a.Fleet.Latest(ctx, c.Org.ID, ids)
	if err != nil {
		return err
	}
	return SendPage(c, page, rows, func(r network.DeviceRow) network.DeviceKey {
		return network.DeviceKey{CreatedAt: r.CreatedAt, ID: r.ID}
	},
		func(r network.DeviceRow) fleetRow { return showFleet(r, polls) })
}

// showFleet is a router with its last poll.
func showFleet(r network.DeviceRow, polls map[id.Device]network.Poll) fleetRow {
	out := fleetRow{DeviceID: r.ID, Name: r.Details.Name}
	p, polled := polls[r.ID]
	switch {
	case r.APIRef.IsZero():
		out.Error = textOrNil("no API credentials")
	case !polled:
		out.Error = textOrNil("not polled yet")
	default:
		out.Error = textOrNil(p.Error)
	}
	if polled {
		out.PolledAt = &p.At
	}
	if polled && p.Reachable && out.Error == nil {
		out.Reachable, out.BoardName, out.Version = true, textOrNil(p.BoardName), textOrNil(p.Version)
		out.CPUPercent, out.MemoryPercent, out.UptimeSeconds, out.ActiveSessions = &p.CPUPercent, &p.MemoryPercent, &p.UptimeSeconds, &p.ActiveSessions
	}
	return out
}

// pollShape is one poll, for a sparkline.
type pollShape struct {
	At             time.Time `json:"at"`
	Reachable      bool      `json:"reachable"`
	CPUPercent     int       `json:"cpuPercent"`
	MemoryPercent  int       `json:"memoryPercent"`
	ActiveSessions int       `json:"activeSessions"`
	ResponseMs     int64     `json:"responseMs"`
}

// pollWindow is how far back the polls of one answer go.
const pollWindow = 24 * time.Hour

// polls answers with the polls of the last day.
func (a NetworkAPI) polls(ctx context.Context, c *Call) error {
	device, _, err := a.device(ctx, c)
	if err != nil {
		return err
	}
	rows, err := a.Fleet.History(ctx, c.Org.ID, device, a.Clock.Now().Add(-pollWindow))
	if err != nil {
		return err
	}
	out := listOf[pollShape]{Data: make([]pollShape, 0, len(rows))}
	for _, p := range rows {
		out.Data = append(out.Data, pollShape{At: p.At, Reachable: p.Reachable, CPUPercent: p.CPUPercent, MemoryPercent: p.MemoryPercent,
			ActiveSessions: p.ActiveSessions, ResponseMs: p.ResponseMs})
	}
	return c.Send(200, out)
}

// historyShape is one thing that happened.
type historyShape struct {
	At        time.Time   `json:"at"`
	Kind      string      `json:"kind" doc:"requested, changed, applied, repaired, failed, drift_detected, drift_cleared, written, ..."`
	Summary   string      `json:"summary"`
	ServiceID *id.Service `json:"serviceId"`
	Actor     auditActor  `json:"actor"`
	Detail    any         `json:"detail" doc:"the event as it was recorded"`
}

// showHistory is an entry as the API shows it.
func showHistory(r network.HistoryRow) historyShape {
	return historyShape{At: r.At, Kind: r.Kind, Summary: r.Summary, ServiceID: idOrNil(r.ServiceID),
		Actor: auditActor{ID: textOrNil(r.ActorID), Kind: r.ActorKind}, Detail: r.Detail}
}

// deviceHistory answers with a page of what happened to a router.
func (a NetworkAPI) deviceHistory(ctx context.Context, c *Call) error {
	device, err := PathID[id.Device](c, "id", "device_not_found")
	if err != nil {
		return err
	}
	if _, err := a.readDevice(ctx, c.Org.ID, device); err != nil {
		return err
	}
	return sendHistory(c, func(after network.HistoryKey, max int) ([]network.HistoryRow, error) {
		return a.History.OfDevice(ctx, c.Org.ID, device, after, max)
	})
}

// sendHistory answers with a page of a timeline.
func sendHistory(c *Call, read func(after network.HistoryKey, max int) ([]network.HistoryRow, error)) error {
	page, err := PageOf[network.HistoryKey](c)
	if err != nil {
		return err
	}
	rows, err := read(orZero(page.After), page.Fetch())
	if err != nil {
		return err
	}
	return SendPage(c, page, rows, func(r network.HistoryRow) network.HistoryKey { return network.HistoryKey{Position: r.Position} }, showHistory)
}

// errUnreachable is a router that did not answer.
func errUnreachable(message string) error {
	return failure.NewUnavailable("device_unreachable", message, 0, nil)
}

// errRefused is a router that answered no, in its own words.
func errRefused(words string) error {
	return &failure.Error{Kind: failure.Refused, Code: "router_refused", Message: words}
}
