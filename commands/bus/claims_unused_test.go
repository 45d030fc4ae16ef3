package bus_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// release is the command that the process claims sends for a name.
func release(name string) commands.ReleaseUnusedClaim {
	return commands.ReleaseUnusedClaim{Claim: id.Any(storetest.ClaimKey("name", name))}
}

// history lists the types of the events of a name, in order.
func (w *world) history(name string) (types []string) {
	w.t.Helper()
	list, err := w.Store.Read(w.t.Context(), release(name).Target().Stream(), 0)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range list {
		types = append(types, e.Type)
	}
	return types
}

// Types of events, for histories.
var (
	takenType    = events.ClaimTaken{}.EventType()
	releasedType = events.ClaimReleased{}.EventType()
)

// byProcess is for a command of the process claims, for a claim of the platform.
func byProcess() commands.Meta {
	return commands.Meta{
		CommandID: id.New[id.Command](), Actor: events.Actor{Kind: events.ActorProcess, ID: "claims"},
	}
}

func TestUnusedClaims_OfAKilledCommandAreReleased(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	w.claimedButKilled("absent", id.New[id.Subscriber]())
	w.claimedButKilled("unused", w.opened("other"))
	w.clock.Advance(time.Minute)
	for _, name := range []string{"absent", "unused"} {
		m := byProcess()
		if r := w.must(w.one, release(name), m); !r.Changed || r.Stream != release(name).Target().Stream() {
			t.Errorf("%s: %+v", name, r)
		}
		if r := w.must(w.two, release(name), m); r.Changed {
			t.Errorf("%s is released twice", name)
		}
		if diff := cmp.Diff([]string{takenType, releasedType}, w.history(name)); diff != "" {
			t.Errorf("%s (-want +have)\n%s", name, diff)
		}
	}
	w.opened("absent", "unused")
}

func TestUnusedClaims_AnOwnedClaimIsNeverReleased(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	w.opened("n")
	for range 3 {
		w.clock.Advance(24 * time.Hour)
		if r := w.must(w.two, release("n"), byProcess()); r.Changed {
			t.Fatal("a claim in use was released")
		}
	}
	w.fails(w.one, open{ID: id.New[id.Subscriber](), Org: w.org, Names: []string{"n"}}, w.meta(), "name_taken")
}

func TestUnusedClaims_AYoungClaimStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	killed := open{ID: id.New[id.Subscriber](), Org: w.org, Names: []string{"n"}}
	w.claimedButKilled("n", killed.ID)
	w.clock.Advance(59 * time.Second)
	if r := w.must(w.one, release("n"), byProcess()); r.Changed {
		t.Error("a claim of 59 seconds was released")
	}
	w.must(w.two, killed, w.meta())
}

func TestUnusedClaims_AClaimThatWasTakenOverStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	w.claimedButKilled("n", id.New[id.Subscriber]())
	w.clock.Advance(time.Minute)
	w.opened("n")
	w.clock.Advance(time.Hour)
	if r := w.must(w.two, release("n"), byProcess()); r.Changed {
		t.Error("the claim of the new owner was released")
	}
	w.fails(w.one, open{ID: id.New[id.Subscriber](), Org: w.org, Names: []string{"n"}}, w.meta(), "name_taken")
}

func TestUnusedClaims_AFreeOrUnknownValueStaysFree(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	w.must(w.one, rename{ID: w.opened("n"), Names: nil}, w.meta())
	for _, name := range []string{"n", "never"} {
		if r := w.must(w.two, release(name), byProcess()); r.Changed {
			t.Errorf("%s is free, and was released", name)
		}
	}
	w.opened("n", "never")
}

// TestClaims_ADroppedClaimIsTakenAgainBeforeItIsReleased: whoever follows the claims sees that a release is to come,
// also when the program is killed before it.
func TestClaims_ADroppedClaimIsTakenAgainBeforeItIsReleased(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	c := w.opened("n", "kept")
	w.clock.Advance(time.Hour)
	w.must(w.one, rename{ID: c, Names: []string{"kept"}}, w.meta())
	if diff := cmp.Diff([]string{takenType, takenType, releasedType}, w.history("n")); diff != "" {
		t.Errorf("(-want +have)\n%s", diff)
	}
	if diff := cmp.Diff([]string{takenType}, w.history("kept")); diff != "" {
		t.Errorf("(-want +have)\n%s", diff)
	}
}

// slowClock calls between once, when the second look at the time is taken: after the claims, before the append.
type slowClock struct {
	clock.Clock
	looks   atomic.Int32
	between func()
}

// Now implements clock.Clock.
func (c *slowClock) Now() time.Time {
	if c.looks.Add(1) == 2 {
		c.between()
	}
	return c.Clock.Now()
}

// slow is a replica whose first command stops between its claims and its append until between has returned.
func (w *world) slow(between func()) *bus.Bus {
	return bus.New(bus.Config{
		Store: w.Store, Claims: storetest.ClaimKey, Clock: &slowClock{Clock: w.clock, between: between},
		Logger: storetest.Quiet(),
	})
}

func TestClaims_ASlowCommandDoesNotBeginItsOwnerWithoutThem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile func(w *world)
		refused   bool
	}{
		"released":   {func(w *world) { w.must(w.two, release("n"), byProcess()) }, false},
		"taken over": {func(w *world) { w.opened("n") }, true},
		"released and taken": {func(w *world) {
			w.must(w.two, release("n"), byProcess())
			w.opened("n")
		}, true},
		"only slow": {func(*world) {}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, bus.Config{})
			b := w.slow(func() {
				w.clock.Advance(time.Minute)
				c.meanwhile(w)
			})
			bus.Register(b, counters())
			mine := open{ID: id.New[id.Subscriber](), Org: w.org, Names: []string{"n"}}
			_, err := b.Execute(t.Context(), mine, w.meta())
			if c.refused {
				if failure.CodeOf(err) != "name_taken" || w.state(mine.ID).Owner == w.org {
					t.Errorf("the slow command: %v, its owner: %+v", err, w.state(mine.ID))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			w.fails(w.two, open{ID: id.New[id.Subscriber](), Org: w.org, Names: []string{"n"}}, w.meta(), "name_taken")
			w.clock.Advance(time.Hour)
			if r := w.must(w.two, release("n"), byProcess()); r.Changed {
				t.Error("the claim of the slow command was released in use")
			}
			w.fails(w.two, open{ID: id.New[id.Subscriber](), Org: w.org, Names: []string{"n"}}, w.meta(), "name_taken")
		})
	}
}

// TestClaims_OfAKilledCommandAreNotItsOwnAgainAfterATakeOver: the repeat has the same command id, and its claim is in
// the log.
func TestClaims_OfAKilledCommandAreNotItsOwnAgainAfterATakeOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	ctx, kill := context.WithCancel(t.Context())
	b := w.slow(kill)
	bus.Register(b, counters())
	mine, m := open{ID: id.New[id.Subscriber](), Org: w.org, Names: []string{"n"}}, w.meta()
	if _, err := b.Execute(ctx, mine, m); err == nil {
		t.Fatal("the killed command has ended")
	}
	if diff := cmp.Diff([]string{takenType}, w.history("n")); diff != "" {
		t.Fatalf("(-want +have)\n%s", diff)
	}
	w.clock.Advance(time.Minute)
	w.opened("n")
	w.fails(w.two, mine, m, "name_taken")
}
