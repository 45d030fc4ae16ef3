package processrunner

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
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
	timerPage  = 4000             // timers in one query
	timerBatch = 250              // timers in one transaction
	timerRound = 30 * time.Second // longest wait between two searches
	timerPause = time.Second      // after a failed search
	timerAgain = time.Millisecond // when a due timer was not fired, because its instance changed meanwhile
)

// Searches for due timers.
const (
	// The organizations that have timers, found in the index one after the other.
	timerOrgsSQL = `
with recursive orgs (org) as (
	(select org from {schema}.timers where process = $1 order by org limit 1)
	union all
	select (select t.org from {schema}.timers t where t.process = $1 and t.org > o.org order by t.org limit 1)
	from orgs o where o.org is not null
)`
	// Organizations have their turns: each one's longest due timer comes before the second of any other.
	selectDueSQL = timerOrgsSQL + `
select d.org, d.key, d.name, d.due_at, d.cause
from orgs o cross join lateral (
	select t.*, row_number() over (order by t.due_at, t.key, t.name) as turn
	from (
		select * from {schema}.timers t where t.process = $1 and t.org = o.org and t.due_at <= $2 and not exists (
			select from {schema}.instances i where i.process = t.process and i.key = t.key and i.error <> '')
			and t.key <> all ($4)
		order by t.due_at limit $3
	) t
) d
order by d.turn, d.due_at, d.key, d.name limit $3`
	selectNextDueSQL = timerOrgsSQL + `
select min(d.due_at)
from orgs o cross join lateral (
	select t.due_at from {schema}.timers t where t.process = $1 and t.org = o.org and not exists (
		select from {schema}.instances i where i.process = t.process and i.key = t.key and i.error <> '')
	order by t.due_at limit 1
) d`
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
		d.rests.Store(math.MaxInt64) // a timer that is armed from now on may come too late for the search
		now := c.Now()
		if moved := clock.Moved(c); moved != before {
			caughtUp, before = max(caughtUp, d.r.cfg.Feed.Head()), moved
		}
		if err := d.track.wait(ctx, caughtUp); err != nil {
			return err
		}
		full, err := d.fireUnlessShort(ctx, now)
		if err != nil && !passing(err) {
			return &poison{error: err}
		}
		if err == nil && full {
			continue
		}
		if err == nil {
			err = d.awaitDue(ctx)
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

// awaitDue waits until the timers that have acted are set again, and then until the next timer is due, a timer was
// armed, or timerRound is over.
func (d *round) awaitDue(ctx context.Context) error {
	if err := d.flight.fewer(ctx, 1); err != nil {
		return err
	}
	var next *time.Time
	if err := d.r.cfg.DB.Owner.QueryRow(ctx, d.r.sql(selectNextDueSQL), d.name).Scan(&next); err != nil {
		return err
	}
	now := d.r.cfg.Clock.Now()
	until := now.Add(timerRound)
	if next != nil && next.Before(until) {
		until = *next
	}
	if !until.After(now) {
		loop.Sleep(ctx, timerAgain)
		return nil
	}
	d.rests.Store(until.UnixMicro())
	loop.WaitUntil(ctx, d.timers, d.r.cfg.Clock, until)
	return nil
}

// armed wakes the loop that fires timers when it would wait for longer than until a timer that was armed.
func (p *process) armed(at time.Time) {
	if !at.IsZero() && at.UnixMicro() < p.rests.Load() {
		loop.Wake(p.timers)
	}
}

// fireUnlessShort is fireDue, which waits while the log is shorter than what was read of it: events may be missing that
// say whether a timer still counts.
func (d *round) fireUnlessShort(ctx context.Context, now time.Time) (full bool, err error) {
	if err := d.r.cfg.Feed.Short(); err != nil {
		return false, passingAlways(err)
	}
	return d.fireDue(ctx, now)
}

// fireDue fires up to timerPage due timers: those of an organization in the order of their instants, organizations side
// by side. full reports that more may be due.
func (d *round) fireDue(ctx context.Context, now time.Time) (full bool, err error) {
	if err := d.flight.fewer(ctx, timerPage); err != nil {
		return false, err
	}
	rows, err := d.r.cfg.DB.Owner.Query(ctx, d.r.sql(selectDueSQL), d.name, now, timerPage, d.flight.list())
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

// fireTogether fires timers of one instant in parallel, up to timerBatch of different instances in one transaction.
func (d *round) fireTogether(ctx context.Context, list []dueTimer, faults *worst) {
	var wg sync.WaitGroup
	for len(list) > 0 {
		var batch, twice []dueTimer
		var turns []*turn
		in := map[string]bool{}
		rest := list[len(list):]
		for i, t := range list {
			if len(batch) == timerBatch {
				rest = list[i:]
				break
			}
			if in[t.Key] {
				twice = append(twice, t)
				continue
			}
			in[t.Key] = true
			batch, turns = append(batch, t), append(turns, d.lanes.enter(t.Key))
		}
		if list = rest; len(twice) > 0 {
			list = append(twice, rest...)
		}
		wg.Go(func() {
			for _, turn := range turns {
				defer turn.leave()
			}
			for _, turn := range turns {
				if err := turn.wait(ctx); err != nil {
					faults.note(err)
					return
				}
			}
			faults.note(guarded(func() error { return d.fireBatch(ctx, batch, turns, faults) }))
		})
	}
	wg.Wait()
}

// fireBatch fires timers of different instances of one organization, whose turns it is.
func (d *round) fireBatch(ctx context.Context, batch []dueTimer, turns []*turn, faults *worst) error {
	list := make([]input, len(batch))
	for i := range batch {
		in, err := d.inputOfTimer(&batch[i])
		if err != nil {
			return err
		}
		list[i] = in
	}
	list, err := d.actDirectly(ctx, list, turns)
	if err != nil || len(list) == 0 {
		return err
	}
	return d.inSlot(ctx, list[0].cause.OrgID, func() error {
		for _, err := range d.takeTogether(ctx, list) {
			faults.note(err)
		}
		return nil
	})
}

// inputOfTimer makes what take needs of a timer. The input is left out when the timer was moved or disarmed since it
// was read.
func (d *round) inputOfTimer(t *dueTimer) (input, error) {
	var cause jobs.Cause
	if err := json.Unmarshal(t.Cause, &cause); err != nil {
		return input{}, &poison{error: fmt.Errorf("timer %s of %s: %w", t.Name, t.Key, err)}
	}
	due := t.DueAt.UTC()
	return input{
		Input: processmanagers.Input{Timeout: &processmanagers.Timeout{Name: t.Name, Due: due}},
		key:   t.Key, cause: cause, timer: t,
		// Of two timers for the same instant each acts: they were set by different events.
		id: fmt.Sprintf("timer\x00%s\x00%s\x00%d\x00%s", t.Key, t.Name, due.UnixMicro(), cause.CausationID),
	}, nil
}
