package bus_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

func TestExecute_WithinOneProcessNobodyLosesARace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	c := w.opened()
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 5 {
				if _, err := w.one.Execute(t.Context(), add{ID: c, Step: 1}, w.meta()); err != nil {
					t.Errorf("add: %v", err)
				}
				if _, _, err := bus.LoadUnchecked[counter](t.Context(), w.one, c); err != nil {
					t.Errorf("load: %v", err)
				}
			}
		})
	}
	wg.Wait()
	if got := w.state(c).Sum; got != 80 {
		t.Errorf("counted %d, want 80", got)
	}
}

func TestExecute_OfRacersWithTheSameIfMatchOneWins(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	c := w.opened()
	for range 20 {
		_, seen, err := bus.LoadUnchecked[counter](t.Context(), w.one, c)
		if err != nil {
			t.Fatal(err)
		}
		var won atomic.Int32
		var wg sync.WaitGroup
		for _, b := range []*bus.Bus{w.one, w.two} {
			wg.Go(func() {
				m := w.meta()
				m.ExpectedRevision = &seen
				_, err := b.Execute(t.Context(), add{ID: c, Step: 1}, m)
				switch {
				case err == nil:
					won.Add(1)
				case failure.CodeOf(err) != "stale_revision":
					t.Errorf("add: %v", err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Fatalf("%d of two racers won", won.Load())
		}
	}
}

func TestExecute_ShortRestartsOfTheStoreAreNotSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	stop := make(chan struct{})
	var counted, told atomic.Int64
	var wg sync.WaitGroup
	counters := []id.Subscriber{w.opened(), w.opened(), w.opened(), w.opened()}
	for _, c := range counters {
		wg.Go(func() {
			for m := w.meta(); ; {
				select {
				case <-stop:
					return
				default:
				}
				switch _, err := w.one.Execute(t.Context(), add{ID: c, Step: 1}, m); {
				case err == nil:
					counted.Add(1)
					m = w.meta()
				case failure.KindOf(err) == failure.Unavailable:
					told.Add(1) // sends the same command again
				default:
					t.Errorf("add: %v", err)
					return
				}
			}
		})
	}
	var longest time.Duration
	for range 4 {
		for before := counted.Load(); counted.Load() < before+40 && !t.Failed(); {
			w.must(w.two, add{ID: counters[0], Step: 0}, w.meta())
		}
		began := time.Now()
		w.StopNode()
		w.StartNode()
		longest = max(longest, time.Since(began))
		w.untilAvailable(w.two, add{ID: counters[0], Step: 0}, w.meta())
	}
	close(stop)
	wg.Wait()
	if told.Load() > 0 && longest < time.Second {
		t.Errorf("%d callers saw an outage of at most %s", told.Load(), longest)
	}
	var sum int64
	for _, c := range counters {
		sum += w.state(c).Sum
	}
	// the last one of each caller may be unanswered
	if sum < counted.Load() || sum > counted.Load()+int64(len(counters)) {
		t.Errorf("counted %d in the log, %d accepted", sum, counted.Load())
	}
}

func TestClaims_OfAnUnfinishedAttemptAreTakenAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bus.Config{})
	c := open{ID: id.New[id.Subscriber](), Org: w.org, Names: []string{"n"}}
	w.claimedButKilled("n", c.ID)
	w.clock.Advance(59 * time.Second)
	w.must(w.one, c, w.meta())
	list, err := w.Store.Read(t.Context(), "claim-"+storetest.ClaimKey("name", "n").String(), 0)
	if err != nil || len(list) != 2 {
		t.Fatalf("claim's stream has %d events, %v", len(list), err)
	}
	// Until the owner's append, another command could have taken over the old claim.
	if _, again := list[1].Event.(events.ClaimTaken); !again || !list[1].Meta.At.Equal(w.clock.Now()) {
		t.Errorf("last event of the claim: %+v", list[1])
	}
}
