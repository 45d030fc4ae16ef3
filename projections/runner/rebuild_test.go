package runner_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/projections/runner"
)

func TestRebuild_WhileEventsAreWritten(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.sell("router", 5000)
	r := b.start(t, sales{})
	stop, stopWriting := context.WithCancel(t.Context())
	var writer sync.WaitGroup
	written := 5000
	var position uint64
	writer.Go(func() {
		for stop.Err() == nil {
			position = b.sell("router", 1)
			written++
			if err := reach(t, r, "sales", position); err != nil {
				t.Errorf("reader falls behind while it is rebuilt: %v", err)
				return
			}
			if got := count(t, r, "sales", orgA, "router"); got != written {
				t.Errorf("shown %d, want %d", got, written)
				return
			}
		}
	})
	for range 3 {
		rebuildThere(t, b, r)
	}
	stopWriting()
	writer.Wait()
	want(t, r, "sales", position, sold{"router", written})
	if s := r.Status()[0]; s.Generation != 4 || s.Rebuild != nil {
		t.Errorf("got %+v", s)
	}
}

func TestRebuild_WithoutARunningProgram(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	position := b.sell("router", 3000)
	r := b.open(t, false, sales{})
	if err := r.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	var reports []runner.Progress
	if err := r.Rebuild(t.Context(), "sales", func(p runner.Progress) { reports = append(reports, p) }); err != nil {
		t.Fatal(err)
	}
	if s := r.Status()[0]; s.Generation != 2 || s.Position != position {
		t.Errorf("got %+v", s)
	}
	if len(reports) == 0 {
		t.Error("no progress was reported")
	}
	want(t, b.start(t, sales{}), "sales", position, sold{"router", 3000})
}

func TestRebuild_OldTablesAreDroppedTenMinutesLater(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.sell("router", 1)
	r := b.start(t, sales{})
	old := r.Views().SQL("sales", "{schema}")
	rebuildThere(t, b, r)
	if !exists(t, b, old) {
		t.Error("old tables are gone at once")
	}
	b.clock.Advance(11 * time.Minute)
	r.Stop()
	again := b.start(t, sales{})
	until(t, again, "dropped", func(runner.Status) bool { return !exists(t, b, old) })
}

// exists reports whether the database has a schema of this name.
func exists(t *testing.T, b *bench, schema string) bool {
	t.Helper()
	rows, _ := b.db.Owner.Query(t.Context(), `select count(*) from pg_namespace where nspname = $1`, schema)
	n, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[int])
	if err != nil {
		t.Fatal(err)
	}
	return n > 0
}

func TestVersion_BumpFillsNewTablesAndSwitches(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.open(t, false, sales{})
	if err := first.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	position := b.sell("router", 100)
	want(t, first, "sales", position, sold{"router", 100})
	first.Stop()
	r := b.start(t, sales{version: 2})
	s := until(t, r, "switched", func(s runner.Status) bool { return s.Version == 2 })
	if s.Generation != 2 {
		t.Errorf("got %+v", s)
	}
	want(t, r, "sales", b.sell("router", 1), sold{"router", 101})
}

func TestRebuild_InterruptedIsResumed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	position := b.sell("router", 20000)
	ctx, cancel := context.WithCancel(t.Context())
	r := b.open(t, false, sales{at: map[uint64]func(){100_000: cancel}})
	if err := r.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.Rebuild(ctx, "sales", nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	list, err := r.List(t.Context())
	if err != nil || list[0].Rebuild == nil || list[0].Rebuild.Position == 0 {
		t.Fatalf("got %+v, %v", list, err)
	}
	again := b.start(t, sales{})
	s := until(t, again, "switched", func(s runner.Status) bool { return s.Generation == 2 })
	if s.Rebuild != nil {
		t.Errorf("got %+v", s.Rebuild)
	}
	want(t, again, "sales", position, sold{"router", 20000})
}

func TestVerify_TellsEqualFromDifferent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, sales{})
	want(t, r, "sales", b.sell("router", 2000), sold{"router", 2000})
	report, err := r.Verify(t.Context(), "sales")
	if err != nil || !report.Equal() || len(report.Tables) != 2 {
		t.Fatalf("got %+v, %v", report, err)
	}
	if _, err := b.db.Owner.Exec(t.Context(),
		r.Views().SQL("sales", `update {schema}.sales set n = n + 1`)); err != nil {
		t.Fatal(err)
	}
	report, err = r.Verify(t.Context(), "sales")
	if err != nil || report.Equal() {
		t.Fatalf("a changed row was not found: %+v, %v", report, err)
	}
	for _, table := range report.Tables {
		if table.Equal != (table.Table == "seen") {
			t.Errorf("got %+v", table)
		}
	}
}
