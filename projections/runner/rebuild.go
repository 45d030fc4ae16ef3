package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// The kinds of request, as stored in projection_requests.
const (
	requestRebuild = "rebuild"
	requestRetry   = "retry"
)

// rebuildRound is the pause between two looks at a rebuild that another program does.
const rebuildRound = 200 * time.Millisecond

// ask stores a request for the leading program. Asking again before the leader takes the request changes nothing.
func (r *Runner) ask(ctx context.Context, name, kind string) error {
	if r.byName[name] == nil {
		return fmt.Errorf("there is no projection %q", name)
	}
	_, err := r.cfg.DB.Owner.Exec(ctx,
		r.sql(`insert into {schema}.projection_requests (name, kind) values ($1, $2) on conflict do nothing`), name,
		kind)
	if err != nil {
		return fmt.Errorf("ask for %s of %s: %w", kind, name, err)
	}
	return nil
}

// Retry makes a stopped projection try its event again, in whichever program leads. When no program runs, the next one
// does so when it starts.
func (r *Runner) Retry(ctx context.Context, name string) error { return r.ask(ctx, name, requestRetry) }

// Rebuild fills new tables of a projection and returns when they are the active ones. When another program leads,
// Rebuild asks that program and watches it; otherwise it does the work itself. Call Prepare and start the feed before
// it. report gets the progress and may be nil.
func (r *Runner) Rebuild(ctx context.Context, name string, report func(Progress)) error {
	e := r.byName[name]
	if e == nil {
		return fmt.Errorf("there is no projection %q", name)
	}
	if report == nil {
		report = func(Progress) {}
	}
	found, err := r.load(ctx, e)
	if err != nil {
		return err
	}
	lock, ok, err := r.cfg.DB.TryLock(ctx, leaderLock(name, e.p.Version()))
	if err != nil {
		return err
	}
	if !ok {
		return r.rebuildThere(ctx, e, found.active.Generation, report)
	}
	defer lock.Unlock()
	return r.rebuildHere(ctx, e, found.own, report)
}

// rebuildHere fills the tables in this program, which holds the leader's lock.
func (r *Runner) rebuildHere(ctx context.Context, e *entry, active *generation, report func(Progress)) error {
	e.mu.Lock()
	e.active = active
	e.mu.Unlock()
	watch := loop.Within(ctx, r.logger)
	defer watch.Stop()
	watch.Go("rebuild report", func(ctx context.Context) {
		for {
			s, changed := e.progress.watch()
			if s.rebuild != nil {
				report(*s.rebuild)
			}
			if !loop.Wait(ctx, changed) {
				return
			}
		}
	})
	return r.build(ctx, e, true)
}

// rebuildThere asks the leader for a rebuild and waits until the active tables have a higher number than old.
func (r *Runner) rebuildThere(ctx context.Context, e *entry, old int, report func(Progress)) error {
	if err := r.ask(ctx, e.name, requestRebuild); err != nil {
		return err
	}
	for {
		found, err := r.load(ctx, e)
		active, building := found.active, found.building
		switch {
		case err != nil:
			return err
		case active.Generation > old:
			return nil
		case building != nil && building.Error != "":
			return errors.New(building.Error)
		case building != nil:
			report(Progress{
				Generation: building.Generation, Version: building.Version, Position: building.Position,
				Head: r.cfg.Feed.Head(),
			})
		}
		if !loop.Sleep(ctx, rebuildRound) {
			return ctx.Err()
		}
	}
}
