package runner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// How often the leaders and the followers look at the database.
const (
	leadRound   = 500 * time.Millisecond // requests are taken, and the locks are checked
	saveRounds  = 4                      // rounds of leadRound between two stores of positions without rows
	followRound = time.Second            // while no reader waits
	followHurry = 10 * time.Millisecond  // after a reader came; then longer each time
	// followHurryMax is the pause while readers wait for long, and followAwayMax that while the database is away.
	followHurryMax = 100 * time.Millisecond
	followAwayMax  = 10 * time.Second
	endPatience    = 500 * time.Millisecond // for the log's answer where it ends
	campaignWait   = time.Second            // between two attempts to lead
	awayMost       = 15 * time.Second       // between two attempts at what fails, and at first campaignWait
	tidyRounds     = 20                     // rounds of leadRound between two searches for tables that nobody uses
)

// leadPause follows a term of leadership that was shorter than it, longer each time up to awayMost. A program that
// stopped at an event of a newer version waits from unknownPause on, twice as long each time, so that a program that
// knows the event can lead.
const (
	leadPause       = time.Second
	unknownPause    = 3 * time.Second
	unknownPauseMax = time.Minute
)

// leaderLock is the name of the advisory lock of the one program that fills a projection's tables of a version.
// Programs of two versions each fill their own tables.
func leaderLock(name string, version int) string {
	return fmt.Sprintf("projection %s v%d", name, version)
}

// run leads the projections that no other program leads, and follows the others, until ctx ends. With FollowOnly it
// never asks for a lock.
func (r *Runner) run(ctx context.Context) {
	work := loop.Within(ctx, r.logger)
	defer work.Stop()
	work.Go("projections of others", r.follow)
	if r.cfg.FollowOnly {
		<-ctx.Done()
		return
	}
	for _, e := range r.entries {
		work.Go("leadership of "+e.name, func(ctx context.Context) { r.campaign(ctx, e) })
	}
	r.lookAfter(ctx)
}

// campaign leads a projection whenever no other program does, until ctx ends.
func (r *Runner) campaign(ctx context.Context, e *entry) {
	machine := clock.Steady(clock.System()) // for lengths of terms, whatever either clock is set to
	pause := loop.Backoff{Min: unknownPause, Max: unknownPauseMax}
	away := loop.Backoff{Min: campaignWait, Max: awayMost}
	short := loop.Backoff{Min: leadPause, Max: awayMost}
	for ctx.Err() == nil {
		lock, got, err := r.cfg.DB.TryLock(ctx, leaderLock(e.name, e.p.Version()))
		if err != nil && ctx.Err() == nil {
			loop.WaitFor(ctx, r.missed(ctx, err), away.Next())
			continue
		}
		if away.Reset(); err == nil && r.away.Ended() {
			r.logger.InfoContext(ctx, "projections have the database again")
		}
		if !got {
			loop.Sleep(ctx, campaignWait)
			continue
		}
		began := machine.Now()
		err = r.lead(ctx, e, lock)
		switch {
		case errors.Is(err, errUnknown):
			pause.Wait(ctx)
		case machine.Now().Sub(began) < leadPause:
			short.Wait(ctx) // a database that gives the lock and refuses the work fills no log
		default:
			pause.Reset()
			short.Reset()
		}
	}
}

// missed notes that a projection did not reach the database, which all of them tell as one. The result is closed when
// one of them has reached it.
func (r *Runner) missed(ctx context.Context, err error) (over <-chan struct{}) {
	tell, over := r.away.Failed()
	if tell {
		r.logger.WarnContext(ctx, "projections wait for the database", "error", err)
	}
	return over
}

// errUnknown ends a term at an event that a newer version of the program has written.
var errUnknown = errors.New("a newer version of the program has written this event")

// term is the time from getting the lock of a projection to losing it or giving it back.
type term struct {
	*Runner
	work *loop.Group // the goroutine that fills the tables, and a build
	end  context.CancelCauseFunc
}

// lead fills a projection until ctx ends or the lock is lost. It stops all work before it releases the lock.
func (r *Runner) lead(ctx context.Context, e *entry, lock *postgres.Lock) error {
	leading, end := context.WithCancelCause(ctx)
	defer end(nil)
	t := &term{r, loop.Within(leading, r.logger), end}
	e.mu.Lock()
	e.building = false // of a build that was asked for just when the last term ended
	e.mu.Unlock()
	e.lead(t, lock)
	defer lock.Unlock()
	defer r.retire(ctx, e)
	defer t.work.Stop()
	t.work.Go("projection "+e.name, func(ctx context.Context) { t.drive(ctx, e) })
	<-leading.Done()
	err := context.Cause(leading)
	if ctx.Err() == nil {
		r.logger.WarnContext(ctx, "leadership of a projection ended", "projection", e.name, "error", err)
	}
	return err
}

// retire stores the position that a projection has reached, and makes the entry forget its tables, which the next
// leader may replace.
func (r *Runner) retire(ctx context.Context, e *entry) {
	last, done := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer done()
	_ = r.save(last, e) // losing a position is harmless: the next leader considers some events again
	e.mu.Lock()
	e.active, e.building = nil, false
	e.mu.Unlock()
	e.progress.leave()
	e.lead(nil, nil)
}

// lookAfter checks the locks, takes requests and does the upkeep, beside the goroutines that fill tables, until ctx
// ends.
func (r *Runner) lookAfter(ctx context.Context) {
	rounds := 0
	pause := loop.Backoff{Min: campaignWait, Max: awayMost}
	_ = loop.Every(ctx, leadRound, nil, func(ctx context.Context) error {
		r.checkLocks(ctx)
		err := r.takeRequests(ctx)
		if rounds%saveRounds == 0 {
			for _, e := range r.entries {
				err = errors.Join(err, r.save(ctx, e))
			}
		}
		if rounds%tidyRounds == 0 {
			err = errors.Join(err, r.tidy(ctx))
		}
		rounds++
		if err == nil || ctx.Err() != nil {
			pause.Reset()
			return nil
		}
		r.logger.WarnContext(ctx, "projection upkeep failed", "error", err, "retry_in", pause.Pause())
		loop.WaitFor(ctx, r.away.Over(), pause.Next())
		return nil
	})
}

// checkLocks ends the terms whose locks are lost. One answer for one of them is enough for all.
func (r *Runner) checkLocks(ctx context.Context) {
	asked := false
	for _, e := range r.entries {
		t, lock := e.leading()
		if t == nil || asked && lock.IsHeld() {
			continue
		}
		if err := lock.Ping(ctx); err != nil {
			t.end(err)
			continue
		}
		asked = true
	}
}

// request is one row of projection_requests: a rebuild or a retry that a command line asked for.
type request struct {
	Name string
	Kind string
}

// takeRequests acts on the requests for projections that this program leads. A retry also continues an unfinished
// build. The row of a rebuild is deleted by the build, when the new tables exist: until then a crash loses nothing.
func (r *Runner) takeRequests(ctx context.Context) error {
	rows, err := r.cfg.DB.Owner.Query(ctx, r.sql(`select name, kind from {schema}.projection_requests`))
	if err != nil {
		return fmt.Errorf("take requests: %w", err)
	}
	asked, err := pgx.CollectRows(rows, pgx.RowToStructByName[request])
	if err != nil {
		return fmt.Errorf("take requests: %w", err)
	}
	for _, q := range asked {
		e := r.byName[q.Name]
		if e == nil {
			continue
		}
		newest, err := r.newest(ctx, e)
		if err != nil {
			return err
		}
		t, _ := e.leading()
		e.mu.Lock()
		if t != nil && (q.Kind == requestRebuild && newest || e.progress.look().rebuild != nil) {
			t.startBuild(e, q.Kind == requestRebuild)
		}
		e.mu.Unlock()
		if t == nil || q.Kind != requestRetry {
			continue
		}
		loop.Wake(e.retry)
		if err := r.forgetRequest(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// newest reports whether the active tables of a projection are not of a newer version than this program's. A request
// for a rebuild is for the newest program.
func (r *Runner) newest(ctx context.Context, e *entry) (bool, error) {
	s, err := r.load(ctx, e)
	return err == nil && !s.outdated && s.active.Version <= e.p.Version(), err
}

// forgetRequest deletes a request that was acted on.
func (r *Runner) forgetRequest(ctx context.Context, q request) error {
	_, err := r.cfg.DB.Owner.Exec(ctx, r.sql(`delete from {schema}.projection_requests where name = $1 and kind = $2`),
		q.Name, q.Kind)
	if err != nil {
		return fmt.Errorf("delete request: %w", err)
	}
	return nil
}

// follow publishes the positions that another program has reached, to the readers of this one, until ctx ends.
func (r *Runner) follow(ctx context.Context) {
	hurry := loop.Backoff{Min: followHurry, Max: followHurryMax}
	away := loop.Backoff{Min: followRound, Max: followAwayMax}
	var lost loop.Outage // of what is followed; those that lead tell theirs
	var came uint64
	for ctx.Err() == nil {
		err := r.followAll(ctx)
		if err != nil && ctx.Err() == nil {
			if tell, _ := lost.Failed(); tell {
				r.logger.WarnContext(ctx, "projections cannot be followed", "error", err)
			}
		} else if err == nil && lost.Ended() {
			r.logger.InfoContext(ctx, "projections are followed again")
		}
		if readers := r.came.Load(); readers != came { // a new one is served fast
			came = readers
			hurry.Reset()
		}
		wait := followRound
		switch {
		case err != nil: // also while readers wait
			wait = away.Next()
		case r.waiting.Load() > 0:
			wait = hurry.Next()
		}
		if err == nil {
			away.Reset()
		}
		loop.WaitFor(ctx, r.hurry, wait)
	}
}

// followAll publishes the tables of all projections that this program does not lead. Where it leads all of them, as a
// program that is alone does, there is nothing to read.
func (r *Runner) followAll(ctx context.Context) error {
	if !slices.ContainsFunc(r.entries, (*entry).follows) {
		return nil
	}
	all, err := r.generations(ctx, r.cfg.DB.Owner, "")
	if err != nil {
		return err
	}
	end := r.endBefore(ctx, all)
	for _, e := range r.entries {
		s := setsOf(e, all)
		if s.own != nil {
			s.own.endsAt(end)
		}
		e.followed(func() { r.followOne(e, s) })
	}
	return nil
}

// endBefore asks the log once where it ends, when tables are ahead of what this program has read of it. While the log
// does not answer nothing is known, and what the tables show is believed.
func (r *Runner) endBefore(ctx context.Context, all []*generation) uint64 {
	head := r.cfg.Feed.Head()
	if !slices.ContainsFunc(all, func(g *generation) bool { return g.Position > head }) {
		return math.MaxUint64
	}
	ctx, cancel := context.WithTimeout(ctx, endPatience)
	defer cancel()
	end, err := r.cfg.Feed.End(ctx)
	if err != nil {
		return math.MaxUint64
	}
	return end
}

// follows reports whether another program fills the tables, or none.
func (e *entry) follows() bool {
	t, _ := e.leading()
	return t == nil
}

// followed calls publish unless this program leads, and keeps it from leading until that is done.
func (e *entry) followed(publish func()) {
	e.leadMu.Lock()
	defer e.leadMu.Unlock()
	if e.term == nil {
		publish()
	}
}

// followOne publishes the tables of a projection that this program does not lead.
func (r *Runner) followOne(e *entry, s sets) {
	if s.own == nil {
		e.progress.none(s)
		return
	}
	position := s.own.Position
	if clear, ok := r.cfg.Feed.Clear(position, e.want); ok {
		position = clear // no event that it wants came after the stored position
	}
	e.progress.follow(s.own, position, r.cfg.Feed.Head())
}
