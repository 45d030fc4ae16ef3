// Package outbox holds the integration events that the platform publishes, in the order of the log. A message is
// published through Watermill's Publisher into the table, in the transaction that moves the checkpoint: it is there
// exactly once, and never before an earlier one. Source: docs/rules/webhooks.md#outbox.
package outbox

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Name is the projection's durable name.
const Name = "outbox"

// DriftDetected is the type of the message about a service that is not as it was applied.
const DriftDetected = "nas.service.drift_detected"

// Outbox publishes integration events.
type Outbox struct{}

//go:embed outbox.sql
var ddl string

// Name is the durable name.
func (Outbox) Name() string { return Name }

// Version is raised when tables or Apply change.
func (Outbox) Version() int { return 1 }

// DDL creates the tables.
func (Outbox) DDL() string { return ddl }

// TenantTables are under row-level security.
func (Outbox) TenantTables() []string { return []string{"messages"} }

// Handles lists the events.
func (Outbox) Handles() []string { return []string{events.ServiceDriftDetected{}.EventType()} }

// driftData is the data of DriftDetected.
type driftData struct {
	ServiceID   id.Service               `json:"serviceId"`
	DeviceID    id.Device                `json:"deviceId"`
	FirstSeenAt time.Time                `json:"firstSeenAt"`
	Resources   []events.DriftedResource `json:"resources"`
	Hash        string                   `json:"hash"`
}

// Apply publishes what an event means to the outside.
func (Outbox) Apply(w *runner.Writes, e events.Envelope) error {
	v, ok := e.Event.(events.ServiceDriftDetected)
	if !ok {
		return nil
	}
	msg, err := newMessage(e, v.OrgID, driftData{v.ServiceID, v.DeviceID, v.FirstSeenAt, v.Resources, v.Hash})
	if err != nil {
		return err
	}
	return table{w}.Publish(DriftDetected, msg)
}

// Metadata of a message.
const (
	keyOrg      = "org_id"
	keyPosition = "position"
	keyAt       = "at"
)

// newMessage is a Watermill message about an event. Its id follows from the event's, so that it is the same at every
// rebuild.
func newMessage(e events.Envelope, org id.Organization, data any) (*message.Message, error) {
	payload, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("write message: %w", err)
	}
	msg := message.NewMessage(id.Derive[id.Any]("outbox", e.ID.String()).String(), payload)
	msg.Metadata.Set(keyOrg, org.String())
	msg.Metadata.Set(keyPosition, strconv.FormatUint(e.Position, 10))
	msg.Metadata.Set(keyAt, e.Meta.At.UTC().Format(time.RFC3339Nano))
	return msg, nil
}

// table is a Watermill publisher into the outbox's table. The topic is the message's type.
type table struct{ w *runner.Writes }

// table is Watermill's.
var _ message.Publisher = table{}

// publishSQL writes a message once.
const publishSQL = `
insert into {schema}.messages (position, ordinal, message_id, org_id, type, at, payload)
values (@position, @ordinal, @message, @org, @type, @at, @payload)
on conflict do nothing`

// Publish queues the messages; they are there when the batch of events commits.
func (t table) Publish(topic string, messages ...*message.Message) error {
	for i, msg := range messages {
		org, err := id.Parse[id.Organization](msg.Metadata.Get(keyOrg))
		if err != nil {
			return fmt.Errorf("publish %s: %w", topic, err)
		}
		name, err := id.Parse[id.Any](msg.UUID)
		if err != nil {
			return fmt.Errorf("publish %s: %w", topic, err)
		}
		position, err := strconv.ParseInt(msg.Metadata.Get(keyPosition), 10, 64)
		if err != nil {
			return fmt.Errorf("publish %s: %w", topic, err)
		}
		at, err := time.Parse(time.RFC3339Nano, msg.Metadata.Get(keyAt))
		if err != nil {
			return fmt.Errorf("publish %s: %w", topic, err)
		}
		t.w.Exec(publishSQL, pgx.NamedArgs{
			"position": position, "ordinal": i, "message": name, "org": org, "type": topic, "at": at,
			"payload": string(msg.Payload),
		})
	}
	return nil
}

// Close has nothing to do: the runner sends what was queued.
func (table) Close() error { return nil }

// Row is one message.
type Row struct {
	Position int64           `db:"position"`
	Ordinal  int             `db:"ordinal"`
	ID       id.Any          `db:"message_id"`
	OrgID    id.Organization `db:"org_id"`
	Type     string          `db:"type"`
	At       time.Time       `db:"at"`
	Payload  json.RawMessage `db:"payload"`
}

// Query reads the outbox.
type Query struct{ Views *runner.Views }

// Key is the place of a message: the order of the log. The zero value is before all.
type Key struct {
	Position int64 `json:"p"`
	Ordinal  int   `json:"o"`
}

// Key is where the row stands in the list.
func (r Row) Key() Key { return Key{Position: r.Position, Ordinal: r.Ordinal} }

// After gives up to max messages of an organization behind a place, oldest first.
func (q Query) After(ctx context.Context, org id.Organization, after Key, max int) ([]Row, error) {
	var rows []Row
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[Row],
			q.Views.SQL(Name, `
			select position, ordinal, message_id, org_id, type, at, payload from {schema}.messages
			where org_id = $1 and (position, ordinal) > ($2, $3) order by position, ordinal limit $4`),
			org, after.Position, after.Ordinal, max)
	})
	return rows, err
}
