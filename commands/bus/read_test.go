package bus_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

func TestLoadOwned_AnAbsentAForeignAndAGoneOneAreTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	own, gone := w.opened("alpha"), w.opened("gone")
	w.must(w.one, add{ID: own, Step: 2}, w.meta())
	state, revision, err := bus.LoadOwned[counter](t.Context(), w.one, w.org, own)
	if err != nil || state.Sum != 2 || revision != 2 {
		t.Errorf("own: %+v at %d, %v", state, revision, err)
	}
	for name, c := range map[string]struct {
		org    id.Organization
		target id.Subscriber
	}{
		"absent":                    {w.org, id.New[id.Subscriber]()},
		"another organization's":    {id.New[id.Organization](), own},
		"of no organization at all": {id.Organization{}, own},
		"gone":                      {w.org, gone},
	} {
		state, revision, err := bus.LoadOwned[counter](t.Context(), w.one, c.org, c.target)
		if failure.KindOf(err) != failure.NotFound || failure.CodeOf(err) != "counter_not_found" {
			t.Errorf("%s: %v", name, err)
		}
		if state.Sum != 0 || state.Names != nil || !state.Owner.IsZero() || revision != 0 {
			t.Errorf("%s: a state came with the failure: %+v at %d", name, state, revision)
		}
	}
	if state, _, err := bus.LoadUnchecked[counter](t.Context(), w.one, gone); err != nil || state.Owner != w.org {
		t.Errorf("unchecked: %+v %v", state, err)
	}
}

func TestActed_FindsTheCommandsOfOneStream(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	one, other := w.opened("alpha"), w.opened("beta")
	meta := w.meta()
	for range 2 { // before and after
		acted, err := bus.Acted[counter](t.Context(), w.one, one, meta.CommandID)
		elsewhere, otherErr := bus.Acted[counter](t.Context(), w.one, other, meta.CommandID)
		if err != nil || otherErr != nil || elsewhere {
			t.Errorf("%v, %v, in another stream %v", err, otherErr, elsewhere)
		}
		if acted {
			return
		}
		w.must(w.one, add{ID: one, Step: 2}, meta)
	}
	t.Error("a command that acted is not found")
}
