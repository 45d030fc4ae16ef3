package auditapi

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/outbox"
)

// Outbox serves the integration events.
type Outbox struct{ Messages outbox.Query }

// outboxMessage is spec.md's event envelope with the position.
type outboxMessage struct {
	ID        id.Any          `json:"id"`
	Type      string          `json:"type"`
	OrgID     id.Organization `json:"orgId"`
	Timestamp time.Time       `json:"timestamp"`
	Position  uint64          `json:"position" doc:"of the log: give the last one as after"`
	Data      json.RawMessage `json:"data"`
}

// Routes lists the endpoints.
func (a Outbox) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: http.MethodGet, Path: "/outbox", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Row: outboxMessage{}, Summary: "Integration events in the order of the log, oldest first",
			Query:  []httpapi.Param{{Name: "after", Type: "integer", Doc: "position of the last one that is known"}},
			Handle: a.list,
		},
	}
}

// list answers with a page of messages.
func (a Outbox) list(ctx context.Context, c *httpapi.Call) error {
	page, err := httpapi.PageOf[outbox.Key](c)
	if err != nil {
		return err
	}
	f := c.Filters()
	after := outbox.Key{Position: -1, Ordinal: math.MaxInt32}
	if text := f.Text("after"); text != "" {
		position, err := strconv.ParseInt(text, 10, 64)
		if err != nil || position < 0 {
			f.Faults.Add("after", "must be a whole number from 0")
		}
		after.Position = position
	}
	if err := f.Err(); err != nil {
		return err
	}
	if page.After != nil {
		after = *page.After
	}
	rows, err := a.Messages.After(ctx, c.Org.ID, after, page.Fetch())
	if err != nil {
		return err
	}
	return httpapi.SendPage(c, page, rows, func(r outbox.Row) outbox.Key {
		return outbox.Key{
			Position: r.Position, Ordinal: r.Ordinal,
		}
	},
		func(r outbox.Row) outboxMessage {
			//nolint:gosec // not negative
			return outboxMessage{
				ID: r.ID, Type: r.Type, OrgID: r.OrgID, Timestamp: r.At.UTC(), Position: uint64(r.Position),
				Data: r.Payload,
			}
		})
}
