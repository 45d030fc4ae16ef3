package jobrunner

import (
	"context"
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// A machine's clock may be put back by hours, as by NTP after a start with a wrong one. What waits in the queue has
// instants of the time before: it would wait for as long, although all of these are lengths of time. Where a job waits
// for an instant of the product's clock, it looks at the clock when it comes, and waits again.

// How a clock that was put back is noticed.
const (
	putBackLook  = 15 * time.Second
	leastPutBack = 5 * time.Second // a clock that is corrected slowly goes back by less between two looks
	longestTerm  = time.Minute     // of the leader among River's clients, and more than that
)

const (
	// shiftSQL brings the jobs that wait forward by the time by which the clock was put back.
	shiftSQL = `
update {schema}.river_job set scheduled_at = scheduled_at - $2::interval,
	state = case when scheduled_at - $2::interval <= $1 then 'available' else state end
where state in ('available', 'scheduled', 'retryable') and scheduled_at > $1`
	// shiftOldSQL makes due what waits since an instant that is still to come.
	shiftOldSQL = `
update {schema}.river_job set scheduled_at = coalesce($1::timestamptz, now()), state = 'available'
where state in ('available', 'scheduled', 'retryable') and scheduled_at > coalesce($1::timestamptz, now())
	and greatest(created_at, attempted_at) > coalesce($1::timestamptz, now()) + $2::interval`
	// freePlaceSQL frees the place of a leader that died while the clock was ahead. Nobody else would lead until that
	// time, and without a leader no job is tried again, taken up or begun late.
	freePlaceSQL = `
delete from {schema}.river_leader where expires_at > coalesce($1::timestamptz, now()) + $2::interval`
)

// watchClock lets no job wait longer because the clock was put back, before the start or since, and no leader lead when
// he is dead.
func (r *Runner) watchClock(ctx context.Context) {
	c, pause := r.cfg.Clock, loop.Backoff{Min: time.Second, Max: putBackLook}
	pace := clock.Pace(c)
	before := c.Now().Sub(pace.Now())
	for r.shiftOld(ctx) != nil && pause.Wait(ctx) {
	}
	pause.Reset()
	for ctx.Err() == nil {
		moved := clock.Moved(c)
		ahead := c.Now().Sub(pace.Now())
		if by := before - ahead; by >= leastPutBack {
			if err := r.shift(ctx, by); err != nil {
				pause.Wait(ctx)
				continue
			}
			pause.Reset()
		}
		before = ahead
		// When the database is away, River tells it, and the next look tries again.
		_, _ = r.cfg.DB.Owner.Exec(ctx, r.sql(freePlaceSQL), r.riverNow(), longestTerm)
		loop.WaitFor(ctx, moved, putBackLook)
	}
}

// shift brings the jobs that wait forward.
func (r *Runner) shift(ctx context.Context, by time.Duration) error {
	tag, err := r.cfg.DB.Owner.Exec(ctx, r.sql(shiftSQL), r.cfg.Clock.Now(), by)
	if err != nil {
		return r.notShifted(ctx, err)
	}
	r.logger.WarnContext(ctx, "the clock was put back: jobs do not wait for that time", "by", by.Round(time.Second),
		"jobs", tag.RowsAffected())
	return nil
}

// shiftOld makes jobs due that were left by a program whose clock was put back later, by the time of River.
func (r *Runner) shiftOld(ctx context.Context) error {
	if _, err := r.cfg.DB.Owner.Exec(ctx, r.sql(shiftOldSQL), r.riverNow(), leastPutBack); err != nil {
		return r.notShifted(ctx, err)
	}
	return nil
}

// notShifted logs why jobs wait still.
func (r *Runner) notShifted(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		r.logger.WarnContext(ctx, "jobs wait for a time before the clock was put back", "error", err)
	}
	return fmt.Errorf("bring jobs forward: %w", err)
}
