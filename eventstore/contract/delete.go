package contract

import (
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
)

// testDelete covers soft deletes and the appends that bring a stream back.
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
		k.append(t, s, esdb.NoStream{}, several("a", "b")...)
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

// deleteWrongVersions: a delete at a wrong version is refused by status and trailers, not by a response.
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
	atFive := &streams.DeleteReq_Options_Revision{Revision: 5}
	trailer, err = try(&streams.DeleteReq_Options{ExpectedStreamRevision: atFive}, s)
	wantTrailers(t, err, codes.FailedPrecondition, trailer, map[string]string{
		"exception": "wrong-expected-version", "stream-name": s, "expected-version": "5", "actual-version": "0",
	})
	_, err = try(anyOf, "$all")
	wantTrailers(t, err, codes.PermissionDenied, nil, nil)
}
