package jobrunner_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// call is the job of the tests. Its number distinguishes jobs.
type call struct{ Number int }

func (call) Kind() string { return "test.call" }

// sweep is the periodic job of the tests.
type sweep struct{}

func (sweep) Kind() string { return "test.sweep" }

// attempt holds the arguments of one call of the worker.
type attempt struct {
	Args  call
	Cause jobs.Cause
}

// desk records attempts and answers them with a function that a test chooses.
type desk struct {
	mu     sync.Mutex
	did    []attempt
	notify chan attempt
	answer func(ctx context.Context, a attempt) error
}

// newDesk makes a desk; with a nil answer every attempt succeeds.
func newDesk(answer func(context.Context, attempt) error) *desk {
	return &desk{notify: make(chan attempt, 1000), answer: answer}
}

// work is registered as the worker of call. It is called by several goroutines.
func (d *desk) work(ctx context.Context, args call, cause jobs.Cause) error {
	a := attempt{args, cause}
	d.mu.Lock()
	d.did = append(d.did, a)
	d.mu.Unlock()
	d.notify <- a
	if d.answer == nil {
		return nil
	}
	return d.answer(ctx, a)
}

// next waits up to 15 seconds for an attempt, in the order in which they began.
func (d *desk) next(t *testing.T) attempt {
	t.Helper()
	select {
	case a := <-d.notify:
		return a
	case <-time.After(waittest.Limit):
		t.Fatal("no attempt")
		return attempt{}
	}
}

// fast retries after a millisecond, so that four attempts take no time.
var fast = jobrunner.Options{Backoff: func(int) time.Duration { return time.Millisecond }, MaxAttempts: 4}

// start makes a queue with 4 workers and stops it at the end of the test.
func start(t *testing.T, db *postgres.DB, d *desk, opts jobrunner.Options, log *slog.Logger) *jobrunner.Runner {
	t.Helper()
	r := jobrunner.New(jobrunner.Config{DB: db, Workers: 4, Logger: log})
	jobrunner.AddWorker(r, d.work, opts)
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	return r
}

// cause is why the jobs of these tests exist.
var cause = jobs.Cause{
	OrgID: id.Must[id.Organization]("00000000-0000-7000-8000-00000000000a"),
	Actor: events.Actor{Kind: events.ActorUser, ID: "someone"}, CorrelationID: "story", CausationID: "event",
}

func TestJob_IsToldItsCause(t *testing.T) {
	t.Parallel()
	d := newDesk(nil)
	db := pgtest.New(t)
	r := start(t, db, d, fast, nil)
	jobID := id.New[id.Any]()
	if err := r.Insert(t.Context(), call{7}, jobID, cause, 0); err != nil {
		t.Fatal(err)
	}
	want := cause
	want.JobID, want.Attempt = jobID, 1
	if diff := cmp.Diff(attempt{call{7}, want}, d.next(t)); diff != "" {
		t.Error(diff)
	}
}

func TestJob_WithTheSameIdIsEnqueuedOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(nil)
	db := pgtest.New(t)
	r := start(t, db, d, fast, nil)
	jobID := id.New[id.Any]()
	for range 3 { // waiting, running or done
		if err := r.Insert(t.Context(), call{1}, jobID, cause, 0); err != nil {
			t.Fatal(err)
		}
	}
	d.next(t)
	if err := r.Insert(t.Context(), call{1}, jobID, cause, 0); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := db.Owner.QueryRow(t.Context(),
		`select count(*) from `+db.Namespace.Schema("river")+`.river_job`).Scan(&n); err != nil || n != 1 {
		t.Errorf("%d jobs, %v", n, err)
	}
}

func TestFollow_ARepeatEnqueuesNoneTwice(t *testing.T) {
	t.Parallel()
	d := newDesk(nil)
	db := pgtest.New(t)
	r := start(t, db, d, fast, nil)
	of := jobs.Cause{OrgID: id.New[id.Organization](), JobID: id.New[id.Any](), Attempt: 7}
	for range 2 {
		err := r.Follow(t.Context(), of, map[string]commands.Job{"a": call{1}, "b": call{2}})
		if err != nil {
			t.Fatal(err)
		}
	}
	seen := map[call]bool{}
	for range 2 {
		one := d.next(t)
		seen[one.Args] = true
		if one.Cause.OrgID != of.OrgID || one.Cause.Attempt != 1 || one.Cause.JobID == of.JobID {
			t.Errorf("%+v", one)
		}
	}
	var n int
	err := db.Owner.QueryRow(t.Context(),
		`select count(*) from `+db.Namespace.Schema("river")+`.river_job`).Scan(&n)
	if err != nil || n != 2 || len(seen) != 2 {
		t.Errorf("%d jobs, %v, %v", n, seen, err)
	}
}

func TestJob_ExistsOnlyWhenItsTransactionDoes(t *testing.T) {
	t.Parallel()
	d := newDesk(nil)
	db := pgtest.New(t)
	r := start(t, db, d, fast, nil)
	changedMind := errors.New("changed my mind")
	for i, verdict := range []error{changedMind, nil} {
		err := pgx.BeginFunc(t.Context(), db.Owner, func(tx pgx.Tx) error {
			if err := r.InsertTx(t.Context(), tx, call{i}, id.New[id.Any](), cause); err != nil {
				return err
			}
			return verdict
		})
		if !errors.Is(err, verdict) {
			t.Fatal(err)
		}
	}
	if a := d.next(t); a.Args != (call{1}) {
		t.Errorf("a job of a transaction that was rolled back ran: %+v", a)
	}
}

func TestJob_IsTriedAgainWithTheSameIdUntilItsLastAttempt(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	d := newDesk(func(_ context.Context, a attempt) error {
		if a.Cause.Attempt == 2 {
			panic("the phone exploded")
		}
		return failure.NewUnavailable("line_busy", "secret detail", 0, nil)
	})
	db := pgtest.New(t)
	r := start(t, db, d, fast, slog.New(slog.NewTextHandler(&locked{b: &log}, nil)))
	jobID := id.New[id.Any]()
	if err := r.Insert(t.Context(), call{1}, jobID, cause, 0); err != nil {
		t.Fatal(err)
	}
	ids := map[id.Command]bool{}
	for i := range 4 {
		a := d.next(t)
		ids[a.Cause.Meta("outcome").CommandID] = true
		if a.Cause.Attempt != i+1 || a.Cause.Last != (i == 3) || a.Cause.JobID != jobID {
			t.Errorf("attempt %d: %+v", i+1, a.Cause)
		}
	}
	if len(ids) != 1 {
		t.Errorf("outcome command ids differ between attempts: %v", ids)
	}
	eventually(t, db, `state = 'discarded'`)
	var stored string
	if err := db.Owner.QueryRow(t.Context(),
		`select errors::text from `+db.Namespace.Schema("river")+`.river_job`).Scan(&stored); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(stored, "secret detail") || !strings.Contains(stored, "line_busy") ||
		!strings.Contains(stored, "job_panicked") {
		t.Errorf("stored errors: %s", stored)
	}
}

// locked lets the workers' goroutines write one log.
type locked struct {
	mu sync.Mutex
	b  *bytes.Buffer
}

// Write appends to the buffer under the lock.
func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// eventually waits up to 10 seconds until the row of a job meets an SQL condition.
func eventually(t *testing.T, db *postgres.DB, condition string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		var n int
		err := db.Owner.QueryRow(ctx, `select count(*) from `+db.Namespace.Schema("river")+`.river_job where `+
			condition).Scan(&n)
		if err != nil {
			t.Fatalf("never %s: %v", condition, err)
		}
		if n > 0 {
			return
		}
		<-tick.C
	}
}

func TestJob_GivenUpIsNotTriedAgainAndSnoozedUsesNoAttempt(t *testing.T) {
	t.Parallel()
	naps := 0
	d := newDesk(func(_ context.Context, a attempt) error {
		if a.Args.Number == 2 {
			return jobrunner.GiveUp(failure.NewConflict("number_unknown", ""))
		}
		if naps++; naps < 3 {
			return jobrunner.Snooze(0)
		}
		return nil
	})
	db := pgtest.New(t)
	r := start(t, db, d, fast, nil)
	for n := 1; n <= 2; n++ {
		if err := r.Insert(t.Context(), call{n}, id.New[id.Any](), cause, 0); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, db, `state = 'cancelled' and args->'args'->>'Number' = '2'`)
	eventually(t, db, `state = 'completed' and args->'args'->>'Number' = '1'`)
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range d.did {
		if a.Cause.Attempt != 1 {
			t.Errorf("got %+v", a)
		}
	}
	if len(d.did) != 4 {
		t.Errorf("%d attempts, want 4", len(d.did))
	}
}

func TestJob_IsCancelledAfterItsTimeout(t *testing.T) {
	t.Parallel()
	d := newDesk(func(ctx context.Context, _ attempt) error {
		<-ctx.Done()
		return ctx.Err()
	})
	db := pgtest.New(t)
	r := start(t, db, d, jobrunner.Options{Timeout: 20 * time.Millisecond, MaxAttempts: 1}, nil)
	if err := r.Insert(t.Context(), call{1}, id.New[id.Any](), cause, 0); err != nil {
		t.Fatal(err)
	}
	eventually(t, db, `state = 'discarded' and errors::text like '%timeout%'`)
}

// A kind may need minutes. Its attempt has them, and River takes it for dead only later.
func TestJob_OfASlowKindHasTheTimeOfItsKind(t *testing.T) {
	t.Parallel()
	limits := make(chan time.Time, 1)
	d := newDesk(func(ctx context.Context, _ attempt) error {
		limit, _ := ctx.Deadline()
		limits <- limit
		return nil
	})
	db := pgtest.New(t)
	began := clock.System().Now()
	r := start(t, db, d, jobrunner.Options{Timeout: 5 * time.Minute, MaxAttempts: 1}, nil)
	if err := r.Insert(t.Context(), call{1}, id.New[id.Any](), cause, 0); err != nil {
		t.Fatal(err)
	}
	if limit := <-limits; limit.Sub(began) < 5*time.Minute {
		t.Errorf("the attempt ends after %v", limit.Sub(began))
	}
	if dead := jobrunner.DeadAfterForTest(5 * time.Minute); dead != 6*time.Minute {
		t.Errorf("taken for dead after %v", dead)
	}
}

func TestStop_TakesNoLongerThanFiveSeconds(t *testing.T) {
	t.Parallel()
	d := newDesk(func(ctx context.Context, _ attempt) error {
		<-ctx.Done()
		return ctx.Err()
	})
	db := pgtest.New(t)
	r := start(t, db, d, fast, nil)
	if err := r.Insert(t.Context(), call{1}, id.New[id.Any](), cause, 0); err != nil {
		t.Fatal(err)
	}
	d.next(t)
	began := time.Now() //nolint:forbidigo // measures
	r.Stop()
	if took := time.Since(began); took > 5*time.Second { //nolint:forbidigo // measures
		t.Errorf("took %v", took)
	}
	eventually(t, db, `state in ('available', 'retryable')`) // for the next program
}

func TestInsert_OfAnUnknownKindFails(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	r := start(t, db, newDesk(nil), fast, nil)
	if err := r.Insert(t.Context(), sweep{}, id.New[id.Any](), cause, 0); err == nil {
		t.Error("a job that nobody works was accepted")
	}
}

func TestJob_BeginsWithinMilliseconds(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	d := newDesk(nil)
	r := start(t, db, d, fast, nil)
	if err := r.Insert(t.Context(), call{0}, id.New[id.Any](), cause, 0); err != nil {
		t.Fatal(err)
	}
	d.next(t)
	var took []time.Duration
	for i := range 20 {
		began := time.Now() //nolint:forbidigo // measures
		if err := r.Insert(t.Context(), call{i + 1}, id.New[id.Any](), cause, 0); err != nil {
			t.Fatal(err)
		}
		d.next(t)
		took = append(took, time.Since(began)) //nolint:forbidigo // measures
	}
	slices.Sort(took)
	t.Logf("median %v, slowest %v", took[10], took[19])
	if took[10] > 500*time.Millisecond {
		t.Errorf("median %v", took[10])
	}
}

func TestStart_OfSeveralProgramsAtOnce(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			r := jobrunner.New(jobrunner.Config{DB: db, InsertOnly: true})
			jobrunner.AddWorker(r, newDesk(nil).work, fast)
			if err := r.Start(t.Context()); err != nil {
				t.Error(err)
			}
			if err := r.Insert(t.Context(), call{1}, id.New[id.Any](), cause, 0); err != nil {
				t.Error(err)
			}
			r.Stop()
		})
	}
	wg.Wait()
}

// TestStart_SoleProgramTakesOverWhatADeadOneHeld: no other program works the queue, so a job found running is due now.
func TestStart_SoleProgramTakesOverWhatADeadOneHeld(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	dead := jobrunner.New(jobrunner.Config{DB: db, InsertOnly: true})
	jobrunner.AddWorker(dead, newDesk(nil).work, fast)
	if err := dead.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := dead.Insert(t.Context(), call{8}, id.New[id.Any](), cause, 0); err != nil {
		t.Fatal(err)
	}
	// the row that a program leaves when it is killed during the last attempt
	_, err := db.Owner.Exec(t.Context(), `update `+db.Namespace.Schema("river")+`.river_job
		set state = 'running', attempted_at = now(), attempt = max_attempts, attempted_by = '{dead}'`)
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(nil)
	r := jobrunner.New(jobrunner.Config{DB: db, Workers: 4, Sole: true})
	jobrunner.AddWorker(r, d.work, fast)
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	if got := d.next(t); got.Args != (call{8}) {
		t.Errorf("took over %v", got.Args)
	}
}
