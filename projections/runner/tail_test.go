package runner_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// tailed is a running tail of sales, and what it has handed over.
type tailed struct {
	*runner.Tail
	shown chan runner.Shown
}

// tail starts a tail of a runner, which has to have something to hand over first: its beginning.
func tail(t *testing.T, r *runner.Runner) tailed {
	t.Helper()
	shown := make(chan runner.Shown, 100)
	out := tailed{r.NewTail([]string{"test.Sold.v1"}, func(s runner.Shown) { shown <- s }), shown}
	if err := out.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(out.Stop)
	return out
}

// next waits for what is handed over next.
func (l tailed) next(t *testing.T) runner.Shown {
	t.Helper()
	select {
	case s := <-l.shown:
		return s
	case <-time.After(waittest.Limit):
		t.Fatal("nothing is handed over")
		return runner.Shown{}
	}
}

// until collects events until a position, and reports whether there was a gap.
func (l tailed) until(t *testing.T, position uint64) (items []string, gap bool) {
	t.Helper()
	for {
		s := l.next(t)
		for _, e := range s.Events {
			items = append(items, e.Event.(sold).Item) //nolint:forcetypeassert // nothing else is wanted
		}
		if gap = gap || s.Gap; s.UpTo >= position {
			return items, gap
		}
	}
}

func TestTail_HandsOverWhatEveryReadModelShows(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.sell("before", 3)
	held, applied := make(chan struct{}), make(chan struct{})
	slow := sales{name: "slow", at: map[uint64]func(){50: func() {
		close(applied)
		<-held
	}}}
	r := b.start(t, sales{}, slow)
	l := tail(t, r)
	if items, gap := l.until(t, 30); len(items) != 0 || gap {
		t.Errorf("begins with %v, gap %v", items, gap)
	}
	b.log.Append(events.Metadata{OrgID: orgA}, noise{})
	position := b.sell("tea", 1)
	<-applied
	if err := reach(t, r, "sales", position); err != nil {
		t.Fatal(err)
	}
	for len(l.shown) > 0 {
		if s := l.next(t); len(s.Events) > 0 {
			t.Fatalf("an event is handed over that a read model does not show: %+v", s)
		}
	}
	close(held)
	if items, gap := l.until(t, position); len(items) != 1 || items[0] != "tea" || gap {
		t.Errorf("hands over %v, gap %v", items, gap)
	}
	if got := count(t, r, "slow", orgA, "tea"); got != 1 {
		t.Error("the read model does not show what was handed over")
	}
}

func TestTail_AStoppedReadModelHoldsNobodyUpAndItsReturnIsAGap(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	poison := &atomic.Bool{}
	poison.Store(true)
	r := b.start(t, sales{poison: poison})
	l := tail(t, r)
	l.until(t, 0)
	position := b.sell("poison", 1)
	if items, gap := l.until(t, position); len(items) != 1 || gap {
		t.Errorf("hands over %v, gap %v", items, gap)
	}
	poison.Store(false)
	if err := r.Retry(t.Context(), "sales"); err != nil {
		t.Fatal(err)
	}
	for !l.next(t).Gap {
		continue // until the read model has gone on
	}
	want(t, r, "sales", position, sold{"poison", 1})
}

func TestTail_WhoWasAwayGetsWhatWasMissed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	old := b.sell("old", 5)
	r := b.start(t, sales{})
	l := tail(t, r)
	l.until(t, old)
	last := b.sell("new", 3)
	l.until(t, last)
	for _, c := range []struct {
		what        string
		after, upTo uint64
		want        int
		known       bool
	}{
		{"from memory", old, last, 3, true},
		{"up to where others are", old, last - 10, 2, true},
		{"from the log", 10, last, 7, true},
		{"nothing", last, last, 0, true},
		{"beyond the end of the log", last + 10, last, 0, false},
	} {
		got, known := l.Since(t.Context(), c.after, c.upTo)
		if len(got) != c.want || known != c.known {
			t.Errorf("%s: %d events, %v; want %d, %v", c.what, len(got), known, c.want, c.known)
		}
	}
	last = b.sell("many", 10_000)
	l.until(t, last)
	if _, known := l.Since(t.Context(), old, last); known {
		t.Error("a position that is too old is told from")
	}
}
