package bus_test

import (
	"slices"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// name is the claim of a name, as the counter makes it.
func name(value string) commands.Claim { return counters().Claims(counter{Names: []string{value}})[0] }

// unclaimed makes a counter whose name was not reserved: its stream was written before names were unique.
func (w *world) unclaimed(value string) commands.Target {
	w.t.Helper()
	owner := w.opened(value)
	stream := "claim-" + storetest.ClaimKey("name", value).String()
	_, err := w.Store.Append(w.t.Context(), stream, eventstore.At(0), []eventstore.New{{
		Event: events.ClaimReleased{Kind: "name", Owner: id.Any(owner)},
		Meta:  events.Metadata{EventID: id.New[id.Event](), CommandID: id.New[id.Command](), At: w.clock.Now()},
	}})
	if err != nil {
		w.t.Fatal(err)
	}
	return commands.At("account", owner)
}

func TestReserve_TakesWhatIsUsedAndFreeOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	owner := w.unclaimed("old")
	for try, want := range []bool{true, false} {
		if took, err := w.one.Reserve(t.Context(), owner, name("old"), w.meta()); err != nil || took != want {
			t.Errorf("try %d: %t, %v", try, took, err)
		}
	}
	if got := w.history("old"); !slices.Equal(got, []string{takenType, releasedType, takenType}) {
		t.Errorf("the name's history is %v", got)
	}
	other := w.opened("other")
	w.fails(w.two, rename{ID: other, Names: []string{"old"}}, w.meta(), "name_taken")

	if took, err := w.one.Reserve(t.Context(), owner, name("never used"), w.meta()); err != nil || took {
		t.Errorf("a value that the owner does not use: %t, %v", took, err)
	}
	_, err := w.one.Reserve(t.Context(), commands.At("nothing", other), name("old"), w.meta())
	if err == nil {
		t.Error("a category that nobody registered")
	}
}

func TestReserve_LeavesSomebodyElseWhatTheyUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	first := w.unclaimed("both")
	second := w.opened("both") // the name was free
	if _, err := w.one.Reserve(t.Context(), first, name("both"), w.meta()); failure.CodeOf(err) != "name_taken" {
		t.Errorf("the name of another one: %v", err)
	}
	w.must(w.one, rename{ID: second, Names: []string{"given up"}}, w.meta())
	if took, err := w.one.Reserve(t.Context(), first, name("both"), w.meta()); err != nil || !took {
		t.Errorf("after the other one gave it up: %t, %v", took, err)
	}
}
