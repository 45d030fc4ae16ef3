package networkapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// fleetRow is a router with its last poll (docs/rules/network.md#fleet-polls).
type fleetRow struct {
	DeviceID         id.Device      `json:"deviceId"`
	Name             string         `json:"name"`
	State            string         `json:"state" enum:"up,down,unknown" doc:"unknown: not polled, or not possible"`
	Reachable        bool           `json:"reachable" doc:"true: the state is up"`
	UnreachableSince *time.Time     `json:"unreachableSince" doc:"null: it answers, or fails for less than some polls"`
	Error            *string        `json:"error"`
	BoardName        *string        `json:"boardName"`
	Version          *string        `json:"version"`
	CPUPercent       *int           `json:"cpuPercent"`
	MemoryPercent    *int           `json:"memoryPercent"`
	UptimeSeconds    *int64         `json:"uptimeSeconds"`
	ActiveSessions   *int           `json:"activeSessions"`
	PolledAt         *time.Time     `json:"polledAt"`
	Customers        int            `json:"customers" doc:"with an open session there, as RADIUS tells"`
	Drift            bool           `json:"drift" doc:"the setup or a service differs from what it should be"`
	Services         servicesOf     `json:"services"`
	History          []historyPoint `json:"history" doc:"of the last 4 hours, oldest first; at most 48"`
}

// servicesOf counts the services on a router by state.
type servicesOf struct {
	Total    int `json:"total"`
	Active   int `json:"active"`
	Pending  int `json:"pending"`
	Failed   int `json:"failed"`
	Degraded int `json:"degraded"`
	Drifted  int `json:"drifted" doc:"those whose last check found a difference, in any state"`
}

// historyPoint has the polls of five minutes.
type historyPoint struct {
	At             time.Time `json:"at" doc:"of the last one"`
	Reachable      bool      `json:"reachable" doc:"false: one or more were not answered"`
	CPUPercent     *int      `json:"cpuPercent" doc:"the highest; null: none was answered"`
	ActiveSessions *int      `json:"activeSessions" doc:"the highest; null: none was answered"`
}

// The history of a row: enough for a line of some hundred pixels.
const (
	fleetWindow = 4 * time.Hour
	fleetPoint  = 5 * time.Minute
)

// fleetFilters are the query parameters of the fleet.
var fleetFilters = []httpapi.Param{
	{Name: "state", Type: "string", Enum: networkviews.Conditions},
	{Name: "reachable", Type: "boolean", Doc: "true: up; false: down or unknown"},
	{Name: "drift", Type: "boolean", Doc: "whether the setup or a service differs from what it should be"},
}

// fleetPage has what the rows of a page show beside the routers themselves.
type fleetPage struct {
	polls     map[id.Device]networkviews.Poll
	services  map[id.Device]networkviews.ServiceCounts
	history   map[id.Device][]networkviews.PollPoint
	customers map[id.Device]int
}

// fleet answers with a page of routers and their last polls.
func (a API) fleet(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	state, reachable, drift := f.OneOf("state", networkviews.Conditions...), f.Bool("reachable"), f.Bool("drift")
	if err := f.Err(); err != nil {
		return err
	}
	var page fleetPage
	list := func(ctx context.Context, after networkviews.DeviceKey, max int) ([]networkviews.DeviceRow, error) {
		return a.Devices.List(ctx, c.Org.ID, after, max)
	}
	var has func(networkviews.DeviceRow) bool
	if state != "" || reachable != nil || drift != nil {
		var err error
		if page, err = a.conditions(ctx, c.Org.ID); err != nil {
			return err
		}
		has = func(r networkviews.DeviceRow) bool {
			row := page.condition(r)
			return (state == "" || row == state) &&
				(reachable == nil || *reachable == (row == networkviews.ConditionUp)) &&
				(drift == nil || *drift == page.drifts(r))
		}
	}
	return httpapi.SendList(ctx, c, func(r networkviews.DeviceRow) fleetRow { return page.show(r) }, func(
		ctx context.Context, after networkviews.DeviceKey, max int,
	) ([]networkviews.DeviceRow, error) {
		rows, err := chosen(ctx, after, max, list, has)
		if err == nil {
			page, err = a.fleetPage(ctx, c.Org.ID, rows)
		}
		return rows, err
	})
}

// conditions reads what decides about the condition of all routers of an organization.
func (a API) conditions(ctx context.Context, org id.Organization) (page fleetPage, err error) {
	if page.polls, err = a.Fleet.Latest(ctx, org, nil); err != nil {
		return page, err
	}
	page.services, err = a.Services.Counts(ctx, org, nil)
	return page, err
}

// fleetPage reads what the rows of some routers show, with one query for each kind.
func (a API) fleetPage(
	ctx context.Context, org id.Organization, rows []networkviews.DeviceRow,
) (page fleetPage, err error) {
	ids := make([]id.Device, 0, len(rows))
	for _, r := range rows {
		ids = append(ids, r.ID)
	}
	if page.polls, err = a.Fleet.Latest(ctx, org, ids); err != nil {
		return page, err
	}
	now := a.Clock.Now()
	page.history, err = a.Fleet.Points(ctx, org, ids, networkviews.PollWindow{
		From: now.Add(-fleetWindow), To: now, Step: fleetPoint,
	})
	if err != nil {
		return page, err
	}
	if page.services, err = a.Services.Counts(ctx, org, ids); err != nil {
		return page, err
	}
	page.customers, err = a.Online.CustomersAt(ctx, org, ids)
	return page, err
}

// condition is whether a router answers.
func (p fleetPage) condition(r networkviews.DeviceRow) string {
	poll, polled := p.polls[r.ID]
	return networkviews.Condition(!r.APIRef.IsZero(), polled, poll.Reachable, r.UnreachableSince != nil)
}

// drifts reports whether the setup of a router, or a service on it, differs from what it should be.
func (p fleetPage) drifts(r networkviews.DeviceRow) bool {
	return r.SetupDrift != nil || p.services[r.ID].Drifted > 0
}

// show shows a load only when the last poll was answered; error says what is missing and why.
func (p fleetPage) show(r networkviews.DeviceRow) fleetRow {
	poll, polled := p.polls[r.ID]
	out := fleetRow{
		DeviceID: r.ID, Name: r.Details.Name, State: p.condition(r), UnreachableSince: r.UnreachableSince,
		Customers: p.customers[r.ID], Drift: p.drifts(r), Services: servicesOf(p.services[r.ID]),
		History: make([]historyPoint, 0, len(p.history[r.ID])),
	}
	for _, point := range p.history[r.ID] {
		out.History = append(out.History, historyPoint(point))
	}
	switch {
	case r.APIRef.IsZero():
		out.Error = null.Of("no API credentials")
	case !polled:
		out.Error = null.Of("not polled yet")
	default:
		out.Error = null.Of(poll.Error)
	}
	if polled {
		out.PolledAt = &poll.At
	}
	if out.State == networkviews.ConditionUp {
		out.Reachable, out.BoardName, out.Version = true, null.Of(poll.BoardName), null.Of(poll.Version)
		out.CPUPercent, out.MemoryPercent = &poll.CPUPercent, &poll.MemoryPercent
		out.UptimeSeconds = &poll.UptimeSeconds
		if poll.Error == "" { // else the router refused to tell its sessions
			out.ActiveSessions = &poll.ActiveSessions
		}
	}
	return out
}

// pollShape is one poll, for a chart. What a silent router did not say is null, never 0.
type pollShape struct {
	At             time.Time `json:"at"`
	Reachable      bool      `json:"reachable"`
	CPUPercent     *int      `json:"cpuPercent" doc:"null: not answered"`
	MemoryPercent  *int      `json:"memoryPercent" doc:"null: not answered"`
	ActiveSessions *int      `json:"activeSessions" doc:"null: not answered, or not told by the router"`
	ResponseMs     *int64    `json:"responseMs" doc:"null: not answered"`
}

// pollWindow is the age of the oldest poll in an answer.
const pollWindow = 24 * time.Hour

// polls answers with the polls of the last day.
func (a API) polls(ctx context.Context, c *httpapi.Call) error {
	device, err := a.device(ctx, c)
	if err != nil {
		return err
	}
	rows, err := a.Fleet.History(ctx, c.Org.ID, device, a.Clock.Now().Add(-pollWindow))
	if err != nil {
		return err
	}
	out := httpapi.ListOf[pollShape]{Data: make([]pollShape, 0, len(rows))}
	for _, p := range rows {
		out.Data = append(out.Data, showPoll(p))
	}
	return c.Send(200, out)
}

// showPoll writes one poll.
func showPoll(p networkviews.Poll) pollShape {
	out := pollShape{At: p.At, Reachable: p.Reachable}
	if !p.Reachable {
		return out
	}
	out.CPUPercent, out.MemoryPercent, out.ResponseMs = &p.CPUPercent, &p.MemoryPercent, &p.ResponseMs
	if p.Error == "" { // else the router refused to tell its sessions
		out.ActiveSessions = &p.ActiveSessions
	}
	return out
}
