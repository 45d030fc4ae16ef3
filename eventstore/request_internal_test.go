package eventstore

import (
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"
	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// TestRequest_IsWhatTheGeneratedCodeSends, byte order of the map aside.
func TestRequest_IsWhatTheGeneratedCodeSends(t *testing.T) {
	t.Parallel()
	halves := func(most, least int64) *shared.UUID {
		return &shared.UUID{Value: &shared.UUID_Structured_{
			Structured: &shared.UUID_Structured{MostSignificantBits: most, LeastSignificantBits: least},
		}}
	}
	rapid.Check(t, func(t *rapid.T) {
		correlation, stream := rapid.Int64().Draw(t, "correlation"), rapid.String().Draw(t, "stream")
		patience := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "patience"))
		expected := Expected(rapid.Int64Min(-1).Draw(t, "expected"))
		want := &streams.BatchAppendReq{CorrelationId: halves(correlation, 0), IsFinal: true,
			Options: &streams.BatchAppendReq_Options{
				StreamIdentifier: &shared.StreamIdentifier{StreamName: []byte(stream)},
				DeadlineOption:   &streams.BatchAppendReq_Options_Deadline{Deadline: durationpb.New(patience)},
			}}
		if want.Options.ExpectedStreamPosition = (&streams.BatchAppendReq_Options_NoStream{
			NoStream: &emptypb.Empty{},
		}); expected >= 0 {
			want.Options.ExpectedStreamPosition = &streams.BatchAppendReq_Options_StreamPosition{
				StreamPosition: uint64(expected),
			}
		}
		bytes := rapid.SliceOfN(rapid.Byte(), 0, 300)
		var list []catalog.Encoded
		for range rapid.IntRange(1, 4).Draw(t, "events") {
			e := catalog.Encoded{
				ID: id.New[id.Event](), Type: rapid.String().Draw(t, "type"), Data: bytes.Draw(t, "data"),
				Metadata: bytes.Draw(t, "metadata"),
			}
			list = append(list, e)
			want.ProposedMessages = append(want.ProposedMessages, &streams.BatchAppendReq_ProposedMessage{
				Id: halves(esdb.UUIDAsInt64(e.ID.UUID())), Data: e.Data, CustomMetadata: e.Metadata,
				Metadata: map[string]string{"type": e.Type, "content-type": "application/json"},
			})
		}
		var got streams.BatchAppendReq
		frame := request(correlation, patience, stream, expected, list)
		if err := proto.Unmarshal(frame, &got); err != nil || !proto.Equal(want, &got) {
			t.Fatalf("sent %v, want %v: %v", &got, want, err)
		}
		if cap(frame) > len(frame)+eventRoom*(len(list)+1) {
			t.Fatalf("%d bytes of %d are used", len(frame), cap(frame))
		}
	})
}
