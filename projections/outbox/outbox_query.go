package outbox

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Row is one message, as delivered. At is the time of the event, UTC.
type Row struct {
	Position int64           `db:"position"`
	Ordinal  int             `db:"ordinal"`
	ID       id.Any          `db:"message_id"`
	OrgID    id.Organization `db:"org_id"`
	Type     string          `db:"type"`
	At       time.Time       `db:"at"`
	Payload  json.RawMessage `db:"payload"`
}

// Envelope is a message as other systems get it (docs/rules/webhooks.md#envelope).
type Envelope struct {
	ID        id.Any          `json:"id"`
	Type      string          `json:"type"`
	OrgID     id.Organization `json:"orgId"`
	Timestamp time.Time       `json:"timestamp"`
	Position  uint64          `json:"position"`
	Data      json.RawMessage `json:"data"`
}

// Envelope writes the time in UTC and leaves the payload as it was stored.
func (r Row) Envelope() Envelope {
	return Envelope{
		ID: r.ID, Type: r.Type, OrgID: r.OrgID, Timestamp: r.At.UTC(),
		Position: uint64(r.Position), //nolint:gosec // not negative
		Data:     r.Payload,
	}
}

// Query serves an organization's messages to those who deliver them.
type Query struct{ Views *runner.Views }

// Key is a message's place in the order of the log. The zero value is before the first message.
type Key struct {
	Position int64 `json:"p"`
	Ordinal  int   `json:"o"`
}

// Key makes the next page begin after this message.
func (r Row) Key() Key { return Key{Position: r.Position, Ordinal: r.Ordinal} }

// After returns up to max messages of an organization after a place, oldest first.
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

// Range returns up to max messages of some organizations in (after, upTo], oldest first, for those who deliver them.
func (q Query) Range(
	ctx context.Context, orgs []id.Organization, after Key, upTo int64, max int,
) (rows []Row, err error) {
	ids := make([]uuid.UUID, len(orgs))
	for i, org := range orgs {
		ids[i] = org.UUID()
	}
	err = q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[Row],
			q.Views.SQL(Name, `
			select position, ordinal, message_id, org_id, type, at, payload from {schema}.messages
			where (position, ordinal) > ($1, $2) and position <= $3 and org_id = any($4)
			order by position, ordinal limit $5`),
			after.Position, after.Ordinal, upTo, ids, max)
	})
	return rows, err
}
