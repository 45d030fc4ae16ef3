package runner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// Rounds of looking after things.
const (
	leadRound    = 500 * time.Millisecond // requests; proves that the lock is still held
	saveRounds   = 4                      // of leadRound between lazy checkpoints
	followRound  = time.Second            // nobody waits
	followHurry  = 10 * time.Millisecond  // somebody waits
	retireRounds = 20                     // of leadRound between looks for retired tables
)

// leaderLock is held by the one program that fills the projections of an installation.
const leaderLock = "projections"

// run leads when it can and follows otherwise.
func (r *Runner) run(ctx context.Context) {
	defer close(r.done)
	if r.cfg.FollowOnly {
		r.follow(ctx)
		return
	}
	for ctx.Err() == nil {
		lock, err := r.campaign(ctx)
		if err != nil {
			if ctx.Err() == nil {
				r.logger.WarnContext(ctx, "projections wait for the database", "error", err)
				sleep(ctx, time.Second)
			}
			continue
		}
		r.lead(ctx, lock)
		lock.Unlock()
	}
}

// campaign waits for the leadership, following meanwhile.
func (r *Runner) campaign(ctx context.Context) (*postgres.Lock, error) {
	lock, ok, err := r.cfg.DB.TryLock(ctx, leaderLock)
	if err != nil || ok {
		return lock, err
	}
	following, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { r.follow(following) })
	defer wg.Wait()
	defer stop()
	return r.cfg.DB.Lock(ctx, leaderLock)
}

// lead fills all projections until ctx ends or the lock is lost.
func (r *Runner) lead(ctx context.Context, lock *postgres.Lock) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for _, e := range r.entries {
		wg.Go(func() { r.drive(ctx, e) })
	}
	err := r.lookAfter(ctx, lock)
	cancel()
	wg.Wait()
	r.builds.Wait()
	if err != nil {
		r.logger.Warn("projections no longer led here", "error", err)
	}
	last, done := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer done()
	for _, e := range r.entries {
		_ = r.save(last, e) // only costs a second look when it fails
		e.mu.Lock()
		e.active = nil
		e.mu.Unlock()
	}
}

// lookAfter does the small work beside the projections. It uses the connection of the lock, so that it fails once the
// lock is lost.
func (r *Runner) lookAfter(ctx context.Context, lock *postgres.Lock) error {
	ticker := time.NewTicker(leadRound)
	defer ticker.Stop()
	for round := 0; ; round++ {
		if err := r.takeRequests(ctx, lock.Conn()); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		var err error
		for _, e := range r.entries {
			if round%saveRounds == 0 {
				err = errors.Join(err, r.save(ctx, e))
			}
		}
		if round%retireRounds == 0 {
			err = errors.Join(err, r.dropRetired(ctx))
		}
		if err != nil && ctx.Err() == nil {
			r.logger.WarnContext(ctx, "projection upkeep failed", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// request is what the command line asks for.
type request struct {
	Name string
	Kind string
}

// takeRequests does what was asked for since the last look.
func (r *Runner) takeRequests(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx,
		r.sql(`delete from {schema}.projection_requests where name = any($1) returning name, kind`), r.names())
	if err != nil {
		return fmt.Errorf("take requests: %w", err)
	}
	asked, err := pgx.CollectRows(rows, pgx.RowToStructByName[request])
	if err != nil {
		return fmt.Errorf("take requests: %w", err)
	}
	for _, q := range asked {
		e := r.byName[q.Name]
		e.mu.Lock()
		unfinished := e.progress.look().rebuild != nil
		if q.Kind == requestRebuild || unfinished {
			r.startBuild(ctx, e, q.Kind == requestRebuild)
		}
		e.mu.Unlock()
		if q.Kind == requestRetry {
			wake(e.retry)
		}
	}
	return nil
}

// follow shows what another program's projections have done.
func (r *Runner) follow(ctx context.Context) {
	for ctx.Err() == nil {
		all, err := r.generations(ctx, r.cfg.DB.Owner)
		if err != nil && ctx.Err() == nil {
			r.logger.WarnContext(ctx, "projections cannot be followed", "error", err)
		}
		for _, g := range all {
			if e := r.byName[g.Name]; e != nil && g.State == genActive {
				position := g.Position
				if clear, ok := r.cfg.Feed.Clear(position, e.want); ok {
					position = clear // nothing it takes came since, so it need not have stored more
				}
				e.progress.follow(g, position)
			}
		}
		wait := followRound
		if r.waiting.Load() > 0 {
			wait = followHurry
		}
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-t.C:
		case <-r.hurry:
		}
		t.Stop()
	}
}
