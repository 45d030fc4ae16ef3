package auditapi

import (
	"cmp"
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

// Outbox serves /outbox, where other systems read integration events.
type Outbox struct{ Messages outbox.Query }

// outboxMessage is the envelope of an event for other systems, with its position in the log
// (docs/rules/webhooks.md#envelope).
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

// list answers with a page of messages, oldest first. With a cursor, the parameter after is ignored.
func (a Outbox) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	first := outbox.Key{Position: -1, Ordinal: math.MaxInt32}
	if text := f.Text("after"); text != "" {
		position, err := strconv.ParseInt(text, 10, 64)
		if err != nil || position < 0 {
			f.Add("after", "must be a whole number from 0")
		}
		first.Position = position
	}
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, showMessage, func(
		ctx context.Context, after outbox.Key, max int,
	) ([]outbox.Row, error) {
		return a.Messages.After(ctx, c.Org.ID, cmp.Or(after, first), max)
	})
}

// showMessage is the envelope that endpoints of other systems get, too.
func showMessage(r outbox.Row) outboxMessage { return outboxMessage(r.Envelope()) }
