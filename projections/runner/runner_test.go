package runner_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

func TestRunner_ShowsWhatWasWrittenBeforeAndAfterItsStart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	before := b.sell("router", 2500)
	r := b.start(t, sales{})
	want(t, r, "sales", before, sold{"router", 2500})
	for i := range 20 {
		want(t, r, "sales", b.sell("router", 1), sold{"router", 2501 + i})
	}
}

func TestWaitFor_IsSatisfiedByEventsThatTheProjectionDoesNotTake(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, sales{})
	b.sell("router", 1)
	for range 50 {
		position := b.log.Append(events.Metadata{}, noise{})
		if err := r.Views().WaitFor(t.Context(), "sales", position); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWaitFor_FailsForAPositionThatDoesNotCome(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, sales{})
	if err := r.Views().WaitFor(t.Context(), "sales", 1_000_000); !errors.Is(err, runner.ErrBehind) {
		t.Errorf("got %v, want ErrBehind", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Views().WaitFor(ctx, "sales", 1_000_000); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the caller's cancellation", err)
	}
}

// TestWaitFor_HasThePatienceOfTheConfiguration: it gives up before a caller does who would not wait for the usual 2 s.
func TestWaitFor_HasThePatienceOfTheConfiguration(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cfg := runner.Config{Feed: feedtest.Start(t, b.log), DB: b.db, Clock: b.clock, Patience: time.Millisecond}
	r, m := runner.New(cfg), runner.NewMemory(&till{}, cfg)
	r.Register(sales{})
	for _, s := range []interface {
		Start(ctx context.Context) error
		Stop()
	}{r, m} {
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Stop)
	}
	for name, wait := range map[string]func(context.Context) error{
		"a read model":      func(ctx context.Context) error { return r.Views().WaitFor(ctx, "sales", 1_000_000) },
		"a model in memory": func(ctx context.Context) error { return m.WaitFor(ctx, 1_000_000) },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 1900*time.Millisecond)
		if err := wait(ctx); !errors.Is(err, runner.ErrBehind) {
			t.Errorf("%s: got %v, want ErrBehind", name, err)
		}
		cancel()
	}
}

func TestWaitUntil_TriesAgainAtEachAdvance(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, sales{})
	tries := 0
	ok, err := r.Views().WaitUntil(t.Context(), "sales", func(context.Context) (bool, error) {
		tries++
		b.sell("router", 1)
		return count(t, r, "sales", orgA, "router") >= 3, nil
	})
	if !ok || err != nil || tries < 3 {
		t.Errorf("got %v, %v after %d tries", ok, err, tries)
	}
}

func TestWaitWhole_ShowsTheEventsThatCameWithTheOneWaitedFor(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, sales{})
	for round := range 50 {
		item := fmt.Sprint("router ", round)
		ok, err := r.Views().WaitWhole(t.Context(), "sales", func(context.Context) (bool, error) {
			b.sell(item, 3) // as if the first of them had been seen, and two stood behind it in the same append
			return true, nil
		})
		if n := count(t, r, "sales", orgA, item); !ok || err != nil || n != 3 {
			t.Fatalf("round %d: got %v, %v, and %d of 3 events are shown", round, ok, err, n)
		}
	}
}

func TestRunner_GoesOnBehindTheCheckpointAfterEveryStop(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	total := 0
	for round := range 6 {
		r := b.open(t, false, sales{})
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		position := b.sell("router", 700)
		total += 700
		if round%2 == 0 {
			want(t, r, "sales", position, sold{"router", total})
		}
		r.Stop() // in odd rounds while events are being applied
	}
	want(t, b.start(t, sales{}), "sales", b.sell("router", 1), sold{"router", total + 1})
}

func TestRunner_KilledInTheMiddleOfABatchAppliesEverythingOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	last := b.sell("router", 3000)
	for _, at := range []uint64{10, 9_990, 10_000, 10_010, 25_000, last} {
		killed := make(chan struct{})
		var r *runner.Runner
		r = b.open(t, false, sales{at: map[uint64]func(){at: sync.OnceFunc(func() { go r.Stop(); close(killed) })}})
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		select {
		case <-killed:
			r.Stop()
		case <-time.After(waittest.Limit):
			t.Fatalf("position %d was not reached: %s", at, describe(r))
		}
		last = b.sell("router", 100)
	}
	want(t, b.start(t, sales{}), "sales", last, sold{"router", 3600})
}

func TestRunner_TenantsSeeTheirOwnRowsAlsoAfterARebuild(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	position := b.sell("router", 2)
	r := b.start(t, sales{})
	for range 2 {
		want(t, r, "sales", position, sold{"router", 2})
		if got := count(t, r, "sales", orgB, "router"); got != 0 {
			t.Errorf("another tenant sees %d", got)
		}
		var seen []int64
		err := r.Views().Tenant(t.Context(), orgA, func(reads *postgres.Reads) {
			postgres.Collect(reads, &seen, pgx.RowTo[int64],
				r.Views().SQL("sales", `select position from {schema}.seen`))
		})
		if err == nil || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("a tenant reads a table that is not a tenant's: %v", err)
		}
		if err := r.Views().Platform(t.Context(), func(reads *postgres.Reads) {
			postgres.Collect(reads, &seen, pgx.RowTo[int64],
				r.Views().SQL("sales", `select position from {schema}.seen`))
		}); err != nil || len(seen) != 2 {
			t.Errorf("the platform sees %d rows, %v", len(seen), err)
		}
		rebuildThere(t, b, r)
	}
}

// rebuildThere rebuilds from a second engine, as the command line does beside a running program.
func rebuildThere(t *testing.T, b *bench, r *runner.Runner) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	cli := b.open(t, true, sales{})
	if err := cli.Prepare(ctx); err != nil {
		t.Fatal(err)
	}
	if err := cli.Rebuild(ctx, "sales", nil); err != nil {
		t.Fatalf("rebuild: %v; %s", err, describe(r))
	}
}

func TestPoison_StopsOneProjectionVisiblyAndRetryResumes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var refuse atomic.Bool
	refuse.Store(true)
	r := b.start(t, sales{poison: &refuse}, sales{name: "others"})
	b.sell("router", 3)
	bad := b.sell("poison", 1)
	last := b.sell("router", 4)
	want(t, r, "others", last, sold{"router", 7})
	s := until(t, r, "stopped", func(s runner.Status) bool {
		return s.Name == "sales" &&
			s.State == runner.StateStopped
	})
	if s.Position >= bad || !strings.Contains(s.Error, "cannot be sold") {
		t.Errorf("got %+v", s)
	}
	if err := r.Views().WaitFor(t.Context(), "sales", bad-10); err != nil {
		t.Error("what came before the poison is not shown:", err)
	}
	if got := count(t, r, "sales", orgA, "router"); got != 3 {
		t.Errorf("%d shown before the poison, want 3", got)
	}
	listed, err := b.open(t, true, sales{}).List(t.Context())
	if err != nil || listed[0].State != runner.StateStopped {
		t.Errorf("listed as %+v, %v", listed, err)
	}
	refuse.Store(false)
	if err := r.Retry(t.Context(), "sales"); err != nil {
		t.Fatal(err)
	}
	until(t, r, "live", func(s runner.Status) bool {
		return s.Name == "sales" && s.State == runner.StateLive &&
			s.Error == ""
	})
	want(t, r, "sales", last, sold{"router", 7})
}

func TestPoison_IsFoundWhateverTheStatementDoes(t *testing.T) {
	t.Parallel()
	for _, item := range []string{"panic", "unencodable", "unwritable"} {
		t.Run(item, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.sell("router", 5)
			bad := b.sell(item, 1)
			b.sell("router", 5)
			r := b.start(t, sales{})
			s := until(t, r, "stopped", func(s runner.Status) bool { return s.State == runner.StateStopped })
			if s.Position != bad-10 {
				t.Errorf("stopped at %d, want just before %d: %s", s.Position, bad, s.Error)
			}
			want(t, r, "sales", bad-10, sold{"router", 5})
		})
	}
}

func TestRunner_WaitsForALogAndADatabaseThatWereLost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, sales{})
	want(t, r, "sales", b.sell("router", 1), sold{"router", 1})
	b.log.SetAway(true)
	b.log.SetAway(false)
	for i := range 5 {
		pgtest.EndConnections(t, b.db)
		position := b.sell("router", 1)
		until(t, r, "resumed", func(s runner.Status) bool { return s.Position >= position })
		want(t, r, "sales", position, sold{"router", 2 + i})
	}
}
