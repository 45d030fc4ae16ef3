package jobrunner_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// errand is a job that is asked for again when nothing was heard of it. Run is another one each time.
type errand struct {
	Target string
	Run    int
}

func (errand) Kind() string { return "test.errand" }

// Request is the target: which run gets there does not matter.
func (e errand) Request() string { return e.Target }

// errands is a queue of errands whose ends a test chooses.
type errands struct {
	t        *testing.T
	db       *postgres.DB
	queue    *jobrunner.Runner
	runs     chan errand
	verdicts chan error
}

// newErrands starts a queue of errands.
func newErrands(t *testing.T, o jobrunner.Options) *errands {
	t.Helper()
	e := &errands{t: t, db: pgtest.New(t), runs: make(chan errand, 10), verdicts: make(chan error)}
	e.queue = jobrunner.New(jobrunner.Config{DB: e.db, Workers: 4})
	jobrunner.AddWorker(e.queue, func(ctx context.Context, args errand, _ jobs.Cause) error {
		e.runs <- args
		select {
		case err := <-e.verdicts:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}, o)
	if err := e.queue.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.queue.Stop)
	return e
}

// ask enqueues an errand.
func (e *errands) ask(errand errand, delay time.Duration) {
	e.t.Helper()
	if err := e.queue.Insert(e.t.Context(), errand, id.New[id.Any](), cause, delay); err != nil {
		e.t.Fatal(err)
	}
}

// runsNext waits for an errand to be run.
func (e *errands) runsNext(want errand) {
	e.t.Helper()
	select {
	case got := <-e.runs:
		if got != want {
			e.t.Fatalf("%+v runs, want %+v", got, want)
		}
	case <-time.After(waittest.Limit):
		e.t.Fatalf("%+v does not run", want)
	}
}

// open waits until so many errands wait or run.
func (e *errands) open(want int) {
	e.t.Helper()
	n := -1
	for range 1500 {
		if err := e.db.Owner.QueryRow(e.t.Context(), `select count(*) from `+e.db.Namespace.Schema("river")+`.river_job
			where state in ('available', 'pending', 'retryable', 'scheduled', 'running')`).Scan(&n); err != nil {
			e.t.Fatal(err)
		}
		if n == want {
			return
		}
		loop.Sleep(e.t.Context(), 10*time.Millisecond)
	}
	e.t.Fatalf("%d errands wait or run, want %d", n, want)
}

// A process cannot see that the job it asked for still waits, and asks again when no report came in time. The queue
// keeps one of them, so that hours without a worker do not end in hours of the same work.
func TestRequest_OneJobOfItWaitsHoweverOftenItIsAskedFor(t *testing.T) {
	t.Parallel()
	e := newErrands(t, jobrunner.Options{MaxAttempts: 1})
	e.ask(errand{"far", 1}, time.Hour)
	for run := range 3 { // as a process does, in its transaction
		if err := pgx.BeginFunc(t.Context(), e.db.Owner, func(tx pgx.Tx) error {
			return e.queue.InsertTx(t.Context(), tx, errand{"far", run}, id.New[id.Any](), cause)
		}); err != nil {
			t.Fatal(err)
		}
	}
	e.open(1)
	e.ask(errand{"other", 1}, time.Hour)
	e.open(2)
}

// A job that ended, in whatever way, or whose row was lost, is no obstacle.
func TestRequest_IsAskedForAgainWhenItsJobIsOverOrLost(t *testing.T) {
	t.Parallel()
	e := newErrands(t, jobrunner.Options{MaxAttempts: 1})
	for run, verdict := range []error{nil, errors.New("discarded"), jobrunner.GiveUp(errors.New("given up"))} {
		e.ask(errand{"near", run}, 0)
		e.runsNext(errand{"near", run})
		e.ask(errand{"near", run + 100}, 0) // it runs: nothing more is asked for
		e.verdicts <- verdict
		e.open(0)
	}
	e.ask(errand{"near", 8}, time.Hour)
	if _, err := e.db.Owner.Exec(t.Context(), `delete from `+e.db.Namespace.Schema("river")+`.river_job`); err != nil {
		t.Fatal(err)
	}
	e.ask(errand{"near", 9}, 0)
	e.runsNext(errand{"near", 9})
	e.verdicts <- nil
}

// What a job has looked at by the time it is asked for again may have changed before that. So one more run follows,
// however often it is asked for.
func TestRequest_OfAKindThatRunsAgainIsNotLostInARun(t *testing.T) {
	t.Parallel()
	e := newErrands(t, jobrunner.Options{MaxAttempts: 1, Again: true})
	e.ask(errand{"near", 1}, time.Hour)
	e.ask(errand{"near", 2}, 0) // the first waits: nothing more is asked for
	e.open(1)
	e.ask(errand{"far", 1}, 0)
	e.runsNext(errand{"far", 1})
	for run := range 3 {
		e.ask(errand{"far", run + 2}, 0)
	}
	e.runsNext(errand{"far", 2})
	e.open(3)
	e.verdicts <- nil
	e.verdicts <- nil
	e.open(1)
	e.ask(errand{"far", 9}, 0)
	e.runsNext(errand{"far", 9})
	e.verdicts <- nil
}
