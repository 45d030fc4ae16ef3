package telemetry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// endSize is how many sessions end in one transaction without a report of their own, at most: all reports of all
// organizations wait for it.
const endSize = 2_000

// errManyEnd refuses reports by which more sessions would end: CloseRestarted ends some of them first.
var errManyEnd = errors.New("restarts of routers end too many sessions for one transaction")

// restartedSQL reads when routers restarted.
const restartedSQL = `select device_id, restarted_at from {schema}.routers where device_id = any($1::uuid[])`

// saveRestartsSQL writes the restarts of routers.
const saveRestartsSQL = `insert into {schema}.routers (device_id, org_id, restarted_at)
	select * from unnest($1::uuid[], $2::uuid[], $3::timestamptz[])
	on conflict (device_id) do update set org_id = excluded.org_id,
		restarted_at = greatest(routers.restarted_at, excluded.restarted_at)`

// forgetRestartsSQL deletes restarts of routers that are from when our clock was ahead. Only who saw that it was put
// back does so: to a clock that is behind, all restarts are still to come.
const forgetRestartsSQL = `delete from {schema}.routers where device_id = any($1::uuid[]) and restarted_at > $2`

// endedSQL finds what routers had before they restarted. The offset keeps the conditions on instants away from the
// choice of the index: by that of instants, all sessions that a router ever had would be read.
const endedSQL = `select x.id from unnest($1::uuid[], $2::timestamptz[]) r (device, at)
	cross join lateral (select * from {schema}.sessions o where o.device_id = r.device and o.ended_at is null
		offset 0) x
	where x.started_at < r.at and x.updated_at <= r.at limit $3`

// closeRestartedSQL ends those of some sessions that routers still had before they restarted.
const closeRestartedSQL = `update {schema}.sessions s
	set ended_at = s.updated_at, ` + concludedSQL + `, end_reason = '` + ReasonRestarted + `'
	from unnest($2::uuid[], $3::timestamptz[]) r (device, at)
	where s.id = any($1::uuid[]) and s.device_id = r.device and s.ended_at is null
		and s.started_at < r.at and s.updated_at <= r.at
	returning s.device_id`

// restarting gives the routers of which reports tell that they restarted, and when they did last.
func restarting(reports []Report) (devices []pgtype.UUID, at []time.Time) {
	last := map[id.Device]time.Time{}
	for _, r := range reports {
		if r.restarts() {
			last[r.Device] = maxTime(last[r.Device], r.At)
		}
	}
	for device, when := range last {
		devices, at = append(devices, key(device)), append(at, when)
	}
	return devices, at
}

// queueEnded reads what restarts end, or at least more than may end at once.
func (s *Store) queueEnded(batch *pgx.Batch, b *book, devices []pgtype.UUID, at []time.Time) {
	batch.Queue(s.sql.ended, devices, at, s.endSize+1).Query(func(rows pgx.Rows) (err error) {
		b.ended, err = pgx.CollectRows(rows, pgx.RowTo[SessionID])
		return err
	})
}

// queueRestarts writes the restarts that a book has, and ends what the routers had before, which it takes from opened.
// Of the sessions that reports of the group are about the book has decided.
func (s *Store) queueRestarts(batch *pgx.Batch, b *book, opened map[id.Device]int) {
	if len(b.restarts) == 0 {
		return
	}
	var devices, orgs []pgtype.UUID
	var at []time.Time
	for device, org := range b.restarts {
		devices, orgs = append(devices, key(device)), append(orgs, key(org))
		at = append(at, b.restarted[device])
	}
	batch.Queue(s.sql.restart, devices, orgs, at)
	batch.Queue(s.sql.close, keys(b.ended), devices, at).Query(func(rows pgx.Rows) error {
		var device id.Device
		_, err := pgx.ForEachRow(rows, []any{&device}, func() error {
			opened[device]--
			return nil
		})
		return err
	})
}

// CloseRestarted ends sessions that the restart of a router ends, in a transaction of its own, and reports whether
// those are all. The restart is not in the tables before its report is committed, so whoever is killed in between
// finds it where the report waits.
func (s *Store) CloseRestarted(ctx context.Context, restart Report) (all bool, err error) {
	restart = restart.clean()
	devices, at := restarting([]Report{restart})
	var ended []SessionID
	err = s.locked(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, s.sql.ended, devices, at, s.endSize)
		if err != nil {
			return err
		}
		if ended, err = pgx.CollectRows(rows, pgx.RowTo[SessionID]); err != nil || len(ended) == 0 {
			return err
		}
		_, err = tx.Exec(ctx, s.sql.close, keys(ended), devices, at)
		return err
	})
	if err != nil {
		if away(err) {
			s.crowds.forget([]Report{restart})
		}
		return false, fmt.Errorf("close sessions of a router: %w", err)
	}
	s.crowds.changed(map[id.Device]int{restart.Device: -len(ended)})
	return len(ended) < s.endSize, nil
}
