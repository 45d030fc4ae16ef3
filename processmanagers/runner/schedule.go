package processrunner

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// How due timers are searched.
const (
	timerPage  = 200              // timers in one query
	timerRound = 30 * time.Second // longest wait between two searches
	timerPause = time.Second      // after a failed search
	timerAgain = time.Millisecond // when a due timer was not fired, because its instance changed meanwhile
)

// dueTimer is one row of the table timers. Cause is JSON.
type dueTimer struct {
	Org   string // "" for the platform
	Key   string
	Name  string
	DueAt time.Time
	Cause []byte
}

// schedule fires timers that are due, until ctx ends. At the start, and after each jump of the clock, it first waits
// until the process has taken all events that are in the log, because one of them may disarm a timer.
func (d *round) schedule(ctx context.Context) error {
	c := d.r.cfg.Clock
	caughtUp, before := d.caughtUp, clock.Moved(c)
	for {
		now := c.Now()
		if moved := clock.Moved(c); moved != before {
			caughtUp, before = max(caughtUp, d.r.cfg.Feed.Head()), moved
		}
		if err := d.track.wait(ctx, caughtUp); err != nil {
			return err
		}
		full, err := d.fireDue(ctx, now)
		if err != nil && !passing(err) {
			return &poison{error: err}
		}
		if err == nil && full {
			continue
		}
		if err == nil {
			err = d.awaitDue(ctx, now)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			d.r.logger.WarnContext(ctx, "timers cannot be read", "process", d.name, "error", err)
			loop.WaitFor(ctx, d.timers, timerPause)
		}
	}
}

// awaitDue waits until the next timer is due, a timer was armed, or timerRound is over. now is the time of the last
// search.
func (d *round) awaitDue(ctx context.Context, now time.Time) error {
	var next *time.Time
	if err := d.r.cfg.DB.Owner.QueryRow(ctx, d.r.sql(selectNextDueSQL), d.name).Scan(&next); err != nil {
		return err
	}
	until := now.Add(timerRound)
	if next != nil && next.Before(until) {
		until = *next
	}
	if !until.After(now) {
		loop.Sleep(ctx, timerAgain)
		return nil
	}
	loop.WaitUntil(ctx, d.timers, d.r.cfg.Clock, until)
	return nil
}

// fireDue fires up to timerPage due timers: those of an organization in the order of their instants, organizations side
// by side. full reports that more may be due.
func (d *round) fireDue(ctx context.Context, now time.Time) (full bool, err error) {
	rows, err := d.r.cfg.DB.Owner.Query(ctx, d.r.sql(selectDueSQL), d.name, now, timerPage)
	if err != nil {
		return false, passingAlways(err)
	}
	due, err := pgx.CollectRows(rows, pgx.RowToStructByName[dueTimer])
	if err != nil {
		return false, passingAlways(err)
	}
	byOrg := map[string][]dueTimer{}
	for _, t := range due {
		byOrg[t.Org] = append(byOrg[t.Org], t)
	}
	var wg sync.WaitGroup
	var faults worst
	for _, list := range byOrg {
		wg.Go(func() {
			for len(list) > 0 && ctx.Err() == nil {
				n := 1
				for n < len(list) && list[n].DueAt.Equal(list[0].DueAt) {
					n++
				}
				d.fireTogether(ctx, list[:n], &faults)
				list = list[n:]
			}
		})
	}
	wg.Wait()
	return len(due) == timerPage, faults.err
}

// worst keeps the first error, or the first that does not pass. Safe for concurrent use.
type worst struct {
	mu  sync.Mutex
	err error
}

// note keeps an error; nil changes nothing.
func (w *worst) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil && (w.err == nil || !passing(err)) {
		w.err = err
	}
}

// fireTogether fires timers of one instant in parallel.
func (d *round) fireTogether(ctx context.Context, list []dueTimer, faults *worst) {
	var wg sync.WaitGroup
	for _, t := range list {
		turn := d.lanes.enter(t.Key)
		wg.Go(func() {
			defer turn.leave()
			err := turn.wait(ctx)
			if err == nil {
				err = guarded(func() error { return d.fire(ctx, t) })
			}
			faults.note(err)
		})
	}
	wg.Wait()
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
		// Of two timers for the same instant each acts: they were set by different events.
		id: fmt.Sprintf("timer\x00%s\x00%s\x00%d\x00%s", t.Key, t.Name, due.UnixMicro(), cause.CausationID),
		claim: func(ctx context.Context, tx pgx.Tx) (bool, error) {
			tag, err := tx.Exec(ctx, d.r.sql(deleteDueTimerSQL), d.name, t.Key, t.Name, t.DueAt)
			return tag.RowsAffected() == 1, err
		},
	})
}
