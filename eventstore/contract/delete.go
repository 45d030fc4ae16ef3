package contract

import (
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
)

// setMetadata must succeed.
func (k *kit) setMetadata(t *testing.T, s string, expected esdb.ExpectedRevision, change func(*esdb.StreamMetadata)) {
	t.Helper()
	m := esdb.StreamMetadata{}
	change(&m)
	if _, err := k.client.SetStreamMetadata(within(t), s, esdb.AppendToStreamOptions{ExpectedRevision: expected}, m); err != nil {
		t.Fatal(err)
	}
}

// testMetadata covers stream metadata and what it hides.
func testMetadata(t *testing.T, k *kit) {
	five := func(t *testing.T) string {
		s := stream("meta")
		k.append(t, s, esdb.NoStream{}, events("a", "b", "c", "d", "e")...)
		return s
	}
	t.Run("the newest is read back", func(t *testing.T) { t.Parallel(); metadataNewest(t, k) })
	t.Run("max count", func(t *testing.T) {
		t.Parallel()
		s := five(t)
		k.setMetadata(t, s, esdb.NoStream{}, func(m *esdb.StreamMetadata) { m.SetMaxCount(2) })
		k.wantRevisions(t, s, 3, 4)
		k.append(t, s, esdb.Revision(4), event("f"))
		k.wantRevisions(t, s, 4, 5)
		got, err := k.read(t, s, esdb.ReadStreamOptions{Direction: esdb.Backwards, From: esdb.End{}}, 10)
		if err != nil || len(got) != 2 {
			t.Errorf("backwards: %v, %v", revisions(got), err)
		}
		got, err = k.read(t, s, esdb.ReadStreamOptions{From: esdb.Revision(1)}, 1)
		if err != nil || len(got) != 1 || got[0].Event.EventNumber != 4 {
			t.Errorf("from a truncated revision: %v, %v", revisions(got), err)
		}
	})
	t.Run("truncate before", func(t *testing.T) {
		t.Parallel()
		s := five(t)
		k.setMetadata(t, s, esdb.Any{}, func(m *esdb.StreamMetadata) { m.SetTruncateBefore(3) })
		k.wantRevisions(t, s, 3, 4)
		k.setMetadata(t, s, esdb.Any{}, func(m *esdb.StreamMetadata) { m.SetTruncateBefore(9) })
		k.wantRevisions(t, s) // empty, yet found
	})
	t.Run("max age", func(t *testing.T) {
		t.Parallel()
		s := five(t)
		k.setMetadata(t, s, esdb.Any{}, func(m *esdb.StreamMetadata) { m.SetMaxAge(time.Hour) })
		k.wantRevisions(t, s, 0, 1, 2, 3, 4)
	})
	t.Run("all still shows what is hidden", func(t *testing.T) {
		t.Parallel()
		s := stream("meta")
		first := k.append(t, s, esdb.NoStream{}, event("a")).CommitPosition
		k.append(t, s, esdb.Any{}, event("b"))
		k.setMetadata(t, s, esdb.Any{}, func(m *esdb.StreamMetadata) { m.SetMaxCount(1) })
		got := k.readAll(t, esdb.ReadAllOptions{From: esdb.Position{Commit: first, Prepare: first}}, 1)
		if len(got) != 1 || got[0].Event.StreamID != s {
			t.Errorf("got %v", got)
		}
	})
	t.Run("metadata alone makes no stream", func(t *testing.T) {
		t.Parallel()
		s := stream("meta")
		k.setMetadata(t, s, esdb.NoStream{}, func(m *esdb.StreamMetadata) { m.SetMaxCount(7) })
		_, err := k.read(t, s, esdb.ReadStreamOptions{}, 1)
		wantCode(t, err, esdb.ErrorCodeResourceNotFound)
		k.append(t, s, esdb.StreamExists{}, event("a")) // but it is enough for this
	})
}

// metadataNewest: the client reads $$stream forwards from the start and must get the newest.
func metadataNewest(t *testing.T, k *kit) {
	s := stream("meta")
	k.append(t, s, esdb.NoStream{}, event("a"))
	for n := uint64(1); n <= 3; n++ {
		expected := esdb.ExpectedRevision(esdb.NoStream{})
		if n > 1 {
			expected = esdb.Revision(n - 2)
		}
		k.setMetadata(t, s, expected, func(m *esdb.StreamMetadata) {
			m.SetMaxCount(n)
			m.SetMaxAge(time.Duration(n) * time.Hour)
			m.SetTruncateBefore(0)
			m.SetCacheControl(time.Minute)
			m.SetAcl(esdb.UserStreamAcl)
			m.AddCustomProperty("colour", "blue")
		})
	}
	got, err := k.client.GetStreamMetadata(within(t), s, esdb.ReadStreamOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if *got.MaxCount() != 3 || *got.MaxAge() != 3*time.Hour || *got.CacheControl() != time.Minute || got.CustomProperties()["colour"] != "blue" {
		t.Errorf("got %+v", got)
	}
	k.wantRevisions(t, "$$"+s, 2)
}

// testDelete covers soft deletion and the return of a stream.
func testDelete(t *testing.T, k *kit) {
	remove := func(t *testing.T, s string, expected esdb.ExpectedRevision) error {
		r, err := k.client.DeleteStream(within(t), s, esdb.DeleteStreamOptions{ExpectedRevision: expected})
		if err == nil && r.Position.Commit == 0 {
			t.Error("a delete without a position")
		}
		return err
	}
	t.Run("reads as missing, numbers go on", func(t *testing.T) {
		t.Parallel()
		s := stream("delete")
		k.append(t, s, esdb.NoStream{}, events("a", "b")...)
		if err := remove(t, s, esdb.Revision(1)); err != nil {
			t.Fatal(err)
		}
		_, err := k.read(t, s, esdb.ReadStreamOptions{}, 1)
		wantCode(t, err, esdb.ErrorCodeResourceNotFound)
		if err := remove(t, s, esdb.Any{}); err != nil {
			t.Errorf("deleting again: %v", err)
		}
		k.appendFails(t, esdb.ErrorCodeStreamDeleted, s, esdb.StreamExists{}, event("x"))
		if r := k.append(t, s, esdb.NoStream{}, event("c")); r.NextExpectedVersion != 2 {
			t.Errorf("came back at %d", r.NextExpectedVersion)
		}
		k.wantRevisions(t, s, 2)
		m, err := k.client.GetStreamMetadata(within(t), s, esdb.ReadStreamOptions{})
		if err != nil || *m.TruncateBefore() != 2 {
			t.Errorf("metadata %+v, %v", m, err)
		}
	})
	t.Run("comes back with any and with the exact revision", func(t *testing.T) {
		t.Parallel()
		for _, expected := range []esdb.ExpectedRevision{esdb.Any{}, esdb.Revision(0)} {
			s := stream("delete")
			k.append(t, s, esdb.NoStream{}, event("a"))
			if err := remove(t, s, esdb.StreamExists{}); err != nil {
				t.Fatal(err)
			}
			k.append(t, s, expected, event("b"))
			k.wantRevisions(t, s, 1)
		}
	})
	t.Run("metadata brings it back too", func(t *testing.T) {
		t.Parallel()
		s := stream("delete")
		k.append(t, s, esdb.NoStream{}, event("a"))
		if err := remove(t, s, esdb.Any{}); err != nil {
			t.Fatal(err)
		}
		k.setMetadata(t, s, esdb.Any{}, func(m *esdb.StreamMetadata) { m.SetMaxCount(5) })
		k.wantRevisions(t, s)
		k.append(t, s, esdb.StreamExists{}, event("b"))
		k.wantRevisions(t, s, 1)
		m, err := k.client.GetStreamMetadata(within(t), s, esdb.ReadStreamOptions{})
		if err != nil || *m.TruncateBefore() != 1 || *m.MaxCount() != 5 {
			t.Errorf("metadata %+v, %v", m, err)
		}
	})
	t.Run("wrong versions", func(t *testing.T) { t.Parallel(); deleteWrongVersions(t, k) })
}

// deleteWrongVersions: a delete says wrong version by status and trailers.
func deleteWrongVersions(t *testing.T, k *kit) {
	s := stream("delete")
	try := func(expected *streams.DeleteReq_Options, stream string) (metadata.MD, error) {
		expected.StreamIdentifier = &shared.StreamIdentifier{StreamName: []byte(stream)}
		var trailer metadata.MD
		_, err := k.raw.Delete(within(t), &streams.DeleteReq{Options: expected}, grpc.Trailer(&trailer))
		return trailer, err
	}
	anyOf := &streams.DeleteReq_Options{ExpectedStreamRevision: &streams.DeleteReq_Options_Any{Any: &shared.Empty{}}}
	trailer, err := try(anyOf, s)
	wantTrailers(t, err, codes.FailedPrecondition, trailer, map[string]string{
		"exception": "wrong-expected-version", "stream-name": s, "expected-version": "-2", "actual-version": "-1",
	})
	k.append(t, s, esdb.NoStream{}, event("a"))
	trailer, err = try(&streams.DeleteReq_Options{ExpectedStreamRevision: &streams.DeleteReq_Options_Revision{Revision: 5}}, s)
	wantTrailers(t, err, codes.FailedPrecondition, trailer, map[string]string{
		"exception": "wrong-expected-version", "stream-name": s, "expected-version": "5", "actual-version": "0",
	})
	_, err = try(anyOf, "$all")
	wantTrailers(t, err, codes.PermissionDenied, nil, nil)
}

// testTombstone covers the deletion that is for ever.
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
		for _, expected := range []esdb.ExpectedRevision{esdb.Any{}, esdb.NoStream{}, esdb.StreamExists{}, esdb.Revision(0)} {
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
		if len(got) != 1 || got[0].Event.EventType != "$streamDeleted" || got[0].Event.EventNumber != 1<<63-1 || got[0].Event.StreamID != s {
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
	t.Run("ends a live subscription after the event", func(t *testing.T) {
		t.Parallel()
		s := stream("tombstone")
		k.append(t, s, esdb.NoStream{}, event("a"))
		sub := k.subscribe(t, s, esdb.SubscribeToStreamOptions{From: esdb.Start{}})
		sub.event(t)
		sub.caughtUp(t)
		if _, err := end(t, s, esdb.Any{}); err != nil {
			t.Fatal(err)
		}
		if e := sub.event(t); e.Event.EventType != "$streamDeleted" {
			t.Errorf("got %s", e.Event.EventType)
		}
		if e := sub.next(t); e.SubscriptionDropped == nil {
			t.Errorf("got %+v", e)
		}
	})
}
