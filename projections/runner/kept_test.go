package runner_test

import (
	"context"
	"errors"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// asking asks a Kept for the pieces sold of items, and counts the readings.
type asking struct {
	kept  runner.Kept[string, int]
	reads int
}

// of gives the pieces of an item, as the answer says.
func (a *asking) of(t *testing.T, r *runner.Runner, item string) int {
	t.Helper()
	n, err := a.kept.Of(t.Context(), r.Views(), "sales", item, func(context.Context) (int, error) {
		a.reads++
		return count(t, r, "sales", orgA, item), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestKept_ReadsAgainWhenRowsWereWritten(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, sales{})
	a := &asking{}
	for sold := range 5 {
		if err := reach(t, r, "sales", b.sell("router", 1)); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if got := a.of(t, r, "router"); got != sold+1 {
				t.Fatalf("got %d, want %d", got, sold+1)
			}
			// An event of which the projection takes no notice changes nothing.
			if err := reach(t, r, "sales", b.log.Append(events.Metadata{}, noise{})); err != nil {
				t.Fatal(err)
			}
		}
		if got := a.of(t, r, "tea"); got != 0 {
			t.Errorf("got %d of another item", got)
		}
	}
	if a.reads > 2*5 {
		t.Errorf("%d readings of two items after five sales", a.reads)
	}
}

func TestKept_KeepsNoError(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, sales{})
	if err := reach(t, r, "sales", b.sell("router", 1)); err != nil {
		t.Fatal(err)
	}
	a := &asking{}
	_, err := a.kept.Of(t.Context(), r.Views(), "sales", "router", func(context.Context) (int, error) {
		return 0, errors.New("the database is away")
	})
	if err == nil {
		t.Fatal("no error")
	}
	if got := a.of(t, r, "router"); got != 1 {
		t.Errorf("got %d", got)
	}
}

func TestKept_KeepsNothingOfTablesThatAnotherProgramFills(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.start(t, sales{})
	want(t, first, "sales", b.sell("router", 1), sold{"router", 1})
	second := *b
	second.db = pgtest.Open(t, b.db.URL, b.db.Namespace)
	r := second.start(t, sales{})
	want(t, r, "sales", b.sell("router", 1), sold{"router", 2})
	a := &asking{}
	for range 3 {
		a.of(t, r, "router")
	}
	if a.reads != 3 {
		t.Errorf("%d readings for three questions", a.reads)
	}
}

func TestKept_AnswersFromTheTablesThatReplaceOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, sales{})
	want(t, r, "sales", b.sell("router", 2), sold{"router", 2})
	a := &asking{}
	a.of(t, r, "router")
	if err := r.Rebuild(t.Context(), "sales", nil); err != nil {
		t.Fatal(err)
	}
	until(t, r, "rebuilt", func(s runner.Status) bool { return s.Generation > 1 && s.State == runner.StateLive })
	if got := a.of(t, r, "router"); got != 2 || a.reads != 2 {
		t.Errorf("got %d after %d readings", got, a.reads)
	}
}

func TestKept_KeepsNothingWhenTheLeadershipHasEnded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start(t, sales{})
	want(t, r, "sales", b.sell("router", 1), sold{"router", 1})
	a := &asking{}
	a.of(t, r, "router")
	r.Stop() // as who loses the lock
	a.of(t, r, "router")
	if a.reads != 2 {
		t.Errorf("%d readings, want another one after the end", a.reads)
	}
}
