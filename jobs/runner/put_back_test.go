package jobrunner_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// TestClock_ThatIsPutBackDelaysNoJob: neither one that is tried again, nor one that was enqueued for later, nor one
// that waits for its turn.
func TestClock_ThatIsPutBackDelaysNoJob(t *testing.T) {
	t.Parallel()
	c, free := clock.NewManual(noon.Add(3*time.Hour)), make(chan struct{})
	d := newDesk(func(ctx context.Context, a attempt) error {
		switch {
		case a.Args.Number == 1 && a.Cause.Attempt == 1:
			return errors.New("not now")
		case a.Args.Number == 3:
			select {
			case <-free:
			case <-ctx.Done():
			}
		}
		return nil
	})
	db := pgtest.New(t)
	aMinute := jobrunner.Options{Backoff: func(int) time.Duration { return time.Minute }, MaxAttempts: 4}
	r := startAt(t, db, c, d, aMinute)
	enqueue(t, r, 1, 0)
	d.next(t)
	eventually(t, db, `state = 'retryable'`)
	enqueue(t, r, 2, 2*time.Minute)
	enqueue(t, r, 3, 0)
	d.next(t)
	enqueue(t, r, 4, 0)
	c.Set(noon)
	close(free)
	if got := d.next(t); got.Args.Number != 4 {
		t.Errorf("job %d ran instead of the one that waited for its turn", got.Args.Number)
	}
	for i, number := range []int{1, 2} {
		c.Advance(time.Minute)
		if got := d.next(t); got.Args.Number != number {
			t.Errorf("after %d minutes job %d ran, want %d", i+1, got.Args.Number, number)
		}
	}
}

// TestClock_ThatIsPutBackDelaysNoReportOfADiscardedJob for longer than its pause.
func TestClock_ThatIsPutBackDelaysNoReportOfADiscardedJob(t *testing.T) {
	t.Parallel()
	c, reports, db := clock.NewManual(noon), make(chan error), pgtest.New(t)
	r := jobrunner.New(jobrunner.Config{DB: db, Clock: c})
	jobrunner.AddWorker(r, func(context.Context, call, jobs.Cause) error {
		return jobrunner.GiveUp(errors.New("hopeless"))
	}, fast)
	jobrunner.OnDiscarded(r, func(ctx context.Context, _ call, _ jobs.Cause, _ string) error {
		select {
		case err := <-reports:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	enqueue(t, r, 1, 0)
	report := func(err error) {
		t.Helper()
		select {
		case reports <- err:
		case <-time.After(waittest.Limit):
			t.Fatal("it is not reported")
		}
	}
	report(errors.New("the log is away"))
	eventually(t, db, `metadata ? 'report_after'`)
	c.Set(noon.Add(-3 * time.Hour))
	report(nil)
}

// TestClock_OfADeadLeaderThatWasAheadKeepsNobodyFromLeading: without a leader no job begins late.
func TestClock_OfADeadLeaderThatWasAheadKeepsNobodyFromLeading(t *testing.T) {
	t.Parallel()
	db, d := pgtest.New(t), newDesk(nil)
	former := jobrunner.New(jobrunner.Config{DB: db, InsertOnly: true})
	jobrunner.AddWorker(former, d.work, fast)
	if err := former.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	enqueue(t, former, 1, 10*time.Millisecond)
	former.Stop()
	if _, err := db.Owner.Exec(t.Context(), `insert into `+db.Namespace.Schema("river")+`.river_leader
		(elected_at, expires_at, leader_id) values (now() + '3 hours', now() + '3 hours', 'dead')`); err != nil {
		t.Fatal(err)
	}
	r := jobrunner.New(jobrunner.Config{DB: db})
	jobrunner.AddWorker(r, d.work, fast)
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	select {
	case <-d.notify:
	case <-time.After(waittest.Limit): // an election is tried every few seconds
		t.Error("nobody leads")
	}
}

// TestClock_ThatWasPutBackBeforeTheStartDelaysNoJob.
func TestClock_ThatWasPutBackBeforeTheStartDelaysNoJob(t *testing.T) {
	t.Parallel()
	c, db, d := clock.NewManual(noon.Add(3*time.Hour)), pgtest.New(t), newDesk(nil)
	former := jobrunner.New(jobrunner.Config{DB: db, Clock: c, InsertOnly: true})
	jobrunner.AddWorker(former, d.work, fast)
	if err := former.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	enqueue(t, former, 1, 0)
	enqueue(t, former, 2, time.Minute)
	former.Stop()
	c.Set(noon)
	r := startAt(t, db, c, d, fast)
	enqueue(t, r, 3, time.Hour)
	if a, b := d.next(t).Args.Number, d.next(t).Args.Number; a+b != 3 {
		t.Errorf("jobs %d and %d ran", a, b)
	}
}
