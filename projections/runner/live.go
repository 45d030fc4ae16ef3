package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// batchLimit is the largest number of events in one transaction; larger ones are not faster
// (docs/facts/storage.md#projecting).
const batchLimit = 1000

// How events are gathered for a page. One that is alone, and those after it, never wait.
const (
	gatherFrom = 8                      // events in a page that show that more come
	gatherEach = 2 * time.Millisecond   // the wait for each of them
	gatherMost = 100 * time.Millisecond // in all
)

// entry is a registered projection with the state that this program keeps of its tables.
type entry struct {
	p        Projection
	name     string
	want     feed.Wanted
	progress progress
	retry    chan struct{} // wakes a projection that has stopped, or that waits for tables of its version
	readers  atomic.Int64  // that wait for it
	asked    chan struct{} // wakes it while it gathers events: a reader waits

	mu       sync.Mutex  // held while the tables are written or replaced
	active   *generation // the tables that this program fills; nil while there are none of its version
	building bool        // a build runs in this program

	leadMu sync.Mutex // guards term and lock; never held during a call of the database
	term   *term      // nil while this program does not lead
	lock   *postgres.Lock
}

// leading returns the present term and its lock; nil while this program does not lead.
func (e *entry) leading() (*term, *postgres.Lock) {
	e.leadMu.Lock()
	defer e.leadMu.Unlock()
	return e.term, e.lock
}

// lead sets the present term and its lock.
func (e *entry) lead(t *term, lock *postgres.Lock) {
	e.leadMu.Lock()
	defer e.leadMu.Unlock()
	e.term, e.lock = t, lock
}

// drive fills one projection until the leadership ends. After a failure of the connection it waits and reads the
// checkpoint again, because the last transaction may have been committed although it was reported as failed.
func (t *term) drive(ctx context.Context, e *entry) {
	pause := loop.Backoff{Min: minBackoff, Max: maxBackoff}
	for ctx.Err() == nil {
		began, err := false, t.resume(ctx, e)
		if err == nil {
			began, err = t.live(ctx, e)
		}
		switch {
		case ctx.Err() != nil:
			return
		case final(err) && t.gone(ctx, e):
			err = nil // the tables were dropped, because a newer version has replaced them
		case final(err):
			t.halt(ctx, e, err)
			pause.Reset()
			continue
		case began:
			pause.Reset()
		}
		if err == nil {
			continue // there are other tables now
		}
		t.logger.WarnContext(ctx, "projection interrupted", "projection", e.name, "error", err, "retry_in",
			pause.Pause())
		pause.Wait(ctx)
	}
}

// final reports whether an error stops a projection: an event that it cannot apply, or a log that is not the one which
// the tables show.
func final(err error) bool {
	var bad *poison
	return errors.As(err, &bad) || IsOtherLog(err)
}

// IsOtherLog reports whether a log is not the one that was read.
func IsOtherLog(err error) bool {
	var other *eventstore.OtherLogError
	return errors.As(err, &other)
}

// gone reports that the tables which this program fills do not exist any more.
func (r *Runner) gone(ctx context.Context, e *entry) bool {
	all, err := r.generations(ctx, r.cfg.DB.Owner, e.name)
	if err != nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, g := range all {
		if e.active != nil && g.Name == e.name && g.Generation == e.active.Generation {
			return false
		}
	}
	return true
}

// resume loads the tables of this program's version. It starts a build when there are none, or when a build is
// unfinished, but not when a newer version has replaced them.
func (t *term) resume(ctx context.Context, e *entry) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, err := t.load(ctx, e)
	if err != nil {
		return err
	}
	t.checkLog(ctx, s.own)
	e.active = s.own
	if s.own == nil {
		e.progress.none(s)
	} else {
		e.progress.advance(s.own, StateBehind)
	}
	if s.building != nil || s.own == nil && !s.outdated {
		t.startBuild(e, false)
	}
	return nil
}

// live applies new events, page by page, until an error. began reports that at least one page was applied. Tables are
// compared with the log before their first page: what follows is of one log, because the feed compares whenever it
// reads anew.
func (r *Runner) live(ctx context.Context, e *entry) (began bool, err error) {
	for reached := uint64(0); ; {
		position, mark, waits, err := e.begin()
		if err != nil {
			return began, err
		}
		if waits { // for tables that this code can fill
			if !loop.WaitFor(ctx, e.retry, unknownPauseMax) {
				return began, ctx.Err()
			}
			return true, nil
		}
		if !began || position != reached { // before anything is said to be shown
			if err := r.cfg.Feed.Covers(ctx, position, mark); err != nil {
				return began, err
			}
		}
		for page, err := range r.cfg.Feed.Stream(ctx, position, e.want, batchLimit) {
			if err == nil {
				err = r.take(ctx, e, page)
			}
			if err != nil {
				return began, err
			}
			began, position = true, page.UpTo
			e.gather(ctx, page)
		}
		r.showLive(e)
		page, err := r.cfg.Feed.Next(ctx, position, e.want, batchLimit)
		if err != nil {
			return began, err
		}
		if err := r.take(ctx, e, page); err != nil {
			return began, err
		}
		began, reached = true, page.UpTo
		e.gather(ctx, page)
	}
}

// gather lets events come together after a page that shows that many come, the longer the more it had: a transaction
// for a few costs nearly as much as one for all. It ends when a reader of this program waits; one of another program
// waits for it.
func (e *entry) gather(ctx context.Context, page feed.Page) {
	n := len(page.Events)
	if n < gatherFrom || n >= batchLimit || e.readers.Load() > 0 {
		return
	}
	loop.WaitFor(ctx, e.asked, min(time.Duration(n)*gatherEach, gatherMost))
}

// begin returns the position of the active tables with their mark, and fails when they are of another log. waits is set
// when there are no tables.
func (e *entry) begin() (position uint64, mark eventstore.Mark, waits bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.active == nil {
		return 0, mark, true, nil
	}
	return e.active.Position, e.active.Mark, false, e.active.astray()
}

// showLive publishes that the tables show the whole log, also when no event has come since they were loaded.
func (r *Runner) showLive(e *entry) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.active != nil && e.active.Position >= r.cfg.Feed.Head() && e.progress.look().state == StateBehind {
		e.progress.advance(e.active, StateLive)
	}
}

// take applies a page to the active tables and publishes the new position. It ignores a page that was read before the
// tables were replaced.
func (r *Runner) take(ctx context.Context, e *entry, page feed.Page) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.active == nil || e.active.Position > page.From {
		return nil // replaced since the page was read
	}
	err := r.apply(ctx, e.p, e.active, page)
	state := StateBehind
	if page.Live {
		state = StateLive
	}
	e.progress.advance(e.active, state)
	return err
}

// haltSQL stores why a projection has stopped, and where the log ended if that is the reason.
const haltSQL = `
update {schema}.projection_versions
set error = $3, log_end = coalesce($4, log_end), log_has = coalesce($5, log_has)
where name = $1 and generation = $2`

// storeHalt stores why a set of tables has stopped.
func (r *Runner) storeHalt(ctx context.Context, g *generation, why error) error {
	_, err := r.cfg.DB.Owner.Exec(ctx, r.sql(haltSQL), g.Name, g.Generation, why.Error(), g.LogEnd, g.LogHas)
	if err != nil {
		return fmt.Errorf("store why %s has stopped: %w", g.Name, err)
	}
	return nil
}

// halt logs, stores and publishes why a projection stops, then waits for a retry, for new tables or for the end of ctx.
// At an event of a newer version it ends the term, so that a program of that version can lead.
func (t *term) halt(ctx context.Context, e *entry, why error) {
	e.mu.Lock()
	stopped, astray := generation{Name: e.name, Error: why.Error()}, IsOtherLog(why)
	if e.active != nil {
		e.active.lost(why)
		stopped = *e.active
	}
	e.mu.Unlock()
	if astray {
		why = errors.New(stopped.Error) // with what a person does
	}
	facts := []any{"projection", e.name, "error", why}
	var bad *poison
	if errors.As(why, &bad) {
		facts = []any{
			"projection", e.name, "position", bad.event.Position, "event_type", bad.event.Type, "event_id",
			bad.event.ID, "error", bad.cause,
		}
	}
	t.logger.ErrorContext(ctx, "projection stopped", facts...)
	_ = t.storeHalt(ctx, &stopped, why)
	// Last, so that a reader who sees it here finds it in the table too.
	e.progress.stop(why, stopped.LogEnd != nil || astray)
	if bad != nil {
		if u, ok := bad.event.Event.(feed.Undecodable); ok && u.Unknown {
			t.end(errUnknown)
		}
	}
	loop.Wait(ctx, e.retry)
}

// saveSQL stores a position that moved without any row being written.
const saveSQL = `
update {schema}.projection_versions set position = $4, mark = $5
where name = $1 and generation = $2 and position = $3`

// save stores a position that moved without any row being written. It gives up when the tables are in use: without the
// stored position, some events are considered once more after a restart, nothing else.
func (r *Runner) save(ctx context.Context, e *entry) error {
	if !e.mu.TryLock() {
		return nil // being written just now
	}
	defer e.mu.Unlock()
	g := e.active
	if g == nil || g.Position == g.saved {
		return nil
	}
	//nolint:gosec // positions fit
	tag, err := r.cfg.DB.Owner.Exec(ctx, r.sql(saveSQL), g.Name, g.Generation, int64(g.saved), int64(g.Position),
		g.Mark)
	if err == nil && tag.RowsAffected() == 1 {
		g.saved = g.Position
	}
	return err
}

// The shortest and the longest wait after a failure; each wait is longer than the one before.
const (
	minBackoff = 50 * time.Millisecond
	maxBackoff = 10 * time.Second
)
