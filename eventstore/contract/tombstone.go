package contract

import (
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
)

// testTombstone covers the deletion that cannot be undone.
func testTombstone(t *testing.T, k *kit) {
	end := func(t *testing.T, s string, expected esdb.ExpectedRevision) (*esdb.DeleteResult, error) {
		return k.client.TombstoneStream(within(t), s, esdb.TombstoneStreamOptions{ExpectedRevision: expected})
	}
	t.Run("nothing is possible afterwards", func(t *testing.T) {
		t.Parallel()
		s := stream("tombstone")
		k.append(t, s, esdb.NoStream{}, event("a"))
		r, err := end(t, s, esdb.Revision(0))
		if err != nil {
			t.Fatal(err)
		}
		gone := esdb.ErrorCodeStreamDeleted
		_, err = k.read(t, s, esdb.ReadStreamOptions{}, 1)
		wantCode(t, err, gone)
		for _, expected := range []esdb.ExpectedRevision{
			esdb.Any{}, esdb.NoStream{}, esdb.StreamExists{}, esdb.Revision(0),
		} {
			k.appendFails(t, gone, s, expected, event("b"))
		}
		k.appendFails(t, gone, "$$"+s, esdb.Any{}, event("$metadata"))
		_, err = end(t, s, esdb.Any{})
		wantCode(t, err, gone)
		_, err = k.client.DeleteStream(within(t), s, esdb.DeleteStreamOptions{ExpectedRevision: esdb.Any{}})
		wantCode(t, err, gone)
		_, err = k.client.SubscribeToStream(within(t), s, esdb.SubscribeToStreamOptions{From: esdb.Start{}})
		wantCode(t, err, gone)
		got := k.readAll(t, esdb.ReadAllOptions{From: r.Position}, 1)
		if len(got) != 1 || got[0].Event.EventType != "$streamDeleted" || got[0].Event.EventNumber != 1<<63-1 ||
			got[0].Event.StreamID != s {
			t.Errorf("in $all: %+v", got[0].Event)
		}
	})
	t.Run("of a stream that never was", func(t *testing.T) {
		t.Parallel()
		for _, expected := range []esdb.ExpectedRevision{esdb.Any{}, esdb.NoStream{}} {
			s := stream("tombstone")
			if _, err := end(t, s, expected); err != nil {
				t.Fatal(err)
			}
			k.appendFails(t, esdb.ErrorCodeStreamDeleted, s, esdb.Any{}, event("a"))
		}
	})
	t.Run("wrong version", func(t *testing.T) {
		t.Parallel()
		s := stream("tombstone")
		k.append(t, s, esdb.NoStream{}, event("a"))
		if _, err := end(t, s, esdb.NoStream{}); err == nil {
			t.Error("no error")
		}
		k.wantRevisions(t, s, 0)
	})
	t.Run("ends a live subscription after the event",
		func(t *testing.T) { t.Parallel(); tombstoneEndsSubscription(t, k) })
}

// tombstoneEndsSubscription: the subscriber gets the tombstone's event, then the error.
func tombstoneEndsSubscription(t *testing.T, k *kit) {
	s := stream("tombstone")
	k.append(t, s, esdb.NoStream{}, event("a"))
	sub := k.subscribe(t, s, esdb.SubscribeToStreamOptions{From: esdb.Start{}})
	sub.event(t)
	sub.caughtUp(t)
	if _, err := k.client.TombstoneStream(within(t), s,
		esdb.TombstoneStreamOptions{ExpectedRevision: esdb.Any{}}); err != nil {
		t.Fatal(err)
	}
	if e := sub.event(t); e.Event.EventType != "$streamDeleted" {
		t.Errorf("got %s", e.Event.EventType)
	}
	if e := sub.next(t); e.SubscriptionDropped == nil {
		t.Errorf("got %+v", e)
	}
}
