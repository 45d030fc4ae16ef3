package runner

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// batchLimit is the largest number of events in one transaction; larger ones are not faster
// (docs/facts/storage.md#projecting).
const batchLimit = 1000

// entry is a registered projection with the state that this program keeps of its tables.
type entry struct {
	p        Projection
	name     string
	want     feed.Wanted
	progress progress
	retry    chan struct{} // wakes a projection that has stopped, or that waits for tables of its version

	mu       sync.Mutex  // held while the active tables are written or replaced
	active   *generation // nil while this program does not lead
	building bool        // a build runs in this program
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
		var bad *poison
		switch {
		case ctx.Err() != nil:
			return
		case errors.As(err, &bad):
			t.halt(ctx, e, bad)
			pause.Reset()
			continue
		case began:
			pause.Reset()
		}
		t.logger.WarnContext(ctx, "projection interrupted", "projection", e.name, "error", err, "retry_in",
			pause.Pause())
		pause.Wait(ctx)
	}
}

// resume loads the active tables. It starts a build when they have another version than the code, or when a build is
// unfinished.
func (t *term) resume(ctx context.Context, e *entry) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	active, building, err := t.load(ctx, e.name)
	if err != nil {
		return err
	}
	e.active = active
	e.progress.advance(active, StateBehind)
	if active.Version != e.p.Version() || building != nil {
		t.startBuild(e, false)
	}
	return nil
}

// live applies new events, page by page, until an error. began reports that at least one page was applied.
func (r *Runner) live(ctx context.Context, e *entry) (began bool, err error) {
	for {
		e.mu.Lock()
		version, position := e.active.Version, e.active.Position
		e.mu.Unlock()
		// This code cannot fill tables of another version. They are read as they are until the new ones replace them.
		if version != e.p.Version() {
			if !loop.Wait(ctx, e.retry) {
				return began, ctx.Err()
			}
			continue
		}
		for page, err := range r.cfg.Feed.Stream(ctx, position, e.want, batchLimit) {
			if err == nil {
				err = r.take(ctx, e, page)
			}
			if err != nil {
				return began, err
			}
			began, position = true, page.UpTo
		}
		page, err := r.cfg.Feed.Next(ctx, position, e.want, batchLimit)
		if err != nil {
			return began, err
		}
		if err := r.take(ctx, e, page); err != nil {
			return began, err
		}
		began = true
	}
}

// take applies a page to the active tables and publishes the new position. It ignores a page that was read before the
// tables were replaced.
func (r *Runner) take(ctx context.Context, e *entry, page feed.Page) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.active.Position > page.From || e.active.Version != e.p.Version() {
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

// halt logs, stores and publishes a poisonous event, then waits for a retry, for new tables or for the end of ctx.
func (r *Runner) halt(ctx context.Context, e *entry, bad *poison) {
	r.logger.ErrorContext(ctx, "projection stopped", "projection", e.name, "position", bad.event.Position,
		"event_type", bad.event.Type, "event_id", bad.event.ID, "error", bad.cause)
	_, _ = r.cfg.DB.Owner.Exec(ctx,
		r.sql(`update {schema}.projection_versions set error = $2 where name = $1 and state = 'active'`), e.name,
		bad.Error())
	e.progress.stop(bad) // last, so that a reader who sees it here finds it in the table too
	loop.Wait(ctx, e.retry)
}

// saveSQL stores a position that moved without any row being written.
const saveSQL = `
update {schema}.projection_versions set position = $4 where name = $1 and generation = $2 and position = $3`

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
	tag, err := r.cfg.DB.Owner.Exec(ctx, r.sql(saveSQL), g.Name, g.Generation, int64(g.saved), int64(g.Position))
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
