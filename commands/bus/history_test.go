package bus_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// steps gives the steps of a counter from a number on.
func (w *world) steps(b *bus.Bus, c id.Subscriber, from uint64) (out []bus.Step) {
	w.t.Helper()
	past, err := b.OpenPast(w.t.Context(), "account", id.Any(c))
	if err != nil || past == nil {
		w.t.Fatalf("past: %v, %v", past, err)
	}
	if err := past.Steps(w.t.Context(), from, func(s bus.Step) bool { out = append(out, s); return true }); err != nil {
		w.t.Fatal(err)
	}
	if want := past.Len() - min(from, past.Len()); uint64(len(out)) != want {
		w.t.Fatalf("%d steps from %d, want %d", len(out), from, want)
	}
	return out
}

// TestPast_GoesThroughAllPeriodsFromAnyEventOn: numbers go on over the ends of periods, each step begins with the state
// in which the one before ended, and a history read from its middle is the end of the whole one.
func TestPast_GoesThroughAllPeriodsFromAnyEventOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{PeriodLength: 6})
	c := w.opened("n")
	for range 20 {
		w.clock.Advance(time.Minute)
		w.must(w.one, add{ID: c, Step: 1}, w.meta())
	}
	other := w.replica(bus.Config{})
	all := w.steps(other, c, 0)
	closings := 0
	for i, s := range all {
		before, isCounter := s.Before.(counter)
		if s.Number != uint64(i) || !isCounter {
			t.Fatalf("step %d is %+v", i, s)
		}
		if s.Event.Type == "billing.AccountPeriodClosed.v2" {
			closings++
		}
		if i > 0 {
			if diff := cmp.Diff(all[i-1].After, s.Before); diff != "" {
				t.Fatalf("step %d does not begin where the one before ended (-before +now)\n%s", i, diff)
			}
		} else if !cmp.Equal(before, counter{}) {
			t.Fatalf("it begins with %+v", before)
		}
	}
	if closings < 3 {
		t.Fatalf("%d periods were closed", closings)
	}
	if last, _ := all[len(all)-1].After.(counter); last.Sum != 20 || last.Owner != w.org {
		t.Errorf("at the end %+v", last)
	}
	for from := range len(all) + 2 {
		part := w.steps(other, c, uint64(from))
		diff := cmp.Diff(all[min(from, len(all)):], part, cmp.Comparer(sameStep), cmpopts.EquateEmpty())
		if diff != "" {
			t.Fatalf("from %d (-whole +part)\n%s", from, diff)
		}
	}
}

// sameStep compares two steps by their event and states.
func sameStep(a, b bus.Step) bool {
	return a.Number == b.Number && a.Event.ID == b.Event.ID && cmp.Equal(a.Before, b.Before) &&
		cmp.Equal(a.After, b.After)
}

// TestPast_UntilAnInstantIsTheLastThatWasRecordedThen: also in the middle of an earlier period, and at its very end.
func TestPast_UntilAnInstantIsTheLastThatWasRecordedThen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{PeriodLength: 6})
	c := w.opened()
	for range 20 {
		w.clock.Advance(time.Minute)
		w.must(w.one, add{ID: c, Step: 1}, w.meta())
	}
	past, err := w.replica(bus.Config{}).OpenPast(t.Context(), "account", id.Any(c))
	if err != nil {
		t.Fatal(err)
	}
	if past.Owner != w.org {
		t.Errorf("owned by %s", past.Owner)
	}
	for minute := range 25 {
		for _, more := range []time.Duration{0, time.Second} {
			last, err := past.Until(t.Context(), start.Add(time.Duration(minute)*time.Minute+more))
			if err != nil || last == nil {
				t.Fatalf("minute %d: %v, %v", minute, last, err)
			}
			if state, _ := last.After.(counter); state.Sum != int64(min(minute, 20)) {
				t.Errorf("minute %d: %+v", minute, state)
			}
		}
	}
	if last, err := past.Until(t.Context(), start.Add(-1)); last != nil || err != nil {
		t.Errorf("before it began: %v, %v", last, err)
	}
}

func TestPast_OfNothingIsNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	known := id.Any(w.opened())
	for category, target := range map[string]id.Any{
		"account": id.New[id.Any](), "nobody": known, "claim": known, "": known,
	} {
		if past, err := w.one.OpenPast(t.Context(), category, target); past != nil || err != nil {
			t.Errorf("%s-%s: %v, %v", category, target, past, err)
		}
	}
	if past, err := w.one.OpenPast(t.Context(), "account", id.Any{}); past != nil || err != nil {
		t.Errorf("no id: %v, %v", past, err)
	}
	kinds := w.one.Kinds()
	if len(kinds) != 1 || kinds[0].Category != "account" || kinds[0].State.Name() != "counter" {
		t.Errorf("kinds: %+v", kinds)
	}
}
