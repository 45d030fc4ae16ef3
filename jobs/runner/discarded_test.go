package jobrunner_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// TestDiscarded_ReportsThatAlwaysFailDoNotHoldUpTheOthers: more of them than fit into one page, and older ones.
func TestDiscarded_ReportsThatAlwaysFailDoNotHoldUpTheOthers(t *testing.T) {
	t.Parallel()
	const hopeless = 120
	d := newDesk(func(context.Context, attempt) error { return jobrunner.GiveUp(errors.New("hopeless")) })
	reported := make(chan int, 1)
	q := jobrunner.New(jobrunner.Config{DB: pgtest.New(t), Workers: 4})
	jobrunner.AddWorker(q, d.work, fast)
	jobrunner.OnDiscarded(q, func(_ context.Context, args call, _ jobs.Cause, _ string) error {
		if args.Number < hopeless {
			return errors.New("the program has a mistake")
		}
		reported <- args.Number
		return nil
	})
	if err := q.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Stop)
	for n := range hopeless + 1 {
		if err := q.Insert(t.Context(), call{n}, jobNamed("call", fmt.Sprint(n)), cause, 0); err != nil {
			t.Fatal(err)
		}
	}
	<-reported
}

// TestOnceMore_AJobWhoseAttemptsAreUsedUpBeginsAnew: so it ends only by its success.
func TestOnceMore_AJobWhoseAttemptsAreUsedUpBeginsAnew(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	var tries atomic.Int32
	d := newDesk(func(context.Context, attempt) error {
		if tries.Add(1) <= 2*int32(fast.MaxAttempts) { //nolint:gosec // small
			return errors.New("the log is away")
		}
		close(done)
		return nil
	})
	q := jobrunner.New(jobrunner.Config{DB: pgtest.New(t), Workers: 4})
	jobrunner.AddWorker(q, d.work, fast)
	jobrunner.OnDiscarded(q, jobrunner.OnceMore[call](q, time.Millisecond))
	if err := q.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Stop)
	if err := q.Insert(t.Context(), call{1}, jobNamed("call", "1"), cause, 0); err != nil {
		t.Fatal(err)
	}
	<-done
}

// pauses sends the pauses that a log tells of, from the lines with a message.
type pauses struct {
	slog.Handler
	message string
	told    chan time.Duration
}

// Enabled implements slog.Handler.
func (pauses) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs implements slog.Handler.
func (p pauses) WithAttrs([]slog.Attr) slog.Handler { return p }

// Handle implements slog.Handler.
func (p pauses) Handle(_ context.Context, r slog.Record) error {
	if r.Message != p.message {
		return nil
	}
	r.Attrs(func(a slog.Attr) bool {
		if d, is := a.Value.Any().(time.Duration); is && a.Key == "retry_in" {
			p.told <- d
		}
		return true
	})
	return nil
}

// TestDiscarded_RoundsThatFailComeEverMoreRarely: so the log of a long outage stays readable.
func TestDiscarded_RoundsThatFailComeEverMoreRarely(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	log := pauses{slog.DiscardHandler, "discarded jobs were not reported", make(chan time.Duration, 100)}
	q := jobrunner.New(jobrunner.Config{DB: db, Workers: 4, Logger: slog.New(log)})
	jobrunner.AddWorker(q, newDesk(func(context.Context, attempt) error { return nil }).work, fast)
	jobrunner.OnDiscarded(q, func(context.Context, call, jobs.Cause, string) error { return nil })
	if err := q.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Stop)
	rename := func(from, to string) {
		if _, err := db.Owner.Exec(context.WithoutCancel(t.Context()), fmt.Sprintf("alter table %s.%s rename to %s",
			db.Namespace.Schema("river"), from, to)); err != nil {
			t.Error(err)
		}
	}
	rename("river_job", "away")
	defer rename("away", "river_job")
	if first, second := <-log.told, <-log.told; second != 2*first {
		t.Errorf("tried after %v and after %v", first, second)
	}
}
