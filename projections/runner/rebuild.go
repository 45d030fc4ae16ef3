package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// The kinds of request.
const (
	requestRebuild = "rebuild"
	requestRetry   = "retry"
)

// rebuildRound is how often another program's rebuild is looked at.
const rebuildRound = 200 * time.Millisecond

// ask leaves a request for the program that leads.
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

// Retry has a stopped projection try its event again, wherever it runs. Without a running program the next start does.
func (r *Runner) Retry(ctx context.Context, name string) error { return r.ask(ctx, name, requestRetry) }

// Rebuild fills new tables of a projection and returns when they are the active ones. When another program leads, it is
// asked to and watched; else the work is done here. Prepare, and the feed's start, come before it. report may be nil.
func (r *Runner) Rebuild(ctx context.Context, name string, report func(Progress)) error {
	e := r.byName[name]
	if e == nil {
		return fmt.Errorf("there is no projection %q", name)
	}
	if report == nil {
		report = func(Progress) {}
	}
	active, _, err := r.load(ctx, name)
	if err != nil {
		return err
	}
	lock, ok, err := r.cfg.DB.TryLock(ctx, leaderLock)
	if err != nil {
		return err
	}
	if !ok {
		return r.rebuildThere(ctx, name, active.Generation, report)
	}
	defer lock.Unlock()
	_, _ = r.cfg.DB.Owner.Exec(ctx, r.sql(`delete from {schema}.projection_requests where name = $1`), name)
	return r.rebuildHere(ctx, e, active, report)
}

// rebuildHere does the work under the leader's lock.
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

// rebuildThere asks the leader and watches it.
func (r *Runner) rebuildThere(ctx context.Context, name string, old int, report func(Progress)) error {
	if err := r.ask(ctx, name, requestRebuild); err != nil {
		return err
	}
	for {
		active, building, err := r.load(ctx, name)
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
