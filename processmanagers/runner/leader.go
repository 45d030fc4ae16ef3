package processrunner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// leaderLock is the advisory lock of the one program that drives the processes of an installation.
const leaderLock = "processes"

// leadPause follows a term of leadership that was shorter than it.
const leadPause = time.Second

// lockRound is how often the leader checks that it still holds the lock, and looks for requests.
const lockRound = time.Second

// Pauses before a program that met an event of a newer version gives the leadership away. They grow, because all its
// processes pause while another program may take the lead.
const (
	unknownPause    = 2 * time.Second
	unknownPauseMax = 5 * time.Minute
	unknownRest     = 2 * time.Second // without the lock, longer than others wait for it
)

// errUnknown reports an event of an unknown type in a category of the program: a newer version has written it, or
// another application that uses the category.
var errUnknown = errors.New("this version of the program does not know the event: install the version that wrote it, " +
	"or see docs/operations.md#a-process-has-stopped")

// errFenced reports that another program drives the processes now, or has written the instance.
var errFenced = errors.New("another program drives the processes")

// term is the time from getting the leader's lock to losing it. Its epoch is in the database: transactions of an older
// term write nothing.
type term struct {
	epoch int64
	end   context.CancelFunc // when a transaction finds a newer epoch
}

// run waits for the leader's lock, leads, and begins again when the lock was lost, until ctx ends.
func (r *Runner) run(ctx context.Context) {
	machine := clock.Steady(clock.System()) // for lengths of terms, whatever either clock is set to
	pause := loop.Backoff{Min: time.Second, Max: 5 * time.Second}
	var away loop.Outage // of the leadership: a database that refuses the lock or the work fills no log
	for ctx.Err() == nil {
		lock, err := r.cfg.DB.Lock(ctx, leaderLock)
		began := machine.Now()
		if err != nil {
			r.lost(ctx)
		} else {
			err = r.lead(ctx, lock)
		}
		if r.behindTheLog() {
			loop.Sleep(ctx, unknownRest)
		}
		if machine.Now().Sub(began) > leadPause {
			pause.Reset()
			away.Ended()
		}
		if ctx.Err() == nil {
			if tell, _ := away.Failed(); tell {
				r.logger.WarnContext(ctx, "leadership of processes ended", "error", err)
			}
			pause.Wait(ctx)
		}
	}
}

// lost tells that the leadership begins, has ended, or was not got, unless the program stops.
func (r *Runner) lost(ctx context.Context) {
	if r.cfg.Lost != nil && ctx.Err() == nil {
		r.cfg.Lost()
	}
}

// behindTheLog reports whether a process has met an event of a newer version.
func (r *Runner) behindTheLog() bool {
	for _, p := range r.processes {
		if p.unknown.Load() {
			return true
		}
	}
	return false
}

// beginTermSQL raises the epoch. It waits for the transactions of older terms, because they share-lock the row.
const beginTermSQL = `
insert into {schema}.leader as l (epoch) values (1)
on conflict (only_row) do update set epoch = l.epoch + 1 returning epoch`

// fenceSQL finds the row of the present term. Until the transaction ends, no other term can begin.
const fenceSQL = `select epoch from {schema}.leader where epoch = $1 for share`

// lead drives all processes until ctx ends, the lock is lost, or another term has begun. It stops all work before it
// releases the lock.
func (r *Runner) lead(ctx context.Context, lock *postgres.Lock) error {
	defer lock.Unlock()
	whole := ctx
	ctx, end := context.WithCancel(ctx)
	defer end()
	t := &term{end: end}
	if err := r.cfg.DB.Owner.QueryRow(ctx, r.sql(beginTermSQL)).Scan(&t.epoch); err != nil {
		r.lost(whole)
		return fmt.Errorf("begin a term: %w", err)
	}
	r.lost(whole)
	work := loop.Within(ctx, r.logger)
	defer work.Stop()
	defer r.lost(whole) // before the work has ended, which can take a while
	for _, p := range r.processes {
		work.Go("process "+p.name, func(ctx context.Context) { p.drive(ctx, t) })
	}
	err := loop.Every(ctx, lockRound, r.asked, func(ctx context.Context) error {
		if err := lock.Ping(ctx); err != nil {
			return err
		}
		return r.passRequests(ctx)
	})
	if err == nil {
		err = errFenced
	}
	return err
}

// passRequests gives the processes the retries that people have asked for, and deletes those for processes that this
// version of the program does not have. A version that has them tries everything that has stopped when it starts.
func (r *Runner) passRequests(ctx context.Context) error {
	unknown := false
	rows, err := r.cfg.DB.Owner.Query(ctx, r.sql(`select process, key from {schema}.requests limit 1000`))
	if err != nil {
		return err
	}
	var process, key string
	_, err = pgx.ForEachRow(rows, []any{&process, &key}, func() error {
		if p := r.byName[process]; p != nil {
			p.ask(key)
		} else {
			unknown = true
		}
		return nil
	})
	if err != nil || !unknown {
		return err
	}
	_, err = r.cfg.DB.Owner.Exec(ctx, r.sql(`delete from {schema}.requests where process <> all ($1)`),
		slices.Collect(maps.Keys(r.byName)))
	return err
}
