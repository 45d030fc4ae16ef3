package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// buildLimit is the largest number of events in one transaction while tables are being built and not yet read.
const buildLimit = 2000

// startBuild fills new tables in the background, unless a build is running already. fresh drops the tables of an
// unfinished build first. The caller holds the entry's lock.
func (t *term) startBuild(e *entry, fresh bool) {
	if e.building {
		return
	}
	e.building = true
	t.work.Go("rebuild of projection "+e.name, func(ctx context.Context) {
		err := t.build(ctx, e, fresh)
		e.mu.Lock()
		e.building = false
		e.mu.Unlock()
		if err != nil && ctx.Err() == nil {
			t.logger.ErrorContext(ctx, "projection rebuild stopped", "projection", e.name, "error", err)
		}
		loop.Wake(e.retry)
	})
}

// build fills new tables and makes them the active ones. It retries after every failure except a poisonous event, which
// it stores with the tables and returns.
func (r *Runner) build(ctx context.Context, e *entry, fresh bool) error {
	pause, forced := loop.Backoff{Min: minBackoff, Max: maxBackoff}, fresh
	for {
		g, err := r.newTables(ctx, e, fresh)
		if err == nil {
			g.forced, fresh = forced, false
			r.logger.InfoContext(ctx, "projection rebuild started", "projection", e.name, "generation", g.Generation,
				"position", g.Position)
			err = r.fill(ctx, e, g)
		}
		var bad *poison
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case IsOtherLog(err):
			fresh = true // what was filled is not the log any more
		case errors.As(err, &bad):
			_, _ = r.cfg.DB.Owner.Exec(ctx,
				r.sql(`update {schema}.projection_versions set error = $3 where name = $1 and generation = $2`), e.name,
				g.Generation, bad.Error())
			r.showBuild(e, g, bad.Error()) // last, so that a reader who sees it here finds it in the table too
			return bad
		}
		r.logger.WarnContext(ctx, "projection rebuild interrupted", "projection", e.name, "error", err)
		if !pause.Wait(ctx) {
			return ctx.Err()
		}
	}
}

// newTables returns the tables to fill: those of an unfinished build, unless fresh is set; otherwise new ones. A
// request for a rebuild is deleted when its tables exist.
func (r *Runner) newTables(ctx context.Context, e *entry, fresh bool) (*generation, error) {
	all, err := r.generations(ctx, r.cfg.DB.Owner, e.name)
	if err != nil {
		return nil, err
	}
	g := setsOf(e, all).building
	for _, old := range all {
		if old.Name == e.name && old.State == genBuilding && old.Version == e.p.Version() && (fresh || g == nil) {
			if err := r.drop(ctx, old); err != nil {
				return nil, err
			}
			g = nil
		}
	}
	if g == nil {
		if g, err = r.create(ctx, e, genBuilding); err != nil {
			return nil, err
		}
	}
	return g, r.forgetRequest(ctx, request{e.name, requestRebuild})
}

// fill replays the log into new tables and makes them the active ones when it has reached the end of the log.
func (r *Runner) fill(ctx context.Context, e *entry, g *generation) error {
	err := r.cfg.Feed.Covers(ctx, g.Position, g.Mark) // of an unfinished build
	if err != nil {
		return err
	}
	err = r.replay(ctx, e.p, e.want, g, func() { r.showBuild(e, g, "") })
	if err != nil {
		return err
	}
	for {
		page, err := r.cfg.Feed.Read(ctx, g.Position, e.want, batchLimit)
		if err != nil {
			return err
		}
		if err := r.apply(ctx, e.p, g, page); err != nil {
			return err
		}
		r.showBuild(e, g, "")
		if page.Live {
			return r.takeOver(ctx, e, g)
		}
	}
}

// replay applies pages until the rest of the log is in the feed's memory. The next page is read and decoded while one
// is written.
func (r *Runner) replay(ctx context.Context, p Projection, want feed.Wanted, g *generation, done func()) error {
	for page, err := range r.cfg.Feed.Stream(ctx, g.Position, want, buildLimit) {
		if err == nil {
			err = r.apply(ctx, p, g, page)
		}
		if err != nil {
			return err
		}
		done()
	}
	return ctx.Err()
}

// takeOver makes new tables the active ones. It first brings them up to the position of the old tables, so that readers
// never see an older position, unless the log itself ends before that position.
func (r *Runner) takeOver(ctx context.Context, e *entry, g *generation) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	old := e.active // nil: tables of another version, which this program does not read
	r.checkLog(ctx, old)
	for old != nil && old.LogEnd == nil && g.Position < old.Position {
		page, err := r.cfg.Feed.Next(ctx, g.Position, e.want, batchLimit)
		if err != nil {
			return err
		}
		if err := r.apply(ctx, e.p, g, page); err != nil {
			return err
		}
	}
	if err := r.swap(ctx, g); err != nil {
		return fmt.Errorf("switch tables of %s: %w", e.name, err)
	}
	g.State, g.saved = genActive, g.Position
	e.active = g
	e.progress.advance(g, StateLive)
	e.progress.building(nil)
	r.logger.InfoContext(ctx, "projection switched", "projection", e.name, "generation", g.Generation, "version",
		g.Version, "position", g.Position)
	return nil
}

// Statements of swap. Each changes no row when a program of a newer version has already switched.
const (
	retireSQL = `
update {schema}.projection_versions set state = 'retired', retired_at = $2
where name = $1 and state = 'active' and (version <= $3 or $4)`
	activateSQL = `
update {schema}.projection_versions set state = 'active', position = $4, mark = $5, error = ''
where name = $1 and generation = $2 and position = $3 and state = 'building'`
)

// swap retires the active tables and activates others in one transaction. It fails with errLost when the active ones
// are of a newer version, unless the build was forced.
func (r *Runner) swap(ctx context.Context, g *generation) error {
	return pgx.BeginFunc(ctx, r.cfg.DB.Owner, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, r.sql(retireSQL), g.Name, r.cfg.Clock.Now(), g.Version, g.forced)
		if err == nil && tag.RowsAffected() != 1 {
			return errLost
		}
		if err != nil {
			return err
		}
		//nolint:gosec // positions fit
		tag, err = tx.Exec(ctx, r.sql(activateSQL), g.Name, g.Generation, int64(g.saved), int64(g.Position),
			g.Mark)
		if err == nil && tag.RowsAffected() != 1 {
			return errLost
		}
		return err
	})
}

// showBuild publishes the progress of new tables to Status; fault is empty while the build goes on.
func (r *Runner) showBuild(e *entry, g *generation, fault string) {
	e.progress.building(&Progress{
		Generation: g.Generation, Version: g.Version, Position: g.Position, Head: r.cfg.Feed.Head(), Error: fault,
	})
}
