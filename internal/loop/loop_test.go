package loop_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// key is the key of a context value that the work should keep.
type key struct{}

// untilEnd is work that only waits for the end of its context.
func untilEnd(ctx context.Context) { <-ctx.Done() }

func TestGroup_StartBoundsTheStartOnly(t *testing.T) {
	t.Parallel()
	g := loop.New(nil)
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "kept"))
	work := make(chan context.Context, 1)
	err := g.Start(ctx, func(context.Context) error {
		g.Go("work", func(ctx context.Context) { work <- ctx; untilEnd(ctx) })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	run := <-work
	cancel()
	if run.Err() != nil || run.Value(key{}) != "kept" {
		t.Errorf("the work's context: error %v, value %v; want none and %q", run.Err(), run.Value(key{}), "kept")
	}
	g.Stop()
	if run.Err() == nil {
		t.Error("the work's context goes on after Stop")
	}
}

func TestGroup_StartsAtMostOnce(t *testing.T) {
	t.Parallel()
	g := loop.New(nil)
	nothing := func(context.Context) error { return nil }
	never := func(context.Context) error { t.Error("begun although refused"); return nil }
	if err := g.Start(t.Context(), nothing); err != nil {
		t.Fatal(err)
	}
	if err := g.Start(t.Context(), never); !errors.Is(err, loop.ErrStarted) {
		t.Errorf("second start gave %v, want ErrStarted", err)
	}
	g.Stop()
	if err := g.Start(t.Context(), never); !errors.Is(err, loop.ErrStopped) {
		t.Errorf("start after stop gave %v, want ErrStopped", err)
	}
}

func TestGroup_StopBeforeStartPreventsIt(t *testing.T) {
	t.Parallel()
	g := loop.New(nil)
	g.Stop()
	err := g.Start(t.Context(), func(context.Context) error { t.Error("begun after Stop"); return nil })
	if !errors.Is(err, loop.ErrStopped) {
		t.Errorf("start gave %v, want ErrStopped", err)
	}
}

func TestGroup_FailedStartLeavesNothingRunning(t *testing.T) {
	t.Parallel()
	g, failed, ended := loop.New(nil), errors.New("no database"), atomic.Bool{}
	err := g.Start(t.Context(), func(context.Context) error {
		g.Go("work", func(ctx context.Context) { untilEnd(ctx); ended.Store(true) })
		return failed
	})
	if !errors.Is(err, failed) || !ended.Load() {
		t.Errorf("start gave %v with its work ended: %v; want %v and true", err, ended.Load(), failed)
	}
	err = g.Start(t.Context(), func(context.Context) error { t.Error("begun a second time"); return nil })
	if !errors.Is(err, loop.ErrStopped) {
		t.Errorf("start after a failed one gave %v, want ErrStopped", err)
	}
}

func TestGroup_StopBreaksOffAStartAndWaitsForIt(t *testing.T) {
	t.Parallel()
	g := loop.New(nil)
	begun, result := make(chan struct{}), make(chan error, 1)
	var left atomic.Bool
	go func() {
		result <- g.Start(context.Background(), func(ctx context.Context) error {
			close(begun)
			<-ctx.Done()
			runtime.Gosched()
			left.Store(true)
			return ctx.Err()
		})
	}()
	<-begun
	g.Stop()
	if !left.Load() {
		t.Error("Stop returned while Start was under way")
	}
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("start gave %v, want that it was cancelled", err)
	}
}

func TestGroup_StopWaitsForAllWorkInEveryCaller(t *testing.T) {
	t.Parallel()
	g := loop.New(nil)
	var running atomic.Int64
	work := func(ctx context.Context) {
		running.Add(1)
		defer running.Add(-1)
		untilEnd(ctx)
		g.Go("late", func(context.Context) { t.Error("begun after Stop was called") })
		runtime.Gosched()
	}
	err := g.Start(t.Context(), func(context.Context) error {
		for range 20 {
			g.Go("work", work)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			g.Stop()
			if n := running.Load(); n != 0 {
				t.Errorf("%d goroutines run after Stop returned", n)
			}
		})
	}
	callers.Wait()
	g.Go("too late", func(context.Context) { t.Error("begun after Stop") })
	g.Stop()
}

func TestGroup_GoBeforeStartIsAMistake(t *testing.T) {
	t.Parallel()
	g := loop.New(nil)
	err := loop.Try(func() error { g.Go("work", untilEnd); return nil })
	var bad *loop.PanicError
	if !errors.As(err, &bad) {
		t.Errorf("Go before Start gave %v, want a panic", err)
	}
}

func TestWithin_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	g, ended := loop.Within(ctx, nil), make(chan struct{})
	g.Go("work", func(ctx context.Context) { defer close(ended); untilEnd(ctx) })
	cancel()
	<-ended
	g.Stop()
	if err := loop.Within(t.Context(), nil).Start(t.Context(), nil); !errors.Is(err, loop.ErrStarted) {
		t.Errorf("start of a group that runs gave %v, want ErrStarted", err)
	}
}

func TestGroup_PanicIsLoggedAndRetriedWithGrowingPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		g := loop.Within(t.Context(), slog.New(slog.NewTextHandler(&log, nil)))
		began := time.Now()
		var at []time.Duration
		g.Go("fragile", func(ctx context.Context) {
			at = append(at, time.Since(began))
			if len(at) == 9 { // after a long run without a panic the pauses begin again with the shortest
				loop.Sleep(ctx, 2*time.Minute)
			}
			if len(at) < 12 {
				panic("out of order")
			}
		})
		time.Sleep(time.Hour)
		g.Stop()
		s := time.Second
		want := []time.Duration{
			0, s, 3 * s, 7 * s, 15 * s, 31 * s, 63 * s, 123 * s, 183 * s, 304 * s, 306 * s, 310 * s,
		}
		if diff := cmp.Diff(want, at); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if n := strings.Count(log.String(), "loop=fragile"); n != 11 {
			t.Errorf("%d log lines, want one for each of 11 panics", n)
		}
		if !strings.Contains(log.String(), "loop_test.go") {
			t.Error("the log has no stack")
		}
	})
}

func TestGroup_PanicWhileStoppingIsNotRetried(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, calls, began := loop.Within(t.Context(), nil), 0, time.Now()
		g.Go("fragile", func(ctx context.Context) { calls++; untilEnd(ctx); panic("at the end") })
		synctest.Wait()
		g.Stop()
		if took := time.Since(began); calls != 1 || took != 0 {
			t.Errorf("%d calls, stopping took %s; want one call and no pause", calls, took)
		}
	})
}

func TestGroup_APanicOfTheStartLeavesNothingRunning(t *testing.T) {
	t.Parallel()
	g := loop.New(nil)
	ended := make(chan struct{})
	err := loop.Try(func() error {
		return g.Start(t.Context(), func(context.Context) error {
			g.Go("work", func(ctx context.Context) { untilEnd(ctx); close(ended) })
			panic("half way")
		})
	})
	if err == nil {
		t.Error("the panic does not reach the caller")
	}
	select {
	case <-ended:
	default:
		t.Error("work goes on after Start has panicked")
	}
}
