package jobrunner

import (
	"context"
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// riverClock gives River the product's time, also for what it writes to its tables. Without it River uses the times of
// the machine and of the database, which are right as long as nobody moves the product's clock. River's rescuer does
// not use it: see JobGetStuck. Nor does its removal of ended jobs, a day after their ends by the machine's time.
type riverClock struct{ clock.Clock }

// NowOrNil is Now: the database's own time is never used.
func (c riverClock) NowOrNil() *time.Time {
	now := c.Now()
	return &now
}

// riverNow is the time that River writes to its tables; nil = the database's.
func (r *Runner) riverNow() *time.Time {
	if !jumps(r.cfg.Clock) {
		return nil
	}
	return riverClock{r.cfg.Clock}.NowOrNil()
}

// jumps reports whether a clock can be moved.
func jumps(c clock.Clock) bool { return clock.Moved(c) != nil }

// releaseDueSQL makes jobs due that wait for an instant which has come. River does so too, but only every few seconds.
// Workers take due jobs in the order of their instants.
const releaseDueSQL = `
update {schema}.river_job set state = 'available' where state in ('scheduled', 'retryable') and scheduled_at <= $1`

// release makes jobs due whose instants have come.
func (r *Runner) release(ctx context.Context) error {
	if _, err := r.cfg.DB.Owner.Exec(ctx, r.sql(releaseDueSQL), r.cfg.Clock.Now()); err != nil {
		return fmt.Errorf("release due jobs: %w", err)
	}
	return nil
}

// releaseDue releases due jobs after each jump of the clock, until ctx ends.
func (r *Runner) releaseDue(ctx context.Context) {
	for ctx.Err() == nil {
		moved := clock.Moved(r.cfg.Clock)
		if err := r.release(ctx); err != nil {
			r.logger.WarnContext(ctx, "due jobs were not released", "error", err)
			loop.Sleep(ctx, time.Second)
			continue
		}
		loop.Wait(ctx, moved)
	}
}

// Pause stops the workers so that the clock can be moved, and waits until the ends of all jobs are recorded. River must
// not run meanwhile: by the product's time a job that runs over a jump, or whose end is not recorded yet, is as old as
// one whose program died, and would run again (see JobGetStuck). Shut the gate first, so that
// nothing runs. The caller must call resume afterwards, also when Pause failed; jobs that fell due begin then, in the
// order of their instants. Jobs can be enqueued all the time. One caller at a time.
func (r *Runner) Pause(ctx context.Context) (resume func(context.Context), err error) {
	r.running.Lock()
	defer r.running.Unlock()
	if r.working {
		err = r.client.Stop(ctx)
	}
	return r.resume, err
}

// resume starts the workers again. When the database is away, it goes on trying in the background.
func (r *Runner) resume(ctx context.Context) {
	if err := r.tryResume(ctx); err != nil {
		r.logger.WarnContext(ctx, "jobs were not resumed and will be tried again", "error", err)
		r.loops.Go("resuming jobs", func(ctx context.Context) {
			pause := loop.Backoff{Min: time.Second, Max: 10 * time.Second}
			for pause.Wait(ctx) && r.tryResume(ctx) != nil {
			}
		})
	}
}

// tryResume releases due jobs and starts River, unless the runner was stopped.
func (r *Runner) tryResume(ctx context.Context) error {
	r.running.Lock()
	defer r.running.Unlock()
	if !r.working {
		return nil
	}
	select {
	case <-r.client.Stopped(): // a stop that took too long has ended
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := r.release(ctx); err != nil {
		return err
	}
	if err := r.client.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start job queue: %w", err)
	}
	return nil
}
