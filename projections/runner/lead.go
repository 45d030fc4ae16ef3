package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// How often the leader and the followers look at the database.
const (
	leadRound    = 500 * time.Millisecond // requests are taken; the query also proves that the lock is still held
	saveRounds   = 4                      // rounds of leadRound between two stores of positions without rows
	followRound  = time.Second            // while no reader waits
	followHurry  = 10 * time.Millisecond  // while a reader waits
	retireRounds = 20                     // rounds of leadRound between two searches for retired tables
)

// leaderLock is the advisory lock of the one program that fills the projections of an installation.
const leaderLock = "projections"

// leadPause follows a term of leadership that was shorter than it.
const leadPause = time.Second

// run leads while it has the lock and follows otherwise, until ctx ends. With FollowOnly it never asks for the lock.
func (r *Runner) run(ctx context.Context) {
	if r.cfg.FollowOnly {
		r.follow(ctx)
		return
	}
	machine := clock.System() // lengths of terms are the machine's time, whatever the product's clock says
	for ctx.Err() == nil {
		lock, err := r.campaign(ctx)
		if err != nil {
			if ctx.Err() == nil {
				r.logger.WarnContext(ctx, "projections wait for the database", "error", err)
				loop.Sleep(ctx, time.Second)
			}
			continue
		}
		began := machine.Now()
		r.lead(ctx, lock)
		if machine.Now().Sub(began) < leadPause {
			loop.Sleep(ctx, leadPause) // a database that gives the lock and refuses the work fills no log
		}
	}
}

// campaign waits for the leader's lock and follows the present leader meanwhile.
func (r *Runner) campaign(ctx context.Context) (*postgres.Lock, error) {
	lock, ok, err := r.cfg.DB.TryLock(ctx, leaderLock)
	if err != nil || ok {
		return lock, err
	}
	meanwhile := loop.Within(ctx, r.logger)
	defer meanwhile.Stop()
	meanwhile.Go("projections of others", r.follow)
	return r.cfg.DB.Lock(ctx, leaderLock)
}

// term is the time from getting the leader's lock to losing it or giving it back.
type term struct {
	*Runner
	work *loop.Group // one goroutine for each projection, and the builds
}

// lead fills all projections until ctx ends or the lock is lost. It stops all work before it releases the lock.
func (r *Runner) lead(ctx context.Context, lock *postgres.Lock) {
	t := term{r, loop.Within(ctx, r.logger)}
	defer lock.Unlock()
	defer r.retire(ctx)
	defer t.work.Stop()
	for _, e := range r.entries {
		t.work.Go("projection "+e.name, func(ctx context.Context) { t.drive(ctx, e) })
	}
	if err := t.lookAfter(ctx, lock); err != nil {
		r.logger.Warn("leadership of projections lost", "error", err)
	}
}

// retire stores the positions that the projections have reached, and makes the entries forget their tables, which the
// next leader may replace.
func (r *Runner) retire(ctx context.Context) {
	last, done := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer done()
	for _, e := range r.entries {
		_ = r.save(last, e) // losing a position is harmless: the next leader considers some events again
		e.mu.Lock()
		e.active, e.building = nil, false
		e.mu.Unlock()
	}
}

// lookAfter takes requests and does the upkeep, beside the goroutines that fill tables. It uses the connection that
// holds the lock, so that it fails as soon as the lock is lost.
func (t *term) lookAfter(ctx context.Context, lock *postgres.Lock) error {
	rounds := 0
	return loop.Every(ctx, leadRound, nil, func(ctx context.Context) error {
		if err := t.takeRequests(ctx, lock.Conn()); err != nil {
			return err
		}
		if err := t.upkeep(ctx, rounds); err != nil && ctx.Err() == nil {
			t.logger.WarnContext(ctx, "projection upkeep failed", "error", err)
		}
		rounds++
		return nil
	})
}

// upkeep does the work that is due in a round: it stores positions and drops retired tables. Rounds count from 0; round
// 0 does both.
func (r *Runner) upkeep(ctx context.Context, round int) error {
	var err error
	if round%saveRounds == 0 {
		for _, e := range r.entries {
			err = errors.Join(err, r.save(ctx, e))
		}
	}
	if round%retireRounds == 0 {
		err = errors.Join(err, r.dropRetired(ctx))
	}
	return err
}

// request is one row of projection_requests: a rebuild or a retry that a command line asked for.
type request struct {
	Name string
	Kind string
}

// takeRequests deletes the requests for registered projections and acts on them. A retry also continues an unfinished
// build.
func (t *term) takeRequests(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx,
		t.sql(`delete from {schema}.projection_requests where name = any($1) returning name, kind`), t.names())
	if err != nil {
		return fmt.Errorf("take requests: %w", err)
	}
	asked, err := pgx.CollectRows(rows, pgx.RowToStructByName[request])
	if err != nil {
		return fmt.Errorf("take requests: %w", err)
	}
	for _, q := range asked {
		e := t.byName[q.Name]
		e.mu.Lock()
		unfinished := e.progress.look().rebuild != nil
		if q.Kind == requestRebuild || unfinished {
			t.startBuild(e, q.Kind == requestRebuild)
		}
		e.mu.Unlock()
		if q.Kind == requestRetry {
			loop.Wake(e.retry)
		}
	}
	return nil
}

// follow publishes the positions that another program has reached, to the readers of this one, until ctx ends.
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
					position = clear // no event that it wants came after the stored position
				}
				e.progress.follow(g, position)
			}
		}
		wait := followRound
		if r.waiting.Load() > 0 {
			wait = followHurry
		}
		loop.WaitFor(ctx, r.hurry, wait)
	}
}
