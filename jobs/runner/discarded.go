package jobrunner

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/jobs"
)

// Discarded reports the end of a job that no attempt will follow although it did not succeed: its attempts are used up,
// it was given up, or its program died in the last one. code is the failure code of the last attempt, "" when there is
// none. It may be called again with the same cause.JobID, until it returns nil.
type Discarded[T commands.Job] func(ctx context.Context, args T, cause jobs.Cause, code string) error

// OnDiscarded registers what follows from the end of a kind of job without success: usually a command that refuses what
// the job should have done. Without it such a job is only counted. Call it before Start.
func OnDiscarded[T commands.Job](r *Runner, report Discarded[T]) {
	var none T
	r.discarded[none.Kind()] = func(ctx context.Context, row discardedRow) error {
		var args stored[T]
		if err := json.Unmarshal(row.Args, &args); err != nil {
			return fmt.Errorf("arguments: %w", err)
		}
		var m metadata
		if err := json.Unmarshal(row.Metadata, &m); err != nil {
			return fmt.Errorf("metadata: %w", err)
		}
		cause := m.Cause
		cause.JobID, cause.Attempt, cause.Last = args.ID, row.Attempt, true
		return report(ctx, args.Args, cause, row.Code)
	}
}

// OnceMore enqueues a job of a kind that must be done, because nobody asks for it again, anew: it runs after a pause,
// and its attempts begin again.
func OnceMore[T commands.Job](r *Runner, pause time.Duration) Discarded[T] {
	return func(ctx context.Context, args T, cause jobs.Cause, _ string) error {
		return r.Insert(ctx, args, id.Derive[id.Any]("once more", cause.JobID.String()), cause, pause)
	}
}

// discardedRow is a job of River that ended without success. Args and Metadata are JSON.
type discardedRow struct {
	ID       int64
	Kind     string
	Args     []byte
	Metadata []byte
	Attempt  int
	Code     string
	Tries    int // reports of it that failed
}

// How discarded jobs are searched. River keeps their rows for a day at least.
const (
	discardedRound = 2 * time.Second
	discardedMost  = 15 * time.Second // between two rounds that failed, and at first discardedRound
	discardedPage  = 100
	discardedLimit = 30 * time.Second // of one report
	longestPause   = 10 * time.Minute // after reports that failed
)

// discardedPause is the wait after a report that failed so many times, so that it does not hold up the others.
func discardedPause(tries int) time.Duration { return Doubling(discardedRound, longestPause)(tries) }

// Statements on discarded jobs. The metadata says which ones are reported, and how often and until when others wait
// after a report that failed: for no longer than the longest pause, also when the clock was put back. Those that were
// never tried come first.
const (
	selectDiscardedSQL = `
select id, kind, args, metadata, attempt::int, coalesce(errors[array_upper(errors, 1)]->>'error', '') as code,
	coalesce((metadata->>'report_tries')::int, 0) as tries
from {schema}.river_job
where state in ('discarded', 'cancelled') and kind = any($1) and not metadata ? 'reported'
	and not coalesce((metadata->>'report_after')::timestamptz between $3 and $3::timestamptz + $4::interval, false)
order by metadata ? 'report_after', id limit $2`
	postponeReportSQL = `
update {schema}.river_job
set metadata = metadata || jsonb_build_object('report_tries', $2::int, 'report_after', $3::timestamptz) where id = $1`
	markReportedSQL = `
update {schema}.river_job set metadata = metadata || '{"reported": true}' where id = $1`
)

// reportDiscarded reports discarded jobs until ctx ends. Of several programs one does so at a time.
func (r *Runner) reportDiscarded(ctx context.Context) {
	pause := loop.Backoff{Min: discardedRound, Max: discardedMost}
	_ = loop.Every(ctx, discardedRound, nil, func(ctx context.Context) error {
		lock, got, err := r.cfg.DB.TryLock(ctx, "discarded jobs")
		if err == nil && got {
			err = r.reportAll(ctx)
			lock.Unlock()
		}
		if err == nil || ctx.Err() != nil {
			pause.Reset()
			return nil
		}
		r.logger.WarnContext(ctx, "discarded jobs were not reported", "error", err, "retry_in", pause.Pause())
		pause.Wait(ctx)
		return nil
	})
}

// reportAll reports one page of discarded jobs. The rest follows in the next round, those whose report fails with
// growing pauses.
func (r *Runner) reportAll(ctx context.Context) error {
	kinds := make([]string, 0, len(r.discarded))
	for kind := range r.discarded {
		kinds = append(kinds, kind)
	}
	rows, err := r.cfg.DB.Owner.Query(ctx, r.sql(selectDiscardedSQL), kinds, discardedPage, r.cfg.Clock.Now(),
		longestPause)
	if err != nil {
		return err
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[discardedRow])
	if err != nil {
		return err
	}
	for _, row := range list {
		err := loop.Try(func() error {
			ctx, cancel := context.WithTimeout(ctx, discardedLimit)
			defer cancel()
			return r.discarded[row.Kind](ctx, row)
		})
		if err != nil {
			r.logger.ErrorContext(ctx, "end of a job was not reported", "job", row.Kind, "row", row.ID, "error", err,
				"stack", loop.StackOf(err))
			again := r.cfg.Clock.Now().Add(discardedPause(row.Tries + 1))
			if _, err := r.cfg.DB.Owner.Exec(ctx, r.sql(postponeReportSQL), row.ID, row.Tries+1, again); err != nil {
				return err
			}
			continue
		}
		r.logger.ErrorContext(ctx, "job discarded", "job", row.Kind, "row", row.ID, "code", row.Code)
		if _, err := r.cfg.DB.Owner.Exec(ctx, r.sql(markReportedSQL), row.ID); err != nil {
			return err
		}
	}
	return nil
}
