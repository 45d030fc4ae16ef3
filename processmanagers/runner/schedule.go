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

// How timers are looked for.
const (
	timerPage  = 200
	timerRound = 30 * time.Second // at the latest, for a clock that was set
)

// dueTimer is a timer's row.
type dueTimer struct {
	Key   string
	Name  string
	DueAt time.Time
	Cause []byte
}

// schedule fires timers that are due. It begins when the process has read all there was at its start: an event that
// disarms a timer may be among it.
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
			d.r.logger.WarnContext(ctx, "timers cannot be looked at", "process", d.name, "error", err)
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

// fireDue fires a page of due timers; full tells that there may be more.
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

// fire gives a timer to its instance, unless it was moved or disarmed meanwhile.
func (d *round) fire(ctx context.Context, t dueTimer) error {
	var cause jobs.Cause
	if err := json.Unmarshal(t.Cause, &cause); err != nil {
		return fmt.Errorf("timer %s of %s: %w", t.Name, t.Key, err)
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
