package telemetry

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// silentSinceSQL holds for open sessions of which no report came since an instant, an earlier one for some
// organizations.
const silentSinceSQL = `s.ended_at is null and s.updated_at < $1 and not exists (
	select from unnest($2::uuid[], $3::timestamptz[]) w (org, since)
	where w.org = s.org_id and s.updated_at >= coalesce(w.since, '-infinity'))`

// SQL that finds such sessions, and that ends those of some that are still silent.
const (
	lostSQL      = `select s.id from {schema}.sessions s where ` + silentSinceSQL + ` limit $4`
	closeLostSQL = `update {schema}.sessions s
	set ended_at = s.updated_at, ` + concludedSQL + `, end_reason = '` + ReasonLost + `'
	where s.id = any($4::uuid[]) and ` + silentSinceSQL + ` returning s.org_id`
)

// mostLost bounds the sessions that are looked for at once, since each look reads all open sessions.
const mostLost = 100_000

// mostEarly bounds the sessions from when our clock was ahead that end at once.
const mostEarly = 2_000

// earlySQL reads open sessions whose last report is from when our clock was ahead, without those of some organizations.
const earlySQL = `select ` + columns + ` from {schema}.sessions x
	where x.ended_at is null and x.updated_at > $1 and x.org_id <> all(coalesce($3::uuid[], '{}')) limit $2`

// CloseLost ends sessions whose routers have told nothing for too long, and returns their number. They end with
// their last report; a newer one opens them again. Reports that wait in a spool count as not told, so for their
// organizations the instant must be earlier by as long as the oldest of them waits. Between two transactions of endSize
// sessions, reports are committed.
func (s *Store) CloseLost(ctx context.Context, silent Silence) (closed int64, err error) {
	orgs, since := silent.arrays()
	for more := true; more; {
		rows, err := s.db.Owner.Query(ctx, s.text(lostSQL), silent.Since, orgs, since, mostLost)
		if err != nil {
			return closed, fmt.Errorf("look for lost sessions: %w", err)
		}
		lost, err := pgx.CollectRows(rows, pgx.RowTo[SessionID])
		if err != nil {
			return closed, fmt.Errorf("look for lost sessions: %w", err)
		}
		before := closed
		for some := range slices.Chunk(lost, s.endSize) {
			n, err := s.closeLost(ctx, silent.Since, orgs, since, keys(some))
			if closed += n; err != nil {
				return closed, fmt.Errorf("close lost sessions: %w", err)
			}
		}
		more = len(lost) == mostLost && closed > before
	}
	return closed, nil
}

// closeLost ends those of some sessions that are silent.
func (s *Store) closeLost(ctx context.Context, args ...any) (closed int64, err error) {
	var orgs []id.Organization
	err = s.locked(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, s.text(closeLostSQL), args...)
		if err != nil {
			return err
		}
		orgs, err = pgx.CollectRows(rows, pgx.RowTo[id.Organization])
		return err
	})
	if err != nil {
		return 0, err
	}
	s.tellTurns(nil, orgs)
	return int64(len(orgs)), nil
}

// locked changes sessions in a transaction while no group of reports is being folded, since that happens in memory.
func (s *Store) locked(ctx context.Context, change func(pgx.Tx) error) error {
	return postgres.Transaction(ctx, s.db.Owner, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockSQL, s.db.Namespace.LockKey(part)); err != nil {
			return err
		}
		return change(tx)
	})
}

// CloseEarly ends open sessions of which no report came since our clock was put back by minutes, and returns their
// number: no more than mostEarly, and none of organizations of which reports wait for long. now is the present time;
// they end at an instant before it, when they were silent already.
func (s *Store) CloseEarly(ctx context.Context, now time.Time, silent Silence) (int, error) {
	var closed int
	var orgs []id.Organization
	err := s.locked(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, s.text(earlySQL), now.Add(endSlack), mostEarly, silent.behind())
		if err != nil {
			return err
		}
		list, err := pgx.CollectRows(rows, pgx.RowToAddrOfStructByName[Session])
		if closed = len(list); err != nil || closed == 0 {
			return err
		}
		for _, session := range list {
			if session.window, err = decodeWindow(session.Samples); err != nil {
				return err
			}
			session.bring(silent.Since)
			session.conclude(ReasonLost)
			session.Samples = session.window.encode()
			orgs = append(orgs, session.OrgID)
		}
		_, err = tx.Exec(ctx, s.sql.whole, arrays(list))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("close sessions from when the clock was ahead: %w", err)
	}
	s.tellTurns(nil, orgs)
	return closed, nil
}
