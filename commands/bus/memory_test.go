package bus_test

import (
	"sync"
	"testing"

	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// knownToBoth makes a counter whose present state both replicas have in memory.
func knownToBoth(w *world, names ...string) id.Subscriber {
	w.t.Helper()
	c := w.opened(names...)
	for _, b := range []*bus.Bus{w.one, w.two} {
		if _, _, err := bus.LoadUnchecked[counter](w.t.Context(), b, c); err != nil {
			w.t.Fatal(err)
		}
	}
	return c
}

// TestMemory_ACommandOnAKnownStateReadsNothing: the append alone finds out whether the state is still the present one.
func TestMemory_ACommandOnAKnownStateReadsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	c := knownToBoth(w)
	before := w.DB.Owner.Stat().AcquireCount() // the node takes a connection of this pool for each read
	for range 10 {
		w.must(w.one, add{ID: c, Step: 1}, w.meta())
	}
	if reads := w.DB.Owner.Stat().AcquireCount() - before; reads != 0 {
		t.Errorf("10 commands took %d reads", reads)
	}
	w.must(w.two, add{ID: c, Step: 1}, w.meta())
	if s := w.state(c); s.Sum != 11 {
		t.Errorf("the sum is %d, want 11", s.Sum)
	}
}

// TestMemory_ACommandActsOnceOnReplicasThatRememberTheSameState: the second replica remembers the state from before the
// command. It must not be told that it changed something: jobs make their outside call only after a change.
func TestMemory_ACommandActsOnceOnReplicasThatRememberTheSameState(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	c := knownToBoth(w)
	for range 20 {
		m := w.meta()
		first := w.must(w.one, add{ID: c, Step: 1}, m)
		again := w.must(w.two, add{ID: c, Step: 1}, m)
		if !first.Changed || again.Changed || again.Revision != first.Revision {
			t.Fatalf("have %+v, then %+v", first, again)
		}
	}
	for range 20 {
		m, results := w.meta(), make([]bus.Result, 2)
		var both sync.WaitGroup
		for i, b := range []*bus.Bus{w.one, w.two} {
			both.Go(func() { results[i] = w.must(b, add{ID: c, Step: 1}, m) })
		}
		both.Wait()
		if results[0].Changed == results[1].Changed || results[0].Revision != results[1].Revision {
			t.Fatalf("at once: %+v and %+v", results[0], results[1])
		}
	}
	if s := w.state(c); s.Sum != 40 {
		t.Errorf("the sum is %d, want 40", s.Sum)
	}
}

// TestMemory_NothingIsRefusedByAnOldState: another replica has changed what the refusal would depend on.
func TestMemory_NothingIsRefusedByAnOldState(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	c := id.New[id.Subscriber]()
	if _, _, err := bus.LoadUnchecked[counter](t.Context(), w.two, c); err != nil {
		t.Fatal(err)
	}
	opened := w.must(w.one, open{ID: c, Org: w.org}, w.meta())
	w.must(w.two, add{ID: c, Step: 1}, w.meta()) // two remembers that there is no such counter
	m := w.meta()
	at := opened.Revision + 1
	m.ExpectedRevision = &at
	w.must(w.one, add{ID: c, Step: 1}, m) // one remembers the revision before
	if r := w.must(w.two, add{ID: c, Step: 0}, w.meta()); r.Revision != at+1 {
		t.Errorf("nothing to do is told for revision %d, want %d", r.Revision, at+1)
	}
}

// TestMemory_ARefusalKeepsClaimsThatAnOldStateDoesNotHave: the aggregate got the name through another replica.
func TestMemory_ARefusalKeepsClaimsThatAnOldStateDoesNotHave(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	w.opened("theirs")
	c := knownToBoth(w, "old")
	w.must(w.one, rename{ID: c, Names: []string{"ours"}}, w.meta())
	w.fails(w.two, rename{ID: c, Names: []string{"ours", "theirs"}}, w.meta(), "name_taken")
	w.fails(w.one, open{ID: id.New[id.Subscriber](), Org: w.org, Names: []string{"ours"}}, w.meta(), "name_taken")
}

// TestMemory_WhatBeginsAnAggregateReadsNothing: nor do its claims, as long as nobody has ever had the values.
func TestMemory_WhatBeginsAnAggregateReadsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	before := w.DB.Owner.Stat().AcquireCount()
	c, m := open{ID: id.New[id.Subscriber](), Org: w.org, Names: []string{"one", "two"}}, w.meta()
	first := w.must(w.one, c, m)
	if reads := w.DB.Owner.Stat().AcquireCount() - before; reads != 0 {
		t.Errorf("a new counter with two names took %d reads", reads)
	}
	again := w.must(w.two, c, m) // a replica that knows nothing of it
	if !first.Changed || again.Changed || again.Revision != first.Revision {
		t.Errorf("have %+v, then %+v", first, again)
	}
	w.must(w.one, rename{ID: c.ID, Names: []string{"two"}}, w.meta())
	w.fails(w.two, open{ID: id.New[id.Subscriber](), Org: w.org, Names: []string{"two"}}, w.meta(), "name_taken")
	w.must(w.two, open{ID: id.New[id.Subscriber](), Org: w.org, Names: []string{"one"}}, w.meta())
}
