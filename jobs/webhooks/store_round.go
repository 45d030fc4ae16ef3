package webhooksjobs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/webhooks"
)

// claimed is a delivery that is being tried.
type claimed struct {
	ID        id.Delivery     `db:"delivery_id"`
	OrgID     id.Organization `db:"org_id"`
	WebhookID id.Webhook      `db:"webhook_id"`
	MessageID id.Any          `db:"message_id"`
	Body      string          `db:"body"`
	Once      bool            `db:"once"`
	Tries     int             `db:"tries"`
	Failures  int             `db:"failures"`
	BegunAt   time.Time       `db:"begun_at"`
}

// outcome says what became of an attempt, and what follows.
type outcome struct {
	claimed
	attempt  webhooksviews.Attempt
	state    string
	error    string
	failures int
	nextAt   *time.Time
	endedAt  *time.Time
}

// room is how many deliveries of an endpoint may begin now.
type room struct {
	webhook id.Webhook
	seats   int
	pings   bool // nothing else
}

// health changes the memory of failures of an endpoint.
type health struct {
	webhook id.Webhook
	org     id.Organization
	enabled int64     // position of the event that enabled it last
	since   time.Time // zero = an attempt succeeded
	failed  int
}

// Statements of a round.
const (
	// At most twenty attempts are kept. The outcome of an attempt that was recorded already changes nothing.
	outcomesSQL = `
update {schema}.deliveries d set
	attempts = case when jsonb_array_length(d.attempts) < 20 then d.attempts else d.attempts - 0 end
		|| o.attempt::jsonb,
	tries = d.tries + 1, failures = o.failures, state = o.state, error = o.error, next_at = o.next_at,
	ended_at = o.ended_at, begun_at = null
from unnest(@ids::uuid[], @begun::timestamptz[], @attempts::text[], @states::text[], @errors::text[],
	@failures::integer[], @next::timestamptz[], @ended::timestamptz[])
	as o (delivery_id, begun_at, attempt, state, error, failures, next_at, ended_at)
where d.delivery_id = o.delivery_id and d.begun_at = o.begun_at`
	claimSQL = `
with due as (
	select next.delivery_id from unnest(@webhooks::uuid[], @seats::integer[], @pings::boolean[])
		as free (webhook_id, seats, pings)
	cross join lateral (
		select d.delivery_id from {schema}.deliveries d
		where d.webhook_id = free.webhook_id and d.state = 'pending' and d.begun_at is null and d.next_at <= @now
			and (d.once or not free.pings)
		order by d.next_at, d.position limit free.seats
	) as next
)
update {schema}.deliveries d set begun_at = @now from due where d.delivery_id = due.delivery_id
returning d.delivery_id, d.org_id, d.webhook_id, d.message_id, d.body, d.once, d.tries, d.failures, d.begun_at`
	healthSQL = `
insert into {schema}.failing as f (webhook_id, org_id, enabled_position, since, failed)
select * from unnest(@webhooks::uuid[], @orgs::uuid[], @enabled::bigint[], @since::timestamptz[], @failed::integer[])
on conflict (webhook_id) do update set
	enabled_position = excluded.enabled_position, since = excluded.since, failed = excluded.failed`
	healthySQL = `delete from {schema}.failing where webhook_id = any($1)`
)

// round records outcomes and claims what may begin, in one transaction: what is claimed is known to be under way before
// it is sent, so that the log of a delivery never hides an attempt that a crash cut off.
func (s *Store) round(
	ctx context.Context, now time.Time, outcomes []outcome, changes []health, rooms []room,
) (list []claimed, err error) {
	batch := &pgx.Batch{}
	if len(outcomes) > 0 {
		args, err := recording(outcomes)
		if err != nil {
			return nil, err
		}
		batch.Queue(s.sql(outcomesSQL), args)
	}
	s.queueHealth(batch, changes)
	if len(rooms) > 0 {
		batch.Queue(s.sql(claimSQL), claiming(rooms, now)).Query(func(rows pgx.Rows) (err error) {
			list, err = pgx.CollectRows(rows, pgx.RowToStructByName[claimed])
			return err
		})
	}
	if err := s.db.Owner.SendBatch(ctx, batch).Close(); err != nil { // one implicit transaction
		return nil, fmt.Errorf("record %d deliveries: %w", len(outcomes), err)
	}
	return list, nil
}

// recording gives the arguments of outcomesSQL.
func recording(list []outcome) (pgx.NamedArgs, error) {
	n := len(list)
	ids, begun, attempts := make([]uuid.UUID, n), make([]time.Time, n), make([]string, n)
	states, faults, failures := make([]string, n), make([]string, n), make([]int32, n)
	next, ended := make([]*time.Time, n), make([]*time.Time, n)
	for i, o := range list {
		text, err := json.Marshal(o.attempt)
		if err != nil {
			return nil, fmt.Errorf("write attempt: %w", err)
		}
		ids[i], begun[i], attempts[i] = o.ID.UUID(), o.BegunAt, string(text)
		states[i], faults[i], failures[i] = o.state, o.error, int32(o.failures) //nolint:gosec // few
		next[i], ended[i] = o.nextAt, o.endedAt
	}
	return pgx.NamedArgs{
		"ids": ids, "begun": begun, "attempts": attempts, "states": states, "errors": faults, "failures": failures,
		"next": next, "ended": ended,
	}, nil
}

// claiming gives the arguments of claimSQL.
func claiming(rooms []room, now time.Time) pgx.NamedArgs {
	hooks, seats, pings := make([]uuid.UUID, len(rooms)), make([]int32, len(rooms)), make([]bool, len(rooms))
	for i, r := range rooms {
		hooks[i], seats[i], pings[i] = r.webhook.UUID(), int32(r.seats), r.pings //nolint:gosec // few
	}
	return pgx.NamedArgs{"webhooks": hooks, "seats": seats, "pings": pings, "now": now}
}

// queueHealth queues the changes of what is known about failures.
func (s *Store) queueHealth(batch *pgx.Batch, changes []health) {
	var hooks, orgs, well []uuid.UUID
	var enabled []int64
	var since []time.Time
	var failed []int32
	for _, h := range changes {
		if h.since.IsZero() {
			well = append(well, h.webhook.UUID())
			continue
		}
		hooks, orgs, enabled = append(hooks, h.webhook.UUID()), append(orgs, h.org.UUID()), append(enabled, h.enabled)
		since, failed = append(since, h.since), append(failed, int32(h.failed)) //nolint:gosec // few
	}
	if len(hooks) > 0 {
		batch.Queue(s.sql(healthSQL), pgx.NamedArgs{
			"webhooks": hooks, "orgs": orgs, "enabled": enabled, "since": since, "failed": failed,
		})
	}
	if len(well) > 0 {
		batch.Queue(s.sql(healthySQL), well)
	}
}

// failing gives what is known about the failures of all endpoints.
func (s *Store) failing(ctx context.Context) (map[id.Webhook]health, error) {
	rows, err := s.db.Owner.Query(ctx, s.sql(`
		select webhook_id, org_id, enabled_position, since, failed from {schema}.failing`))
	if err != nil {
		return nil, fmt.Errorf("read failing endpoints: %w", err)
	}
	out := map[id.Webhook]health{}
	var h health
	_, err = pgx.ForEachRow(rows, []any{&h.webhook, &h.org, &h.enabled, &h.since, &h.failed}, func() error {
		out[h.webhook] = h
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read failing endpoints: %w", err)
	}
	return out, nil
}

// dueSQL names those of some endpoints that have a delivery to be tried now.
const dueSQL = `
select hooks.webhook_id from unnest($1::uuid[]) as hooks (webhook_id) where exists (
	select from {schema}.deliveries d where d.webhook_id = hooks.webhook_id and d.state = 'pending'
		and d.begun_at is null and d.next_at <= $2)`

// due names those of some endpoints that have a delivery to be tried now.
func (s *Store) due(ctx context.Context, among []uuid.UUID, now time.Time) ([]id.Webhook, error) {
	rows, err := s.db.Owner.Query(ctx, s.sql(dueSQL), among, now)
	if err != nil {
		return nil, fmt.Errorf("look for due deliveries: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[id.Webhook])
}

// recoverSQL notes the attempts of a program that died, whose outcomes nobody knows. They are tried again at once.
const recoverSQL = `
update {schema}.deliveries set
	attempts = case when jsonb_array_length(attempts) < 20 then attempts else attempts - 0 end || jsonb_build_object(
		'at', to_char(begun_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'status', null,
		'error', $1::text, 'durationMs', 0),
	tries = tries + 1, begun_at = null, next_at = $2
where begun_at is not null`

// recover takes over the deliveries that a program was trying that died.
func (s *Store) recover(ctx context.Context, code string, now time.Time) error {
	if _, err := s.db.Owner.Exec(ctx, s.sql(recoverSQL), code, now); err != nil {
		return fmt.Errorf("take over deliveries: %w", err)
	}
	return nil
}

// takeBackSQL has deliveries wait that some claims have begun and nobody tries.
const takeBackSQL = `
update {schema}.deliveries set begun_at = null where begun_at = any($1) and delivery_id <> all($2)`

// takeBack has what was begun at some instants wait again, except for some deliveries.
func (s *Store) takeBack(ctx context.Context, begun []time.Time, except []uuid.UUID) error {
	if _, err := s.db.Owner.Exec(ctx, s.sql(takeBackSQL), begun, except); err != nil {
		return fmt.Errorf("take back deliveries: %w", err)
	}
	return nil
}

// endSQL ends what waits for endpoints that are not enabled, and also pings of those that do not exist any more. What
// came after the endpoints were read may be for one that was enabled since.
const endSQL = `
update {schema}.deliveries set state = 'failed', error = $3, next_at = null, ended_at = $4
where state = 'pending' and begun_at is null and created_at <= $4 and webhook_id <> all($1)
	and (not once or webhook_id <> all($2))`

// end ends what waits for endpoints that were not enabled at an instant. known are all that existed then.
func (s *Store) end(ctx context.Context, enabled, known []uuid.UUID, code string, at time.Time) error {
	if _, err := s.db.Owner.Exec(ctx, s.sql(endSQL), enabled, known, code, at); err != nil {
		return fmt.Errorf("end deliveries: %w", err)
	}
	_, err := s.db.Owner.Exec(ctx, s.sql(`delete from {schema}.failing where webhook_id <> all($1)`), known)
	if err != nil {
		return fmt.Errorf("forget removed endpoints: %w", err)
	}
	return nil
}
