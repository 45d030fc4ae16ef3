package jobrunner

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/jobs"
)

// periodic is work that comes again with each period. Periods are counted from the zero time, so all programs have the
// same ones, and periods of 24 hours begin at midnight in UTC.
type periodic struct {
	interval time.Duration
	job      commands.Job
	atStart  bool // one more run at each start of a program
}

// Every registers periodic work: one run in each period, by one of the programs, from its beginning on. A program that
// was off when periods began makes up for all of them by one run. A run that is due while an earlier one still waits or
// runs is left out. Call it before Start.
func Every(r *Runner, interval time.Duration, args commands.Job) {
	r.periodic = append(r.periodic, periodic{interval: interval, job: args})
}

// EveryAndAtStart is Every with one more run at the start of each program, for work that depends on its configuration.
func EveryAndAtStart(r *Runner, interval time.Duration, args commands.Job) {
	r.periodic = append(r.periodic, periodic{interval: interval, job: args, atStart: true})
}

// waitsSQL reports whether a job of a kind waits or runs.
const waitsSQL = `
select exists (select from {schema}.river_job
	where kind = $1 and state in ('available', 'pending', 'running', 'retryable', 'scheduled'))`

// repeat enqueues periodic work until ctx ends.
func (r *Runner) repeat(ctx context.Context, p periodic) {
	pause := loop.Backoff{Min: time.Second, Max: time.Minute}
	again := p.atStart
	for ctx.Err() == nil {
		period := r.cfg.Clock.Now().Truncate(p.interval)
		if err := r.enqueueUnlessWaiting(ctx, p.job, period, again); err != nil {
			if ctx.Err() == nil {
				r.logger.WarnContext(ctx, "periodic work was not enqueued", "job", p.job.Kind(), "error", err)
			}
			pause.Wait(ctx)
			continue
		}
		pause.Reset()
		again = false
		if !r.cfg.Clock.Now().Before(period) { // else the clock was put back, into another period
			loop.WaitUntil(ctx, nil, r.cfg.Clock, period.Add(p.interval))
		}
	}
}

// enqueueUnlessWaiting enqueues the job of a period unless one of its kind waits or runs. again enqueues one more in a
// period that had its own.
func (r *Runner) enqueueUnlessWaiting(ctx context.Context, job commands.Job, period time.Time, again bool) error {
	return pgx.BeginFunc(ctx, r.cfg.DB.Owner, func(tx pgx.Tx) error {
		var waits bool
		if err := tx.QueryRow(ctx, r.sql(waitsSQL), job.Kind()).Scan(&waits); err != nil {
			return fmt.Errorf("look for %s: %w", job.Kind(), err)
		}
		if waits {
			return nil
		}
		fresh, err := r.begins(ctx, tx, job.Kind(), period)
		if err != nil || !fresh && !again {
			return err
		}
		return r.InsertTx(ctx, tx, job, id.New[id.Any](), jobs.Cause{})
	})
}
