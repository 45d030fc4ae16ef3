package jobrunner_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// noon is the time at which the product's clock of these tests stands.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// startAt makes a queue with one worker whose time is a clock's, and stops it at the end of the test.
func startAt(t *testing.T, db *postgres.DB, c clock.Clock, d *desk, opts jobrunner.Options) *jobrunner.Runner {
	t.Helper()
	r := jobrunner.New(jobrunner.Config{DB: db, Workers: 1, Clock: c})
	jobrunner.AddWorker(r, d.work, opts)
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	return r
}

// enqueue inserts a job that is due after a time.
func enqueue(t *testing.T, r *jobrunner.Runner, number int, delay time.Duration) {
	t.Helper()
	if err := r.Insert(t.Context(), call{number}, id.New[id.Any](), cause, delay); err != nil {
		t.Fatal(err)
	}
}

func TestClock_AJumpMakesJobsDueAtOnceInTheOrderOfTheirInstants(t *testing.T) {
	t.Parallel()
	c, d := clock.NewManual(noon), newDesk(nil)
	r := startAt(t, pgtest.New(t), c, d, fast)
	enqueue(t, r, 3, 3*time.Hour)
	enqueue(t, r, 1, time.Hour)
	enqueue(t, r, 4, 30*time.Hour)
	enqueue(t, r, 2, 2*time.Hour)
	enqueue(t, r, 0, 0)
	if got := d.next(t).Args.Number; got != 0 {
		t.Fatalf("job %d ran before its time", got)
	}
	began := time.Now() //nolint:forbidigo // measures
	c.Advance(4 * time.Hour)
	var got []int
	for range 3 {
		got = append(got, d.next(t).Args.Number)
	}
	if took := time.Since(began); took > 2*time.Second { //nolint:forbidigo // measures
		t.Errorf("took %v", took)
	}
	if diff := cmp.Diff([]int{1, 2, 3}, got); diff != "" {
		t.Error(diff)
	}
	enqueue(t, r, 5, 0)
	if got := d.next(t).Args.Number; got != 5 {
		t.Errorf("job %d ran before its time", got)
	}
}

func TestClock_ARetryWaitsForTheProductsTime(t *testing.T) {
	t.Parallel()
	c := clock.NewManual(noon)
	d := newDesk(func(_ context.Context, a attempt) error {
		if a.Cause.Attempt == 1 && a.Args.Number == 1 {
			return errors.New("not now")
		}
		return nil
	})
	db := pgtest.New(t)
	hourly := jobrunner.Options{Backoff: func(int) time.Duration { return time.Hour }, MaxAttempts: 4}
	r := startAt(t, db, c, d, hourly)
	enqueue(t, r, 1, 0)
	d.next(t)
	eventually(t, db, `state = 'retryable'`)
	enqueue(t, r, 2, 0)
	if got := d.next(t).Args.Number; got != 2 {
		t.Error("tried again at once")
	}
	c.Advance(time.Hour)
	if got := d.next(t); got.Args.Number != 1 || got.Cause.Attempt != 2 {
		t.Errorf("got %+v", got)
	}
}

// TestPause_AJumpRunsNothingTwice moves the clock as the program does. A job that runs or has just ended is not taken
// for one of a dead program, however far the clock jumps, and also while it is behind the machine's.
func TestPause_AJumpRunsNothingTwice(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]time.Duration{"from the present": 0, "in the past": -365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			jumpsForThreeDays(t, clock.NewMovable(clock.System(), ahead))
		})
	}
}

// jumpsForThreeDays enqueues jobs, moves the clock by a day, three times, and counts the runs.
func jumpsForThreeDays(t *testing.T, c *clock.Movable) {
	t.Helper()
	d := newDesk(nil)
	var gate clock.Gate
	r := jobrunner.New(jobrunner.Config{DB: pgtest.New(t), Workers: 2, Clock: c, Gate: &gate})
	jobrunner.AddWorker(r, d.work, fast)
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	for day := range 3 {
		enqueue(t, r, 100+day, 23*time.Hour)
		for n := range 5 {
			enqueue(t, r, 10*day+n, 0)
		}
		open, err := gate.Shut(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		resume, err := r.Pause(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c.Advance(24 * time.Hour)
		open()
		resume(t.Context())
	}
	times := map[int]int{}
	for range 18 {
		times[d.next(t).Args.Number]++
	}
	for number, n := range times {
		if n != 1 {
			t.Errorf("job %d ran %d times", number, n)
		}
	}
	r.Stop()
	if len(d.notify) != 0 {
		t.Errorf("more than once: %+v", d.did)
	}
}

// TestGate_JobsThatMayTakeMinutesMakeWay: a job on a slow router would otherwise keep the clock from being moved. It
// begins again afterwards and has lost no attempt. One of a usual kind, and one that succeeds meanwhile, may end.
func TestGate_JobsThatMayTakeMinutesMakeWay(t *testing.T) {
	t.Parallel()
	db, c := pgtest.New(t), clock.NewMovable(clock.System(), 0)
	var gate clock.Gate
	began, again := make(chan struct{}, 2), make(chan jobs.Cause, 1)
	var attempts atomic.Int64
	d := newDesk(func(ctx context.Context, a attempt) error {
		if attempts.Add(1) > 2 {
			again <- a.Cause
			return nil
		}
		began <- struct{}{}
		<-ctx.Done()
		if a.Args.Number == 1 {
			return nil // it had come to its end
		}
		return ctx.Err()
	})
	r := jobrunner.New(jobrunner.Config{DB: db, Workers: 2, Clock: c, Gate: &gate})
	jobrunner.AddWorker(r, d.work, jobrunner.Options{Timeout: 5 * time.Minute, MaxAttempts: 1})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	for n := range 2 {
		enqueue(t, r, n, 0)
		<-began
	}
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	open, err := gate.Shut(ctx)
	if err != nil {
		t.Fatalf("slow jobs do not make way: %v", err)
	}
	resume, err := r.Pause(ctx)
	if err != nil {
		t.Fatal(err)
	}
	c.Advance(time.Hour)
	open()
	resume(t.Context())
	if got := <-again; got.Attempt != 1 || !got.Last {
		t.Errorf("began again as %+v", got)
	}
	eventually(t, db, `state = 'completed' and args->'args'->>'Number' = '0'`)
	if n := countJobs(t, db, `state = 'completed' and args->'args'->>'Number' = '1'`); n != 1 {
		t.Error("a job that had succeeded was not recorded")
	}
}

// TestPause_AfterStopStartsNothing: a move that is under way while the program stops must not start the queue again.
func TestPause_AfterStopStartsNothing(t *testing.T) {
	t.Parallel()
	c, d := clock.NewMovable(clock.System(), 0), newDesk(nil)
	r := startAt(t, pgtest.New(t), c, d, fast)
	resume, err := r.Pause(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.Stop()
	resume(t.Context())
}

// TestEvery_AClockThatIsPutBackStopsNothing: the next run comes with the next period of the clock as it is now.
func TestEvery_AClockThatIsPutBackStopsNothing(t *testing.T) {
	t.Parallel()
	db, c := pgtest.New(t), clock.NewManual(noon.Add(3*time.Hour+5*time.Minute))
	ids, _ := periodicRuns(t, db, c)
	run(t, db, ids)
	c.Set(noon.Add(5 * time.Minute))
	c.Advance(55 * time.Minute)
	run(t, db, ids)
}

// TestEvery_PeriodsThatComeAgainAreWorkedAgain: the program has worked for hours before its clock was put right.
func TestEvery_PeriodsThatComeAgainAreWorkedAgain(t *testing.T) {
	t.Parallel()
	db, c := pgtest.New(t), clock.NewManual(noon.Add(5*time.Minute))
	ids, _ := periodicRuns(t, db, c)
	had := map[id.Any]bool{run(t, db, ids): true}
	for hour := range 7 {
		if hour == 4 {
			c.Set(noon.Add(5 * time.Minute))
		}
		c.Advance(time.Hour)
		one := run(t, db, ids)
		if had[one] {
			t.Error("two runs have one id: their commands would act once")
		}
		had[one] = true
	}
}

// periodicRuns starts a program with hourly work, and gives the ids of its runs.
func periodicRuns(t *testing.T, db *postgres.DB, c clock.Clock) (ids <-chan id.Any, stop func()) {
	t.Helper()
	runs := make(chan id.Any, 100)
	r := jobrunner.New(jobrunner.Config{DB: db, Clock: c})
	jobrunner.AddWorker(r, func(_ context.Context, _ sweep, cause jobs.Cause) error { runs <- cause.JobID; return nil },
		jobrunner.Options{})
	jobrunner.Every(r, time.Hour, sweep{})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	return runs, r.Stop
}

// run waits for the next run of periodic work by one of the programs, and until its job has ended: while it runs, the
// next one would be left out.
func run(t *testing.T, db *postgres.DB, ids ...<-chan id.Any) id.Any {
	t.Helper()
	var jobID id.Any
	deadline := time.After(waittest.Limit)
	for jobID.IsZero() {
		for _, runs := range ids {
			select {
			case jobID = <-runs:
			default:
			}
		}
		select {
		case <-deadline:
			t.Fatal("no periodic run")
		case <-time.After(time.Millisecond):
		}
	}
	sql := `select count(*) from ` + db.Namespace.Schema("river") + `.river_job where state <> 'completed'`
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	for waiting := 1; waiting > 0; {
		if err := db.Owner.QueryRow(ctx, sql).Scan(&waiting); err != nil {
			t.Fatalf("a run does not end: %v", err)
		}
	}
	return jobID
}

// TestRescue_FollowsTheProductsTime: the queue has two jobs that other programs began. One began ten minutes ago by the
// product's time, so that its program is dead; the other one began just now. The machine's time says something else.
func TestRescue_FollowsTheProductsTime(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]time.Duration{
		"ahead of the machine": 2 * time.Hour, "behind it": -15 * time.Minute,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, c := pgtest.New(t), clock.NewManual(clock.System().Now().Add(ahead))
			other := jobrunner.New(jobrunner.Config{DB: db, Clock: c, InsertOnly: true})
			jobrunner.AddWorker(other, newDesk(nil).work, fast)
			if err := other.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(other.Stop)
			enqueue(t, other, 1, 0)
			enqueue(t, other, 2, 0)
			if _, err := db.Owner.Exec(t.Context(), `update `+db.Namespace.Schema("river")+`.river_job set
				state = 'running', attempt = 1, attempted_by = '{other}',
				attempted_at = case args->'args'->>'Number' when '1' then $1::timestamptz else $2 end`,
				c.Now().Add(-10*time.Minute), c.Now()); err != nil {
				t.Fatal(err)
			}
			startAt(t, db, c, newDesk(nil), fast)
			eventually(t, db, `state <> 'running'`)
			if countJobs(t, db, `state <> 'running' and args->'args'->>'Number' = '2'`) > 0 {
				t.Error("a job that another program is at work on was taken for an abandoned one")
			}
		})
	}
}

// midHour is the middle of an hour long ago: the queue tidies ended jobs away by the product's time.
func midHour() time.Time { return time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC) }

func TestEvery_RunsOncePerPeriodAndMakesUpForMissedOnesByOne(t *testing.T) {
	t.Parallel()
	db, c := pgtest.New(t), clock.NewManual(midHour())
	ids, stop := periodicRuns(t, db, c)
	first := run(t, db, ids)
	stop()
	again, _ := periodicRuns(t, db, c) // in the same period: nothing follows from the start
	c.Advance(50 * time.Hour)
	if second := run(t, db, again); second == first {
		t.Error("two runs have one id: their commands would act once")
	}
	c.Advance(time.Hour)
	run(t, db, again)
	if len(ids) != 0 || len(again) != 0 {
		t.Errorf("%d more runs", len(ids)+len(again))
	}
}

func TestEvery_OfSeveralProgramsRunsOnce(t *testing.T) {
	t.Parallel()
	db, c := pgtest.New(t), clock.NewManual(midHour())
	one, _ := periodicRuns(t, db, c)
	two, _ := periodicRuns(t, db, c)
	for range 3 {
		run(t, db, one, two)
		c.Advance(time.Hour)
	}
	run(t, db, one, two)
	if n := len(one) + len(two); n != 0 {
		t.Errorf("%d more runs than periods", n)
	}
}

// A job that is due or runs keeps the queue from being idle, one for later does not.
func TestIdle_WhatIsDueCountsAndWhatIsForLaterDoesNot(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	c, d := clock.NewMovable(clock.System(), -time.Hour), newDesk(func(context.Context, attempt) error {
		<-hold
		return nil
	})
	r := jobrunner.New(jobrunner.Config{DB: pgtest.New(t), Clock: c})
	jobrunner.AddWorker(r, d.work, fast)
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	idle := func(within time.Duration) bool {
		t.Helper()
		idle, err := r.Idle(t.Context(), within)
		if err != nil {
			t.Fatal(err)
		}
		return idle
	}
	enqueue(t, r, 1, 10*time.Minute)
	if !idle(time.Minute) || idle(time.Hour) {
		t.Error("a job for later is work before its time, or is none within its time")
	}
	enqueue(t, r, 2, 0)
	if idle(0) {
		t.Error("a job that is due is no work")
	}
	close(hold)
	d.next(t)
	for !idle(0) { // until its end is recorded
		if t.Context().Err() != nil {
			t.Fatal("the queue is never idle")
		}
	}
}
