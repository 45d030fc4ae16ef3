package bus_test

import (
	"slices"
	"testing"

	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// settled says of each event of a name whether a bus knows it as settled.
func (w *world) settled(b *bus.Bus, name string) (out []bool) {
	w.t.Helper()
	list, err := w.Store.Read(w.t.Context(), release(name).Target().Stream(), 0)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range list {
		out = append(out, b.Settled(e))
	}
	return out
}

func TestSettled_AreTheClaimsThatAnOwnerUses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	w.opened("used", "too")
	for _, name := range []string{"used", "too"} {
		if got := w.settled(w.one, name); len(got) != 1 || !got[0] {
			t.Errorf("%s: %v", name, got)
		}
		if got := w.settled(w.two, name); got[0] {
			t.Errorf("%s: known to a program that has not taken it", name)
		}
	}
}

// TestSettled_IsNoClaimThatAProgramMayLeaveBehind: whoever frees unused values has to look at these.
func TestSettled_IsNoClaimThatAProgramMayLeaveBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	w.claimedButKilled("killed", id.New[id.Subscriber]())
	w.opened("somebody's")
	w.fails(w.one, open{ID: id.New[id.Subscriber](), Org: w.org, Names: []string{"free", "somebody's"}}, w.meta(),
		"name_taken")
	w.must(w.one, rename{ID: w.opened("dropped", "kept"), Names: []string{"kept", "new"}}, w.meta())
	for name, want := range map[string][]bool{
		"killed":  {false},
		"free":    {false, false},       // taken and given back
		"dropped": {true, false, false}, // taken, taken once more to be dropped, released
		"kept":    {true},
		"new":     {true},
	} {
		if got := w.settled(w.one, name); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	c := open{ID: id.New[id.Subscriber](), Org: w.org, Names: []string{"again"}}
	m := w.meta()
	w.must(w.one, c, m)
	w.must(w.one, rename{ID: c.ID}, w.meta())
	// The command is repeated by another program that does not know the owner, and is killed.
	_, err := w.Store.Append(t.Context(), release("again").Target().Stream(), eventstore.At(2), []eventstore.New{{
		Event: events.ClaimTaken{Kind: "name", OwnerCategory: "account", Owner: id.Any(c.ID)},
		Meta: events.Metadata{
			EventID: id.New[id.Event](), CommandID: m.CommandID, AggregateID: release("again").Claim, At: w.clock.Now(),
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.settled(w.one, "again"); !slices.Equal(got, []bool{true, false, false, false}) {
		t.Errorf("a command that took its claim twice: %v", got)
	}
	if w.one.Settled(events.Envelope{Event: events.ClaimReleased{}}) {
		t.Error("a release is settled")
	}
}
