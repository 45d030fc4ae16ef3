package telemetry

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// closeLostSQL ends open sessions of which no report came since an instant, an earlier one for some organizations.
const closeLostSQL = `update {schema}.sessions
	set ended_at = updated_at, ` + concludedSQL + `, end_reason = '` + ReasonLost + `'
	where ended_at is null and updated_at < $1 and not exists (select from unnest($2::uuid[], $3::timestamptz[]) w
		(org, since) where w.org = org_id and updated_at >= coalesce(w.since, '-infinity'))`

// mostEarly bounds the sessions from when our clock was ahead that end at once.
const mostEarly = 2_000

// earlySQL reads open sessions whose last report is from when our clock was ahead, without those of some organizations.
const earlySQL = `select ` + columns + ` from {schema}.sessions x
	where x.ended_at is null and x.updated_at > $1 and x.org_id <> all(coalesce($3::uuid[], '{}')) limit $2`

// CloseLost ends sessions whose routers have told nothing for too long, and returns their number. They end with
// their last report; a newer one opens them again. Reports that wait in a spool count as not told, so for their
// organizations the instant must be earlier by as long as the oldest of them waits.
func (s *Store) CloseLost(ctx context.Context, silent Silence) (int64, error) {
	orgs, since := silent.arrays()
	var closed int64
	err := postgres.Transaction(ctx, s.db.Owner, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockSQL, s.db.Namespace.LockKey(part)); err != nil {
			return err
		}
		done, err := tx.Exec(ctx, s.text(closeLostSQL), silent.Since, orgs, since)
		closed = done.RowsAffected()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("close lost sessions: %w", err)
	}
	return closed, nil
}

// CloseEarly ends open sessions of which no report came since our clock was put back by minutes, and returns their
// number: no more than mostEarly, and none of organizations of which reports wait for long. now is the present time;
// they end at an instant before it, when they were silent already.
func (s *Store) CloseEarly(ctx context.Context, now time.Time, silent Silence) (int, error) {
	var closed int
	err := postgres.Transaction(ctx, s.db.Owner, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockSQL, s.db.Namespace.LockKey(part)); err != nil {
			return err
		}
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
		}
		_, err = tx.Exec(ctx, s.sql.whole, arrays(list))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("close sessions from when the clock was ahead: %w", err)
	}
	return closed, nil
}
