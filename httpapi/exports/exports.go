// Package exportsapi serves the copy of all that an organization has.
package exportsapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases/exports"
)

// Exports serves /exports.
type Exports struct {
	Cases exportscases.Exports
	Clock clock.Clock
}

// Routes lists the endpoints of exports.
func (a Exports) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "POST", Path: "/exports", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Ask for a copy of all that the organization has", Response: exportResponse{}, Status: 202,
			Handle: a.ask, Codes: []string{"rate_limited"},
		},
		{
			Method: "GET", Path: "/exports/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Whether the copy can be fetched, and where", Response: exportResponse{}, Handle: a.get,
		},
		{
			Method: "GET", Path: "/exports/:id/file", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Fetch the copy, a zip of tables; the audit log tells it", Produces: "application/zip",
			Handle: a.fetch, Codes: []string{"export_not_ready", "export_failed", "export_ended"},
		},
	}
}

// exportState makes the description list the states.
type exportState string

// Texts implements httpapi.Enumerated.
func (exportState) Texts() []string { return []string{"queued", "finished", "ended", "failed"} }

// exportResponse is a copy of all that the organization has (docs/rules/subscribers-import.md#export).
type exportResponse struct {
	ID      id.Export   `json:"id"`
	State   exportState `json:"state"`
	URL     *string     `json:"url" doc:"where it can be fetched; null before and after"`
	Bytes   int64       `json:"bytes"`
	AskedAt time.Time   `json:"askedAt"`
	EndsAt  *time.Time  `json:"endsAt" doc:"from when on it is no longer kept"`
}

// ask begins a copy.
func (a Exports) ask(ctx context.Context, c *httpapi.Call) error {
	of, err := a.Cases.Ask(ctx, c.Asked())
	if err != nil {
		return err
	}
	state, err := a.Cases.Get(ctx, c.Org.ID, of)
	if err != nil {
		return err
	}
	return c.Send(202, a.show(state))
}

// get tells how far a copy is.
func (a Exports) get(ctx context.Context, c *httpapi.Call) error {
	of, err := httpapi.PathID[id.Export](c, "id", commands.ErrNoExport)
	if err != nil {
		return err
	}
	state, err := a.Cases.Get(ctx, c.Org.ID, of)
	if err != nil {
		return err
	}
	return c.Send(200, a.show(state))
}

// fetch sends the copy part by part. That it is fetched is recorded before the first byte.
func (a Exports) fetch(ctx context.Context, c *httpapi.Call) error {
	of, err := httpapi.PathID[id.Export](c, "id", commands.ErrNoExport)
	if err != nil {
		return err
	}
	state, err := a.Cases.Fetch(ctx, c.Asked(), of)
	if err != nil {
		return err
	}
	for part := range state.Parts {
		plain, err := a.Cases.Part(ctx, c.Org.ID, of, part)
		if err != nil {
			return err
		}
		if part == 0 {
			head := c.Writer.Header()
			head.Set("Content-Type", "application/zip")
			head.Set("Content-Disposition", `attachment; filename="`+c.Org.Slug+"-"+
				state.AskedAt.UTC().Format(time.DateOnly)+`.zip"`)
			head.Set("Content-Length", strconv.FormatInt(state.Bytes, 10))
			c.Writer.WriteHeader(http.StatusOK)
		}
		if _, err := c.Writer.Write(plain); err != nil {
			return nil //nolint:nilerr // the client has gone
		}
	}
	return nil
}

// show writes a copy with its address as long as it can be fetched.
func (a Exports) show(s exportscases.Copy) exportResponse {
	out := exportResponse{ID: s.ID, State: "queued", Bytes: s.Bytes, AskedAt: s.AskedAt}
	if s.Failed {
		out.State = "failed"
	}
	if s.Parts == 0 {
		return out
	}
	out.State, out.EndsAt = "ended", &s.EndsAt
	if a.Clock.Now().Before(s.EndsAt) {
		url := "/exports/" + s.ID.String() + "/file"
		out.State, out.URL = "finished", &url
	}
	return out
}
