package contract

import (
	"errors"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// testAppend covers every expected revision, and repeats that are recognised by event id.
func testAppend(t *testing.T, k *kit) {
	t.Run("stores what was given", func(t *testing.T) { t.Parallel(); appendStoresAll(t, k) })
	t.Run("expected revisions", func(t *testing.T) { t.Parallel(); appendExpectations(t, k) })
	t.Run("exact repeats", func(t *testing.T) { t.Parallel(); appendExactRepeats(t, k) })
	t.Run("loose repeats", func(t *testing.T) { t.Parallel(); appendLooseRepeats(t, k) })
	t.Run("wrong version names both", func(t *testing.T) {
		t.Parallel()
		s := stream("append")
		k.append(t, s, esdb.NoStream{}, event("a"))
		_, err := k.client.AppendToStream(within(t), s, esdb.AppendToStreamOptions{ExpectedRevision: esdb.Revision(7)},
			event("b"))
		var e *esdb.Error
		if !errors.As(err, &e) || e.Err().Error() != "wrong expected version: expecting '7' but got '0'" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("nothing", func(t *testing.T) {
		t.Parallel()
		s := stream("append")
		k.append(t, s, esdb.Any{})
		_, err := k.read(t, s, esdb.ReadStreamOptions{}, 1)
		wantCode(t, err, esdb.ErrorCodeResourceNotFound)
		k.append(t, s, esdb.NoStream{}, event("a"))
		if r := k.append(t, s, esdb.Revision(0)); r.NextExpectedVersion != 0 {
			t.Errorf("empty append to revision 0 answered %d", r.NextExpectedVersion)
		}
	})
	t.Run("all is not writable", func(t *testing.T) {
		t.Parallel()
		k.appendFails(t, esdb.ErrorCodeAccessDenied, "$all", esdb.Any{}, event("a"))
	})
}

// appendStoresAll: every field of an event comes back unchanged, with the place and time of its storage.
func appendStoresAll(t *testing.T, k *kit) {
	s := stream("append")
	binary := esdb.EventData{
		EventID: uuid.New(), EventType: "blob", ContentType: esdb.ContentTypeBinary, Data: []byte{0, 1, 255},
	}
	given := append(several("a", "b"), binary)
	r := k.append(t, s, esdb.NoStream{}, given...)
	if r.NextExpectedVersion != 2 || r.CommitPosition == 0 || r.CommitPosition != r.PreparePosition {
		t.Errorf("write result %+v", r)
	}
	got, err := k.read(t, s, esdb.ReadStreamOptions{}, 10)
	if err != nil || len(got) != 3 {
		t.Fatalf("got %d events, %v", len(got), err)
	}
	for i, e := range got {
		o := e.OriginalEvent()
		back := esdb.EventData{EventID: o.EventID, EventType: o.EventType, Data: o.Data, Metadata: o.UserMetadata}
		want := given[i]
		want.ContentType = 0
		if want.Metadata == nil {
			want.Metadata = back.Metadata
		}
		back.ContentType = 0
		if diff := cmp.Diff(want, back); diff != "" {
			t.Errorf("event %d (-want +got):\n%s", i, diff)
		}
		if o.StreamID != s || o.CreatedDate.Year() < 2020 || o.Position.Commit != o.Position.Prepare ||
			e.Commit == nil || *e.Commit != o.Position.Commit {
			t.Errorf("event %d: %+v", i, o)
		}
	}
	if got[2].Event.ContentType != "application/octet-stream" || got[0].Event.ContentType != "application/json" {
		t.Errorf("content types %q, %q", got[0].Event.ContentType, got[2].Event.ContentType)
	}
	if got[2].Event.Position.Commit != r.CommitPosition {
		t.Errorf("append answered %d, the last event is at %d", r.CommitPosition, got[2].Event.Position.Commit)
	}
}

// appendExpectations: each expected revision is tried on a stream where it holds and on one where it does not.
func appendExpectations(t *testing.T, k *kit) {
	wrong := esdb.ErrorCodeWrongExpectedVersion
	s := stream("append")
	k.appendFails(t, wrong, s, esdb.StreamExists{}, event("a"))
	k.appendFails(t, wrong, s, esdb.Revision(0), event("a"))
	k.append(t, s, esdb.Any{}, event("a"))
	k.appendFails(t, wrong, s, esdb.NoStream{}, event("b"))
	k.append(t, s, esdb.StreamExists{}, event("b"))
	k.append(t, s, esdb.Revision(1), event("c"))
	k.appendFails(t, wrong, s, esdb.Revision(1), event("d"))
	k.appendFails(t, wrong, s, esdb.Revision(3), event("d"))
	k.appendFails(t, wrong, s, esdb.Revision(1<<63+5), event("d"))
	k.wantRevisions(t, s, 0, 1, 2)
}

// appendExactRepeats: a repeat with an exact revision is recognised by comparison with the log.
func appendExactRepeats(t *testing.T, k *kit) {
	wrong := esdb.ErrorCodeWrongExpectedVersion
	s, first, second := stream("append"), several("a", "b"), several("c", "d")
	r1 := k.append(t, s, esdb.NoStream{}, first...)
	if again := k.append(t, s, esdb.NoStream{}, first...); *again != *r1 {
		t.Errorf("repeat answered %+v, the original %+v", again, r1)
	}
	r2 := k.append(t, s, esdb.Revision(1), second...)
	if again := k.append(t, s, esdb.Revision(1), second...); *again != *r2 {
		t.Errorf("repeat answered %+v, the original %+v", again, r2)
	}
	if again := k.append(t, s, esdb.NoStream{}, first...); *again != *r1 {
		t.Errorf("late repeat answered %+v, the original %+v", again, r1)
	}
	all := append(append([]esdb.EventData{}, first...), second...)
	if again := k.append(t, s, esdb.NoStream{}, all...); *again != *r2 {
		t.Errorf("repeat across appends answered %+v, want %+v", again, r2)
	}
	k.appendFails(t, wrong, s, esdb.NoStream{}, first[0], event("x"))        // a later event differs
	k.appendFails(t, wrong, s, esdb.Revision(2), second[1], event("beyond")) // runs past the end
	k.appendFails(t, wrong, s, esdb.NoStream{})                              // nothing to compare
	k.appendFails(t, wrong, s, esdb.Revision(0), first[0])                   // a known event at another place
	k.wantRevisions(t, s, 0, 1, 2, 3)
}

// appendLooseRepeats: without an exact revision, ids that were recently written to the same stream are recognised.
func appendLooseRepeats(t *testing.T, k *kit) {
	s, given := stream("append"), several("a", "b")
	r1 := k.append(t, s, esdb.Any{}, given...)
	k.append(t, s, esdb.Any{}, event("c"))
	for _, expected := range []esdb.ExpectedRevision{esdb.Any{}, esdb.StreamExists{}} {
		if again := k.append(t, s, expected, given...); *again != *r1 {
			t.Errorf("%T repeat answered %+v, the original %+v", expected, again, r1)
		}
	}
	if again := k.append(t, s, esdb.Any{}, given[0]); again.NextExpectedVersion != 0 {
		t.Errorf("repeat of the first event answered %+v", again)
	}
	k.appendFails(t, esdb.ErrorCodeWrongExpectedVersion, s, esdb.Any{}, given[0], event("x"))
	k.wantRevisions(t, s, 0, 1, 2)
	k.append(t, stream("append"), esdb.Any{}, given...) // the same ids are new in another stream
}
