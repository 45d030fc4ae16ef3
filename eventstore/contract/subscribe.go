package contract

import (
	"context"
	"math"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/go-cmp/cmp"
)

// subscription lets a test read a client's subscription with a time limit.
type subscription struct {
	messages chan *esdb.SubscriptionEvent
	inner    *esdb.Subscription
}

// watch starts a goroutine that reads until the subscription is dropped or the test ends.
func watch(t *testing.T, inner *esdb.Subscription) *subscription {
	t.Helper()
	s := &subscription{messages: make(chan *esdb.SubscriptionEvent), inner: inner}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			e := inner.Recv()
			select {
			case s.messages <- e:
			case <-ctx.Done():
				return
			}
			if e.SubscriptionDropped != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		_ = inner.Close()
		<-ended
	})
	return s
}

// next returns the next message of any kind and fails when none comes within patience.
func (s *subscription) next(t *testing.T) *esdb.SubscriptionEvent {
	t.Helper()
	select {
	case e := <-s.messages:
		return e
	case <-within(t).Done():
		t.Fatal("the subscription is silent")
		return nil
	}
}

// event fails unless the next message is an event.
func (s *subscription) event(t *testing.T) *esdb.ResolvedEvent {
	t.Helper()
	e := s.next(t)
	if e.EventAppeared == nil {
		t.Fatalf("got %+v, want an event", e)
	}
	return e.EventAppeared
}

// caughtUp fails unless the next message says so.
func (s *subscription) caughtUp(t *testing.T) {
	t.Helper()
	if e := s.next(t); e.CaughtUp == nil {
		t.Fatalf("got %+v, want caught up", e)
	}
}

// revisions takes n messages, which must be events.
func (s *subscription) revisions(t *testing.T, n int) []uint64 {
	t.Helper()
	var got []*esdb.ResolvedEvent
	for range n {
		got = append(got, s.event(t))
	}
	return revisions(got)
}

// subscribe ends its subscription with the test. The server's subscription id must be a UUID.
func (k *kit) subscribe(t *testing.T, stream string, o esdb.SubscribeToStreamOptions) *subscription {
	t.Helper()
	inner, err := k.client.SubscribeToStream(t.Context(), stream, o)
	if err != nil {
		t.Fatalf("subscribe to %s: %v", stream, err)
	}
	if len(inner.Id()) != 36 {
		t.Errorf("subscription id %q", inner.Id())
	}
	return watch(t, inner)
}

// subscribeAll ends its subscription with the test.
func (k *kit) subscribeAll(t *testing.T, o esdb.SubscribeToAllOptions) *subscription {
	t.Helper()
	inner, err := k.client.SubscribeToAll(t.Context(), o)
	if err != nil {
		t.Fatalf("subscribe to $all: %v", err)
	}
	return watch(t, inner)
}

// testSubscribe covers catch-up subscriptions without a filter.
func testSubscribe(t *testing.T, k *kit) {
	t.Run("stream: history, caught up, live", func(t *testing.T) {
		t.Parallel()
		s := stream("sub")
		k.append(t, s, esdb.NoStream{}, several("a", "b")...)
		sub := k.subscribe(t, s, esdb.SubscribeToStreamOptions{From: esdb.Start{}})
		got := sub.revisions(t, 2)
		sub.caughtUp(t)
		k.append(t, s, esdb.Any{}, several("c", "d")...)
		k.append(t, stream("sub"), esdb.Any{}, event("elsewhere"))
		k.append(t, s, esdb.Any{}, event("e"))
		if diff := cmp.Diff([]uint64{0, 1, 2, 3, 4}, append(got, sub.revisions(t, 3)...)); diff != "" {
			t.Errorf("revisions (-want +got):\n%s", diff)
		}
	})
	t.Run("stream: from a revision, exclusive", func(t *testing.T) {
		t.Parallel()
		s := stream("sub")
		k.append(t, s, esdb.NoStream{}, several("a", "b", "c")...)
		sub := k.subscribe(t, s, esdb.SubscribeToStreamOptions{From: esdb.Revision(1)})
		if got := sub.revisions(t, 1); got[0] != 2 {
			t.Errorf("got %v", got)
		}
		sub.caughtUp(t)
	})
	t.Run("stream: from the end, only what is new", func(t *testing.T) { t.Parallel(); subscribeFromEnd(t, k) })
	t.Run("stream that does not exist yet", func(t *testing.T) {
		t.Parallel()
		s := stream("sub")
		sub := k.subscribe(t, s, esdb.SubscribeToStreamOptions{From: esdb.Start{}})
		sub.caughtUp(t)
		k.append(t, s, esdb.NoStream{}, event("a"))
		if got := sub.revisions(t, 1); got[0] != 0 {
			t.Errorf("got %v", got)
		}
	})
	t.Run("long history loses nothing at the seam", func(t *testing.T) { t.Parallel(); subscribeAtSeam(t, k) })
	t.Run("all: from a position, exclusive, then live in order",
		func(t *testing.T) { t.Parallel(); subscribeAllLive(t, k) })
	t.Run("closing drops it", func(t *testing.T) {
		t.Parallel()
		sub := k.subscribe(t, stream("sub"), esdb.SubscribeToStreamOptions{From: esdb.Start{}})
		sub.caughtUp(t)
		_ = sub.inner.Close()
		if e := sub.next(t); e.SubscriptionDropped == nil {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("soft delete and return go on", func(t *testing.T) { t.Parallel(); subscribeAcrossDelete(t, k) })
}

// subscribeFromEnd: the greatest revision of the protocol is another word for the end.
func subscribeFromEnd(t *testing.T, k *kit) {
	for _, from := range []esdb.StreamPosition{esdb.End{}, esdb.Revision(math.MaxUint64)} {
		s := stream("sub")
		k.append(t, s, esdb.NoStream{}, several("a", "b")...)
		sub := k.subscribe(t, s, esdb.SubscribeToStreamOptions{From: from})
		sub.caughtUp(t)
		k.append(t, s, esdb.Any{}, event("c"))
		if got := sub.revisions(t, 1); got[0] != 2 {
			t.Errorf("from %v: got %v", from, got)
		}
	}
}

// subscribeAtSeam: events that are appended while the history is read arrive once and in order.
func subscribeAtSeam(t *testing.T, k *kit) {
	const n = 1500
	s := stream("sub")
	given := make([]esdb.EventData, 500)
	for i := range given {
		given[i] = event("a")
	}
	k.append(t, s, esdb.NoStream{}, given...)
	done := make(chan error, 1)
	go func() {
		for range n - 500 {
			if _, err := k.client.AppendToStream(context.Background(), s,
				esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}}, event("b")); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	sub := k.subscribe(t, s, esdb.SubscribeToStreamOptions{From: esdb.Start{}})
	for want := uint64(0); want < n; {
		e := sub.next(t)
		if e.CaughtUp != nil {
			continue
		}
		if e.EventAppeared == nil || e.EventAppeared.Event.EventNumber != want {
			t.Fatalf("got %+v, want number %d", e, want)
		}
		want++
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// subscribeAllLive reads $all while other tests write; positions must grow.
func subscribeAllLive(t *testing.T, k *kit) {
	s := stream("sub")
	first := k.append(t, s, esdb.NoStream{}, event("a")).CommitPosition
	second := k.append(t, s, esdb.Any{}, event("b")).CommitPosition
	sub := k.subscribeAll(t, esdb.SubscribeToAllOptions{From: esdb.Position{Commit: first, Prepare: first}})
	k.append(t, s, esdb.Any{}, event("c"))
	last, seen := first, []uint64{}
	for len(seen) < 2 {
		e := sub.next(t)
		if e.CheckPointReached != nil || e.SubscriptionDropped != nil {
			t.Fatalf("got %+v", e)
		}
		if e.EventAppeared == nil {
			continue
		}
		at := e.EventAppeared.Event.Position.Commit
		if at <= last {
			t.Fatalf("position %d after %d", at, last)
		}
		last = at
		if e.EventAppeared.Event.StreamID == s {
			seen = append(seen, e.EventAppeared.Event.EventNumber)
			if len(seen) == 1 && at != second {
				t.Errorf("first event at %d, want %d", at, second)
			}
		}
	}
	if diff := cmp.Diff([]uint64{1, 2}, seen); diff != "" {
		t.Errorf("revisions (-want +got):\n%s", diff)
	}
}

// subscribeAcrossDelete: a soft delete does not end a subscription.
func subscribeAcrossDelete(t *testing.T, k *kit) {
	s := stream("sub")
	k.append(t, s, esdb.NoStream{}, event("a"))
	sub := k.subscribe(t, s, esdb.SubscribeToStreamOptions{From: esdb.Start{}})
	sub.event(t)
	sub.caughtUp(t)
	if _, err := k.client.DeleteStream(within(t), s,
		esdb.DeleteStreamOptions{ExpectedRevision: esdb.Any{}}); err != nil {
		t.Fatal(err)
	}
	k.append(t, s, esdb.NoStream{}, event("b"))
	if got := sub.revisions(t, 1); got[0] != 1 {
		t.Errorf("got %v", got)
	}
}
