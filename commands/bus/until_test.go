package bus_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// ticking is a clock that goes on by a second with each look.
type ticking struct{ looks atomic.Int64 }

// Now looks.
func (c *ticking) Now() time.Time { return start.Add(time.Duration(c.looks.Add(1)) * time.Second) }

// TestUntil_ADecisionWhoseTimeIsOverIsMadeAgain: between the decision and the append nothing but the clock has moved.
func TestUntil_ADecisionWhoseTimeIsOverIsMadeAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	c := w.opened()
	for _, remembered := range []bool{false, true} {
		clock := &ticking{}
		b := bus.New(bus.Config{Store: w.Store, Claims: storetest.ClaimKey, Clock: clock, Logger: storetest.Quiet()})
		bus.Register(b, counters())
		if remembered {
			w.must(b, add{ID: c, Step: 1}, w.meta())
		}
		before := w.state(c).Sum
		late := add{ID: c, Step: 1, By: start.Add(time.Duration(clock.looks.Load()+2) * time.Second)}
		w.fails(b, late, w.meta(), "too_late")
		if got := w.state(c).Sum; got != before {
			t.Errorf("in memory %v: counted %d after %d", remembered, got, before)
		}
		late.By = start.Add(time.Hour)
		w.must(b, late, w.meta())
	}
}

// TestUntil_NothingIsSentAfterIt: the node is away, or the network swallows everything. What was sent before may have
// been written; a repeat of the command finds out.
func TestUntil_NothingIsSentAfterIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	wire := storetest.NewWire(t, w.Addr())
	store, err := eventstore.Open(t.Context(), eventstore.Config{
		URL: wire.Through(w.Node.URL()), Codec: catalog.New(w.Keys), Logger: storetest.Quiet(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	b := w.busOn(store, bus.Config{})
	c := w.opened()
	w.must(b, add{ID: c, Step: 1}, w.meta()) // the state is in memory now
	ends := func() {
		t.Helper()
		m, began := w.meta(), time.Now()
		late := add{ID: c, Step: 1, By: w.clock.Now().Add(300 * time.Millisecond)}
		if _, err := b.Execute(t.Context(), late, m); failure.CodeOf(err) != "eventstore_unavailable" {
			t.Errorf("without an answer: %v", err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("given up after %v", took)
		}
	}
	w.StopNode()
	ends()
	w.StartNode()
	w.untilAvailable(b, add{ID: c, Step: 1}, w.meta())
	if got := w.state(c).Sum; got != 2 {
		t.Errorf("counted %d, want 2", got)
	}
	wire.Swallow()
	ends()
	wire.Carry()
	m := w.meta()
	w.untilAvailable(b, add{ID: c, Step: 1}, m)
	w.untilAvailable(b, add{ID: c, Step: 1}, m)
	if got := w.state(c).Sum; got != 3 && got != 4 {
		t.Errorf("counted %d, want 3 or 4", got)
	}
}
