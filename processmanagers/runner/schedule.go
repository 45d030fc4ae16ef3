package processrunner

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// How due timers are searched.
const (
	timerPage  = 200              // timers in one query
	timerRound = 30 * time.Second // longest wait between two searches, in case the clock was moved
)

// dueTimer is one row of the table timers. Cause is JSON.
type dueTimer struct {
	Key   string
	Name  string
	DueAt time.Time
	Cause []byte
}

// schedule fires timers that are due, until ctx ends. It begins when the process has taken all events that were in the
// log at its start, because one of them may disarm a timer.
func (d *round) schedule(ctx context.Context) error {
	if err := d.track.wait(ctx, d.caughtUp); err != nil {
		return err
	}
	for {
		full, err := d.fireDue(ctx)
		if err != nil && !passing(err) {
			return &poison{error: err}
		}
		var next *time.Time
		if err == nil && !full {
			err = d.r.cfg.DB.Owner.QueryRow(ctx, d.r.sql(selectNextDueSQL), d.name).Scan(&next)
		}
		wait := timerRound
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			d.r.logger.WarnContext(ctx, "timers cannot be read", "process", d.name, "error", err)
			wait = time.Second
		case full:
			continue
		case next != nil:
			wait = min(max(next.Sub(d.r.cfg.Clock.Now()), time.Millisecond), timerRound)
		}
		if !loop.WaitFor(ctx, d.timers, wait) {
			return ctx.Err()
		}
	}
}

// fireDue fires up to timerPage due timers in parallel. full reports that more may be due.
func (d *round) fireDue(ctx context.Context) (full bool, err error) {
	rows, err := d.r.cfg.DB.Owner.Query(ctx, d.r.sql(selectDueSQL), d.name, d.r.cfg.Clock.Now(), timerPage)
	if err != nil {
		return false, passingAlways(err)
	}
	due, err := pgx.CollectRows(rows, pgx.RowToStructByName[dueTimer])
	if err != nil {
		return false, passingAlways(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	for _, t := range due {
		turn := d.lanes.enter(t.Key)
		wg.Go(func() {
			defer turn.leave()
			fireErr := turn.wait(ctx)
			if fireErr == nil {
				fireErr = guarded(func() error { return d.fire(ctx, t) })
			}
			if fireErr != nil {
				mu.Lock()
				defer mu.Unlock()
				if err == nil || !passing(fireErr) {
					err = fireErr
				}
			}
		})
	}
	wg.Wait()
	return len(due) == timerPage, err
}

// fire gives a timer to its instance, unless the timer was moved or disarmed since it was read.
func (d *round) fire(ctx context.Context, t dueTimer) error {
	var cause jobs.Cause
	if err := json.Unmarshal(t.Cause, &cause); err != nil {
		return &poison{error: fmt.Errorf("timer %s of %s: %w", t.Name, t.Key, err)}
	}
	due := t.DueAt.UTC()
	return d.take(ctx, input{
		Input: processmanagers.Input{Timeout: &processmanagers.Timeout{Name: t.Name, Due: due}},
		key:   t.Key, cause: cause,
		id: fmt.Sprintf("timer\x00%s\x00%s\x00%d", t.Key, t.Name, due.UnixMicro()),
		claim: func(ctx context.Context, tx pgx.Tx) (bool, error) {
			tag, err := tx.Exec(ctx, d.r.sql(deleteDueTimerSQL), d.name, t.Key, t.Name, t.DueAt)
			return tag.RowsAffected() == 1, err
		},
	})
}
