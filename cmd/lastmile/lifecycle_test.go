package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

func TestLifecycle_StopsInReverseAndLeavesTheStuckBehind(t *testing.T) {
	t.Parallel()
	l := newLifecycle(slog.New(slog.DiscardHandler))
	var mu sync.Mutex
	var stopped []string
	note := func(name string) func(context.Context) {
		return func(context.Context) {
			mu.Lock()
			defer mu.Unlock()
			stopped = append(stopped, name)
		}
	}
	stuck := make(chan struct{})
	defer close(stuck)
	l.started("first", time.Second, note("first"))
	l.started("stuck", 20*time.Millisecond, func(context.Context) { <-stuck })
	l.started("second", time.Second, note("second"))
	l.startedBeside("stuck too", 20*time.Millisecond, func(context.Context) { <-stuck })
	l.started("third", time.Second, note("third"))
	l.stop()
	l.stop()
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff([]string{"third", "second", "first"}, stopped); diff != "" {
		t.Errorf("order of stopping (-want +got):\n%s", diff)
	}
}

// lastCall is a job that is under way when the program stops.
type lastCall struct{}

func (lastCall) Kind() string { return "test.last_call" }

func TestStop_AJobInFlightRecordsItsAnswerBeforeTheStorageCloses(t *testing.T) {
	t.Parallel()
	l := newLifecycle(slog.New(slog.DiscardHandler))
	db := pgtest.New(t)
	began, ended := make(chan struct{}), make(chan string, 2)
	l.started("storage", stopStorage, func(context.Context) { ended <- "storage" })
	queue := jobrunner.New(jobrunner.Config{DB: db})
	jobrunner.AddWorker(queue, func(ctx context.Context, _ lastCall, _ jobs.Cause) error {
		close(began)
		<-ctx.Done() // the provider answers as late as can be
		loop.Sleep(context.WithoutCancel(ctx), 200*time.Millisecond)
		ended <- "answer"
		return nil
	}, jobrunner.Options{})
	if err := l.start(t.Context(), "jobs", stopEngines, queue); err != nil {
		t.Fatal(err)
	}
	if err := queue.Insert(t.Context(), lastCall{}, id.New[id.Any](), jobs.Cause{}, 0); err != nil {
		t.Fatal(err)
	}
	<-began
	l.stop()
	if first := <-ended; first != "answer" {
		t.Errorf("%s ended first", first)
	}
}

func TestLifecycle_FatalFailureEndsTheWait(t *testing.T) {
	t.Parallel()
	l := newLifecycle(slog.New(slog.DiscardHandler))
	lost := errors.New("lost the right to write")
	failures := make(chan error, 1)
	failures <- lost
	l.failsWith("event store node", failures)
	if err := l.wait(t.Context()); !errors.Is(err, lost) {
		t.Errorf("wait gave %v, want the failure", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := newLifecycle(l.logger).wait(ctx); err != nil {
		t.Errorf("a signal is no failure, wait gave %v", err)
	}
}
