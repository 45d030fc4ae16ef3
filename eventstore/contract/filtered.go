package contract

import (
	"strings"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
)

// testSubscribeFiltered covers filters that the server applies, and their checkpoints.
func testSubscribeFiltered(t *testing.T, k *kit) {
	t.Run("by stream prefix", func(t *testing.T) {
		t.Parallel()
		s := stream("filtered")
		k.wantFiltered(t, s, &esdb.SubscriptionFilter{Type: esdb.StreamFilterType, Prefixes: []string{"nothing", s}}, 3)
	})
	t.Run("by stream expression", func(t *testing.T) {
		t.Parallel()
		s := stream("filtered")
		k.wantFiltered(t, s, &esdb.SubscriptionFilter{Type: esdb.StreamFilterType, Regex: s[len(s)-12:] + "$"}, 3)
	})
	t.Run("by type prefix", func(t *testing.T) {
		t.Parallel()
		s := stream("filtered")
		k.wantFiltered(t, s, &esdb.SubscriptionFilter{Type: esdb.EventFilterType, Prefixes: []string{"x-" + s}}, 2)
	})
	t.Run("by type expression", func(t *testing.T) {
		t.Parallel()
		s := stream("filtered")
		k.wantFiltered(t, s, &esdb.SubscriptionFilter{Type: esdb.EventFilterType, Regex: "^[xy]-" + s}, 3)
	})
	t.Run("system events can be left out", func(t *testing.T) {
		t.Parallel()
		sub := k.subscribeAll(t, esdb.SubscribeToAllOptions{
			From: esdb.Start{}, Filter: esdb.ExcludeSystemEventsFilter(),
		})
		k.append(t, stream("filtered"), esdb.Any{}, event("a"))
		for seen := 0; seen < 1; {
			if e := sub.next(t).EventAppeared; e != nil {
				seen++
				if strings.HasPrefix(e.Event.EventType, "$") {
					t.Errorf("got %s", e.Event.EventType)
				}
			}
		}
	})
	t.Run("from the end, without a search window", func(t *testing.T) {
		t.Parallel()
		s := stream("filtered")
		k.append(t, s, esdb.NoStream{}, event("a"))
		sub := k.subscribeAll(t, esdb.SubscribeToAllOptions{
			From: esdb.End{}, MaxSearchWindow: esdb.NoMaxSearchWindow,
			Filter: &esdb.SubscriptionFilter{Type: esdb.StreamFilterType, Prefixes: []string{s}},
		})
		for sub.next(t).CaughtUp == nil {
		}
		k.append(t, s, esdb.Any{}, event("b"))
		for {
			if e := sub.next(t).EventAppeared; e != nil {
				if e.Event.EventNumber != 1 {
					t.Errorf("got number %d", e.Event.EventNumber)
				}
				return
			}
		}
	})
	t.Run("checkpoints", func(t *testing.T) { t.Parallel(); filteredCheckpoints(t, k) })
}

// wantFiltered appends two "x-" events and one "y-" event, partly before and partly after it subscribes, and waits
// until n of them have come.
func (k *kit) wantFiltered(t *testing.T, s string, f *esdb.SubscriptionFilter, n int) {
	t.Helper()
	from := k.append(t, stream("filtered"), esdb.Any{}, event("before")).CommitPosition
	k.append(t, s, esdb.NoStream{}, event("x-"+s))
	sub := k.subscribeAll(t, esdb.SubscribeToAllOptions{From: esdb.Position{Commit: from, Prepare: from}, Filter: f})
	k.append(t, stream("filtered"), esdb.Any{}, event("hidden"))
	k.append(t, s, esdb.Any{}, event("x-"+s), event("y-"+s))
	last := uint64(0)
	for seen := 0; seen < n; {
		e := sub.next(t)
		switch {
		case e.EventAppeared != nil:
			if got := e.EventAppeared.Event; got.StreamID != s {
				t.Fatalf("got an event of %s", got.StreamID)
			}
			last = e.EventAppeared.Event.Position.Commit
			seen++
		case e.CheckPointReached != nil:
			if e.CheckPointReached.Commit < last {
				t.Errorf("checkpoint %d after event %d", e.CheckPointReached.Commit, last)
			}
			last = e.CheckPointReached.Commit
		case e.SubscriptionDropped != nil:
			t.Fatal(e.SubscriptionDropped.Error)
		}
	}
}

// filteredCheckpoints: although no event matches, each interval gives a checkpoint, and the end of the history gives
// one before the message that the subscription has caught up.
func filteredCheckpoints(t *testing.T, k *kit) {
	s := stream("filtered")
	from := k.append(t, s, esdb.NoStream{}, event("before")).CommitPosition
	given := make([]esdb.EventData, 25)
	for i := range given {
		given[i] = event("hidden")
	}
	end := k.append(t, s, esdb.Any{}, given...).CommitPosition
	sub := k.subscribeAll(t, esdb.SubscribeToAllOptions{
		From:            esdb.Position{Commit: from, Prepare: from},
		Filter:          &esdb.SubscriptionFilter{Type: esdb.EventFilterType, Prefixes: []string{"never-" + s}},
		MaxSearchWindow: 5, CheckpointInterval: 2,
	})
	last, count := from, 0
	for {
		e := sub.next(t)
		if e.CaughtUp != nil {
			break
		}
		if e.CheckPointReached == nil || e.CheckPointReached.Commit <= last {
			t.Fatalf("got %+v after checkpoint %d", e, last)
		}
		last = e.CheckPointReached.Commit
		count++
	}
	if last < end || count < 3 {
		t.Errorf("%d checkpoints, the last at %d; the log reached %d", count, last, end)
	}
	k.append(t, s, esdb.Any{}, several("l", "l", "l", "l", "l", "l", "l", "l", "l", "l")...)
	if e := sub.next(t); e.CheckPointReached == nil || e.CheckPointReached.Commit <= last {
		t.Errorf("live: got %+v after checkpoint %d", e, last)
	}
}
