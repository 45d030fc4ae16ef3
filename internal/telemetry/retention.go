package telemetry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// purgeSize is the number of rows that one statement of Purge deletes, so that nobody waits for it.
const purgeSize = 5000

// Retention is how long rows stay. A zero field means for ever.
type Retention struct {
	Sessions time.Duration // after their end; also for the question who had an address
	Days     time.Duration // after the day
	Months   time.Duration // after the month began
}

// SQL of retention and of forgetting.
const (
	purgeSessionsSQL = `delete from {schema}.sessions where id in
		(select id from {schema}.sessions where ended_at < @before order by ended_at limit @max)`
	purgeUsageSQL = `delete from {schema}.usage where (subscription_id, step, starts) in
		(select subscription_id, step, starts from {schema}.usage where step = @step and starts < @before::date
		order by starts limit @max)`
	forgetSessionsSQL = `delete from {schema}.sessions where org_id = $1 and subscriber_id = $2`
	forgetUsageSQL    = `delete from {schema}.usage where org_id = $1 and subscriber_id = $2`
)

// Purge deletes the rows whose time is over, in small steps. Sessions that are open stay.
func (s *Store) Purge(ctx context.Context, now time.Time, keep Retention) error {
	return errors.Join(
		s.purge(ctx, purgeSessionsSQL, keep.Sessions, pgx.NamedArgs{"before": now.Add(-keep.Sessions)}),
		s.purge(ctx, purgeUsageSQL, keep.Days, pgx.NamedArgs{"before": now.Add(-keep.Days), "step": string(Day)}),
		s.purge(ctx, purgeUsageSQL, keep.Months, pgx.NamedArgs{"before": now.Add(-keep.Months), "step": string(Month)}),
	)
}

// purge repeats a statement until it finds less than it may delete.
func (s *Store) purge(ctx context.Context, sql string, keep time.Duration, args pgx.NamedArgs) error {
	if keep <= 0 {
		return nil
	}
	for args["max"] = purgeSize; ; {
		done, err := s.db.Owner.Exec(ctx, s.text(sql), args)
		if err != nil {
			return fmt.Errorf("purge telemetry: %w", err)
		}
		if done.RowsAffected() < purgeSize {
			return nil
		}
	}
}

// Forget deletes the sessions and the usage of a person. A repetition changes nothing. Call it after the directory has
// stopped to know the person, and again when no report is spooled: reports that come later belong to nobody then.
func (s *Store) Forget(ctx context.Context, org id.Organization, subscriber id.Subscriber) error {
	err := postgres.Transaction(ctx, s.db.Owner, func(tx pgx.Tx) error {
		batch := &pgx.Batch{}
		batch.Queue(lockSQL, s.db.Namespace.LockKey(part)) // no group may be under way that writes them again
		batch.Queue(s.text(forgetSessionsSQL), org.UUID(), subscriber.UUID())
		batch.Queue(s.text(forgetUsageSQL), org.UUID(), subscriber.UUID())
		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return fmt.Errorf("forget telemetry: %w", err)
	}
	return nil
}
