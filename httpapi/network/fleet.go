package networkapi

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// fleetRow is a router with its last poll (docs/rules/network.md#fleet-polls).
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

// fleet answers with a page of routers and their last polls.
func (a API) fleet(ctx context.Context, c *httpapi.Call) error {
	var polls map[id.Device]networkviews.Poll // of the page's routers
	return httpapi.SendList(ctx, c, func(r networkviews.DeviceRow) fleetRow { return showFleet(r, polls) }, func(
		ctx context.Context, after networkviews.DeviceKey, max int,
	) ([]networkviews.DeviceRow, error) {
		rows, err := a.Devices.List(ctx, c.Org.ID, after, max)
		if err != nil {
			return nil, err
		}
		ids := make([]id.Device, 0, len(rows))
		for _, r := range rows {
			ids = append(ids, r.ID)
		}
		polls, err = a.Fleet.Latest(ctx, c.Org.ID, ids)
		return rows, err
	})
}

// showFleet shows a load only when the last poll was answered; error says what is missing and why.
func showFleet(r networkviews.DeviceRow, polls map[id.Device]networkviews.Poll) fleetRow {
	out := fleetRow{DeviceID: r.ID, Name: r.Details.Name}
	p, polled := polls[r.ID]
	switch {
	case r.APIRef.IsZero():
		out.Error = null.Of("no API credentials")
	case !polled:
		out.Error = null.Of("not polled yet")
	default:
		out.Error = null.Of(p.Error)
	}
	if polled {
		out.PolledAt = &p.At
	}
	if polled && p.Reachable && !r.APIRef.IsZero() {
		out.Reachable, out.BoardName, out.Version = true, null.Of(p.BoardName), null.Of(p.Version)
		out.CPUPercent, out.MemoryPercent, out.UptimeSeconds = &p.CPUPercent, &p.MemoryPercent, &p.UptimeSeconds
		if p.Error == "" { // else the router refused to tell its sessions
			out.ActiveSessions = &p.ActiveSessions
		}
	}
	return out
}

// pollShape is one poll, for a chart.
type pollShape struct {
	At             time.Time `json:"at"`
	Reachable      bool      `json:"reachable"`
	CPUPercent     int       `json:"cpuPercent"`
	MemoryPercent  int       `json:"memoryPercent"`
	ActiveSessions int       `json:"activeSessions"`
	ResponseMs     int64     `json:"responseMs"`
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
		out.Data = append(out.Data, pollShape{
			At: p.At, Reachable: p.Reachable, CPUPercent: p.CPUPercent, MemoryPercent: p.MemoryPercent,
			ActiveSessions: p.ActiveSessions, ResponseMs: p.ResponseMs,
		})
	}
	return c.Send(200, out)
}

// historyShape is one event of a router or of a service on it.
type historyShape struct {
	At        time.Time          `json:"at"`
	Kind      string             `json:"kind" doc:"requested, changed, applied, repaired, failed, drift_detected, ..."`
	Summary   string             `json:"summary"`
	ServiceID *id.Service        `json:"serviceId"`
	Actor     httpapi.AuditActor `json:"actor"`
	Detail    any                `json:"detail" doc:"the event as it was recorded"`
}

// showHistory leaves out the actor's name and role, which the read model does not have.
func showHistory(r networkviews.HistoryRow) historyShape {
	return historyShape{At: r.At, Kind: r.Kind, Summary: r.Summary, ServiceID: null.Of(r.ServiceID),
		Actor: httpapi.AuditActor{ID: null.Of(r.ActorID), Kind: httpapi.ActorKind(r.ActorKind)}, Detail: r.Detail}
}

// deviceHistory answers with a page of the events of a router and its services, newest first.
func (a API) deviceHistory(ctx context.Context, c *httpapi.Call) error {
	device, err := httpapi.PathID[id.Device](c, "id", commands.ErrNoDevice)
	if err != nil {
		return err
	}
	if _, err := a.oneDevice().Find(ctx, c, device); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, showHistory, func(
		ctx context.Context, after networkviews.HistoryKey, max int,
	) ([]networkviews.HistoryRow, error) {
		return a.History.OfDevice(ctx, c.Org.ID, device, after, max)
	})
}
