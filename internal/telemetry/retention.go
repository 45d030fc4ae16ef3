package telemetry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// purgeSize is the number of rows that one statement of Purge deletes, so that nobody waits for it.
const purgeSize = 5000

// strangersKept is how long sessions without a customer stay after their end, at most.
const strangersKept = 30 * 24 * time.Hour

// Retention is how long rows stay. A zero field means for ever.
type Retention struct {
	Sessions  time.Duration // after their end; of refused sign-ins after their day
	Addresses time.Duration // after the end of the session that had them: for the question who had an address
	Days      time.Duration // after the day
	Months    time.Duration // after the month began
}

// whole is how long rows of sessions stay: as long as one of their two purposes lasts.
func (r Retention) whole() time.Duration {
	if r.Sessions == 0 || r.Addresses == 0 {
		return 0
	}
	return max(r.Sessions, r.Addresses)
}

// shorter gives a retention if it ends before the row is deleted; else zero.
func (r Retention) shorter(part time.Duration) time.Duration {
	if part == r.whole() {
		return 0
	}
	return part
}

// SQL of retention and of forgetting.
const (
	purgeSessionsSQL = `delete from {schema}.sessions where id in
		(select id from {schema}.sessions where ended_at < @before order by ended_at limit @max)`
	oldestEndSQL      = `select min(ended_at) from {schema}.sessions where ended_at is not null`
	purgeStrangersSQL = `delete from {schema}.sessions where id in
		(select id from {schema}.sessions where ended_at >= @from and ended_at < @before and subscription_id is null
		order by ended_at limit @max)`
	purgeCrowdSQL = `delete from {schema}.sessions where id in
		(select id from (select id, row_number() over (partition by org_id order by started_at desc, id desc) n
			from {schema}.sessions where ended_at is null and subscription_id is null) x where n > $1 limit $2)`
	// A late report changes nothing in such a row: its window has no place any more.
	stripSessionsSQL = `update {schema}.sessions set address_only = true, called = '', port = '', service = '',
		source = null, nas_port = 0, access = '', rate_down = 0, rate_up = 0, bytes_down = 0, bytes_up = 0, seconds = 0,
		samples = '\x0300'
		where id in (select id from {schema}.sessions where ended_at < @before and not address_only
		order by ended_at limit @max)`
	clearAddressesSQL = `with over as (select id from {schema}.sessions where ended_at < @before and held <> ''
		order by ended_at limit @max),
		gone as (delete from {schema}.addresses where session_id in (select id from over))
		update {schema}.sessions set ip = null, ipv6 = null, framed_prefix = null, delegated_prefix = null, held = ''
		where id in (select id from over)`
	purgeUsageSQL = `delete from {schema}.usage where (subscription_id, step, starts) in
		(select subscription_id, step, starts from {schema}.usage where step = @step and starts < @before::date
		order by starts limit @max)`
	forgetSessionsSQL = `delete from {schema}.sessions where id in
		(select id from {schema}.sessions where org_id = $1 and subscriber_id = $2 limit $3)`
	forgetUsageSQL = `delete from {schema}.usage where org_id = $1 and subscriber_id = $2`
)

// Purge deletes the rows whose time is over, in small steps. Sessions that are open stay. When the two retentions of
// sessions differ, the part of a row whose time is over is cleared before.
func (s *Store) Purge(ctx context.Context, now time.Time, keep Retention) error {
	return errors.Join(
		s.purge(ctx, purgeSessionsSQL, now, keep.whole(), ""),
		s.purgeStrangers(ctx, now.Add(-strangersKept)),
		s.purgeCrowds(ctx),
		s.purge(ctx, stripSessionsSQL, now, keep.shorter(keep.Sessions), ""),
		s.purge(ctx, clearAddressesSQL, now, keep.shorter(keep.Addresses), ""),
		s.purge(ctx, purgeRefusalsSQL, now, keep.Sessions, ""),
		s.purge(ctx, purgeTriesSQL, now, keep.Sessions, ""),
		s.purge(ctx, purgeLooksSQL, now, keep.Sessions, ""),
		s.purgeSpools(ctx),
		s.purge(ctx, purgeUsageSQL, now, keep.Days, Day),
		s.purge(ctx, purgeUsageSQL, now, keep.Months, Month),
	)
}

// purge repeats a statement until it finds less than it may change. step is only for statements about usage.
func (s *Store) purge(ctx context.Context, sql string, now time.Time, keep time.Duration, step Step) error {
	if keep <= 0 {
		return nil
	}
	args := pgx.NamedArgs{"before": now.Add(-keep), "step": string(step), "max": purgeSize}
	for {
		done, err := s.db.Owner.Exec(ctx, s.text(sql), args)
		if err != nil {
			return fmt.Errorf("purge telemetry: %w", err)
		}
		if done.RowsAffected() < purgeSize {
			return nil
		}
	}
}

// purgeStrangers deletes the sessions without a customer that ended before an instant. They lie among many others, so
// it goes through those of one day at a time, and later begins where it has come to.
func (s *Store) purgeStrangers(ctx context.Context, before time.Time) error {
	s.tidying.Lock()
	defer s.tidying.Unlock()
	if s.tidied.IsZero() {
		var oldest *time.Time
		if err := s.db.Owner.QueryRow(ctx, s.text(oldestEndSQL)).Scan(&oldest); err != nil {
			return fmt.Errorf("purge sessions of nobody: %w", err)
		}
		if oldest == nil {
			return nil
		}
		s.tidied = *oldest
	}
	s.tidied = minTime(s.tidied, before) // our clock may have been set back
	for s.tidied.Before(before) {
		until := minTime(s.tidied.AddDate(0, 0, 1), before)
		done, err := s.db.Owner.Exec(ctx, s.text(purgeStrangersSQL), pgx.NamedArgs{
			"from": s.tidied, "before": until, "max": purgeSize,
		})
		if err != nil {
			return fmt.Errorf("purge sessions of nobody: %w", err)
		}
		if done.RowsAffected() < purgeSize {
			s.tidied = until
		}
	}
	return nil
}

// purgeCrowds deletes the oldest open sessions without a customer of organizations that have more of them than begin in
// two days: a router can go on to report what it has invented for ever. The next report of a real one begins it again.
func (s *Store) purgeCrowds(ctx context.Context) error {
	for {
		done, err := s.db.Owner.Exec(ctx, s.text(purgeCrowdSQL), 2*s.crowds.most.strangersOf, purgeSize)
		if err != nil {
			return fmt.Errorf("purge open sessions of nobody: %w", err)
		}
		if done.RowsAffected() < purgeSize {
			return nil
		}
	}
}

// Forget deletes the sessions, the usage and the refused sign-ins of a person, in steps between which reports are
// committed. A repetition deletes what has come since. Reports that come later, also those that wait in a spool, are
// dropped by programs whose directory knows that the person is forgotten.
func (s *Store) Forget(ctx context.Context, org id.Organization, subscriber id.Subscriber) error {
	for more := true; more; {
		err := s.locked(ctx, func(tx pgx.Tx) error { // no group may be under way that writes them again
			batch := &pgx.Batch{}
			batch.Queue(s.text(forgetTriesSQL), org.UUID(), subscriber.UUID())
			batch.Queue(s.text(forgetSessionsSQL), org.UUID(), subscriber.UUID(), s.endSize).
				Exec(func(done pgconn.CommandTag) error {
					more = done.RowsAffected() == int64(s.endSize)
					return nil
				})
			batch.Queue(s.text(forgetUsageSQL), org.UUID(), subscriber.UUID())
			batch.Queue(s.text(forgetRefusalsSQL), org.UUID(), subscriber.UUID())
			return tx.SendBatch(ctx, batch).Close()
		})
		if err != nil {
			return fmt.Errorf("forget telemetry: %w", err)
		}
	}
	return nil
}
