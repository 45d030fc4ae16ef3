// Package webhooksjobs delivers messages to the endpoints of organizations' own systems. Deliveries are rows of tables
// of their own: a billing run makes tens of thousands of them in a minute, and the business decides on none of them
// (ADR 0030). One program at a time delivers; it makes the rows from the outbox, claims those that are due, calls the
// endpoints side by side, and records the outcomes in groups. Source: docs/rules/webhooks.md#delivery.
package webhooksjobs

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/outbox"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/webhooks"
)

// part is the name of the schema within the installation's namespace.
const part = "webhooks"

// migrations are goose files; {schema} in them stands for the schema of deliveries.
//
//go:embed migrations
var migrations embed.FS

// Store has the deliveries. Organizations read theirs under row-level security. Safe for concurrent use.
type Store struct {
	db     *postgres.DB
	schema string
}

// OpenStore migrates the tables to the newest version.
func OpenStore(ctx context.Context, db *postgres.DB) (*Store, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, fmt.Errorf("open deliveries: %w", err)
	}
	if err := db.Migrate(ctx, part, files); err != nil {
		return nil, err
	}
	s := &Store{db: db, schema: db.Namespace.Schema(part)}
	return s, db.ProtectTable(ctx, s.schema, "deliveries")
}

// sql puts the schema's name into a statement in place of {schema}.
func (s *Store) sql(text string) string { return strings.ReplaceAll(text, "{schema}", s.schema) }

// Delivery is one to be made.
type Delivery struct {
	OrgID     id.Organization
	WebhookID id.Webhook
	MessageID id.Any
	Type      string
	Position  int64
	Body      string
	Once      bool // a ping
}

// insertSQL makes deliveries that are due at once. One that exists stays as it is.
const insertSQL = `
insert into {schema}.deliveries
	(delivery_id, org_id, webhook_id, message_id, type, position, body, once, state, next_at, created_at)
select n.*, 'pending', @now, @now from unnest(
	@ids::uuid[], @orgs::uuid[], @webhooks::uuid[], @messages::uuid[], @types::text[], @positions::bigint[],
	@bodies::text[], @once::boolean[]) as n
on conflict do nothing`

// insertion gives the arguments of insertSQL.
func insertion(list []Delivery, now time.Time) pgx.NamedArgs {
	n := len(list)
	ids, orgs, hooks := make([]uuid.UUID, n), make([]uuid.UUID, n), make([]uuid.UUID, n)
	messages, types, positions := make([]uuid.UUID, n), make([]string, n), make([]int64, n)
	bodies, once := make([]string, n), make([]bool, n)
	for i, d := range list {
		ids[i], orgs[i] = webhooksviews.DeliveryOf(d.WebhookID, d.MessageID).UUID(), d.OrgID.UUID()
		hooks[i], messages[i], types[i] = d.WebhookID.UUID(), d.MessageID.UUID(), d.Type
		positions[i], bodies[i], once[i] = d.Position, d.Body, d.Once
	}
	return pgx.NamedArgs{
		"ids": ids, "orgs": orgs, "webhooks": hooks, "messages": messages, "types": types, "positions": positions,
		"bodies": bodies, "once": once, "now": now,
	}
}

// Put makes one delivery, which is due at once.
func (s *Store) Put(ctx context.Context, d Delivery, now time.Time) error {
	if _, err := s.db.Owner.Exec(ctx, s.sql(insertSQL), insertion([]Delivery{d}, now)); err != nil {
		return fmt.Errorf("make delivery: %w", err)
	}
	return nil
}

// Progress is how far deliveries were made.
type Progress struct {
	outbox.Key             // the message up to which there are deliveries
	Mark       runner.Mark // the newest event of the log up to there that is known
}

// Progress gives how far deliveries were made.
func (s *Store) Progress(ctx context.Context) (at Progress, err error) {
	err = s.db.Owner.QueryRow(ctx, s.sql(`select position, ordinal, mark from {schema}.progress`)).
		Scan(&at.Position, &at.Ordinal, &at.Mark)
	if err != nil {
		return at, fmt.Errorf("read progress of deliveries: %w", err)
	}
	return at, nil
}

// errOvertaken reports that another program has made the deliveries meanwhile.
var errOvertaken = errors.New("another program makes the deliveries")

// advanceSQL moves the progress, unless another program has moved it since it was read.
const advanceSQL = `
update {schema}.progress set position = $1, ordinal = $2, mark = $5 where position = $3 and ordinal = $4`

// FanOut makes the deliveries of the messages in (from, to], in one transaction with the progress: each once.
func (s *Store) FanOut(ctx context.Context, from, to Progress, list []Delivery, now time.Time) error {
	return pgx.BeginFunc(ctx, s.db.Owner, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, s.sql(advanceSQL), to.Position, to.Ordinal, from.Position, from.Ordinal,
			to.Mark)
		switch {
		case err != nil:
			return fmt.Errorf("move progress of deliveries: %w", err)
		case tag.RowsAffected() == 0:
			return errOvertaken
		case len(list) == 0:
			return nil
		}
		if _, err := tx.Exec(ctx, s.sql(insertSQL), insertion(list, now)); err != nil {
			return fmt.Errorf("make %d deliveries: %w", len(list), err)
		}
		return nil
	})
}

// againSQL has a delivery that has ended begin anew, and one that waits be tried at once. One that is just being tried
// stays as it is.
const againSQL = `
update {schema}.deliveries set
	failures = case when state = 'pending' then failures else 0 end,
	state = 'pending', error = '', next_at = $3, ended_at = null
where org_id = $1 and delivery_id = $2 and begun_at is null`

// Again has a message delivered once more.
func (s *Store) Again(ctx context.Context, org id.Organization, which id.Delivery, now time.Time) error {
	if _, err := s.db.Owner.Exec(ctx, s.sql(againSQL), org, which, now); err != nil {
		return fmt.Errorf("deliver %s again: %w", which, err)
	}
	return nil
}

// deliverySelect fits webhooksviews.DeliveryRow; a condition follows.
const deliverySelect = `
select delivery_id, org_id, webhook_id, message_id, type, position, body, state, error, attempts, tries, next_at,
	created_at,
	ended_at from {schema}.deliveries where org_id = @org and `

// Get gives a delivery of an organization, nil when it has none with this id.
func (s *Store) Get(
	ctx context.Context, org id.Organization, which id.Delivery,
) (row *webhooksviews.DeliveryRow, err error) {
	err = s.db.TenantRead(ctx, org.UUID(), func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[webhooksviews.DeliveryRow],
			s.sql(deliverySelect+`delivery_id = @delivery`), pgx.NamedArgs{"org": org, "delivery": which})
	})
	return row, err
}

// List gives up to max deliveries of an organization after a key, newest first.
func (s *Store) List(
	ctx context.Context, org id.Organization, f webhooksviews.DeliveryFilter, after webhooksviews.DeliveryKey, max int,
) (rows []webhooksviews.DeliveryRow, err error) {
	where, args := "", pgx.NamedArgs{"org": org, "max": max}
	if !f.Webhook.IsZero() {
		where, args["webhook"] = where+`webhook_id = @webhook and `, f.Webhook
	}
	if f.State != "" {
		where, args["state"] = where+`state = @state and `, f.State
	}
	args["at"], args["id"] = null.Time(after.CreatedAt), after.ID
	err = s.db.TenantRead(ctx, org.UUID(), func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[webhooksviews.DeliveryRow], s.sql(deliverySelect+where+`
			(@at::timestamptz is null or (created_at, delivery_id) < (@at, @id))
			order by created_at desc, delivery_id desc limit @max`), args)
	})
	return rows, err
}

// purgeSQL deletes old deliveries, so many at once that others can write in between.
const purgeSQL = `
delete from {schema}.deliveries where delivery_id in (
	select delivery_id from {schema}.deliveries where ended_at < $1 limit 5000)`

// Purge deletes deliveries that ended before an instant.
func (s *Store) Purge(ctx context.Context, before time.Time) error {
	for {
		tag, err := s.db.Owner.Exec(ctx, s.sql(purgeSQL), before)
		if err != nil {
			return fmt.Errorf("purge deliveries: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return nil
		}
	}
}
