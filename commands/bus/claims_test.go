package bus_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// claimedButKilled leaves the log as it is when a program dies between claim and append.
func (w *world) claimedButKilled(name string, owner id.Subscriber) {
	w.t.Helper()
	stream := "claim-" + storetest.ClaimKey("name", name).String()
	_, err := w.Store.Append(w.t.Context(), stream, eventstore.NoStream, []eventstore.New{{
		Event: events.ClaimTaken{Kind: "name", OwnerCategory: "account", Owner: id.Any(owner)},
		Meta:  events.Metadata{EventID: id.New[id.Event](), CommandID: id.New[id.Command](), At: w.clock.Now()},
	}})
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestClaims_OfConcurrentCommandsExactlyOneWins(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	for round := range 10 {
		names := []string{fmt.Sprint("a", round), fmt.Sprint("b", round)}
		won := make(chan id.Subscriber, 4)
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				c := open{ID: id.New[id.Subscriber](), Org: w.org, Names: []string{names[i%2], names[1-i%2]}}
				_, err := []*bus.Bus{w.one, w.two}[i%2].Execute(t.Context(), c, w.meta())
				switch {
				case err == nil:
					won <- c.ID
				case failure.CodeOf(err) != "name_taken":
					t.Errorf("open: %v", err)
				}
			})
		}
		wg.Wait()
		if len(won) != 1 {
			t.Fatalf("round %d: %d commands won the same names", round, len(won))
		}
	}
}

func TestClaims_AChangedValueFreesTheOld(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	first, second := w.opened("old", "kept"), w.opened("other")
	w.fails(w.two, rename{ID: second, Names: []string{"old"}}, w.meta(), "name_taken")
	w.must(w.one, rename{ID: first, Names: []string{"new", "kept"}}, w.meta())
	w.must(w.two, rename{ID: second, Names: []string{"old"}}, w.meta())
	w.fails(w.one, rename{ID: first, Names: []string{"old"}}, w.meta(), "name_taken")
	w.must(w.one, rename{ID: first, Names: []string{"other"}}, w.meta())
	w.fails(w.two, rename{ID: second, Names: []string{"other", "old"}}, w.meta(), "name_taken")
}

func TestClaims_OfARefusedCommandAreGivenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	w.opened("taken")
	c := open{ID: id.New[id.Subscriber](), Org: w.org, Names: []string{"free1", "free2", "free3", "taken"}}
	w.fails(w.one, c, w.meta(), "name_taken")
	w.opened("free1")
	w.opened("free2", "free3")
}

func TestClaims_AStaleCommandGivesItsClaimBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	c := w.opened()
	seen := uint64(0)
	m := w.meta()
	m.ExpectedRevision = &seen
	w.fails(w.one, rename{ID: c, Names: []string{"wanted"}}, m, "stale_revision")
	w.opened("wanted")
}

func TestClaims_AfterAKillTheOwnerGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	c := open{ID: id.New[id.Subscriber](), Org: w.org, Names: []string{"n"}}
	w.claimedButKilled("n", c.ID)
	rival := open{ID: id.New[id.Subscriber](), Org: w.org, Names: []string{"n"}}
	w.clock.Advance(50 * time.Second)
	w.fails(w.one, rival, w.meta(), "name_taken")
	w.must(w.two, c, w.meta()) // renews the claim
	w.clock.Advance(time.Hour)
	w.fails(w.one, rival, w.meta(), "name_taken")
}

func TestClaims_OfAnAbsentOwnerAreTakenOverAfterAMinute(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	killed := open{ID: id.New[id.Subscriber](), Org: w.org, Names: []string{"n"}}
	w.claimedButKilled("n", killed.ID)
	w.clock.Advance(59 * time.Second)
	rival := open{ID: id.New[id.Subscriber](), Org: w.org, Names: []string{"n"}}
	w.fails(w.one, rival, w.meta(), "name_taken")
	w.clock.Advance(time.Second)
	w.must(w.one, rival, w.meta())
	w.fails(w.two, killed, w.meta(), "name_taken")
}

func TestClaims_ThatTheOwnerDoesNotUseAreTakenOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	c := w.opened("other")
	w.claimedButKilled("n", c)
	w.clock.Advance(time.Minute)
	w.opened("n")
	w.fails(w.two, rename{ID: c, Names: []string{"n"}}, w.meta(), "name_taken")
}

func TestClaims_ARenewedClaimIsNotTakenOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	c := w.opened("n")
	for range 3 { // changed away and back, so that the claim's stream has a history
		w.clock.Advance(time.Hour)
		w.must(w.one, rename{ID: c, Names: []string{"m"}}, w.meta())
		w.must(w.two, rename{ID: c, Names: []string{"n"}}, w.meta())
		w.clock.Advance(time.Hour)
		w.fails(w.one, open{ID: id.New[id.Subscriber](), Org: w.org, Names: []string{"n"}}, w.meta(), "name_taken")
	}
}

func TestClaims_StreamsHoldNoValue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	m := w.meta()
	c := open{ID: id.New[id.Subscriber](), Org: w.org, Names: []string{"n"}}
	w.must(w.one, c, m)
	list, err := w.Store.Read(t.Context(), "claim-"+storetest.ClaimKey("name", "n").String(), 0)
	if err != nil || len(list) != 1 {
		t.Fatalf("claim's stream has %d events, %v", len(list), err)
	}
	want := events.ClaimTaken{Kind: "name", OwnerCategory: "account", Owner: id.Any(c.ID)}
	if got := list[0]; got.Event != events.Event(want) || got.Meta.CommandID != m.CommandID || got.Meta.OrgID != w.org {
		t.Errorf("claim event %+v", got)
	}
	if got := list[0].Meta.AggregateID.UUID(); got != storetest.ClaimKey("name", "n") {
		t.Errorf("claim event is of %s, want the claim's own key", got)
	}
	var _ commands.Command = c
}
