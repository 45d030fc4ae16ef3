package embedded

import (
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"pgregory.net/rapid"
)

// stock is the message that the generated code sends for a record; nil for nil.
func stock(r *record, stringIDs bool) *streams.ReadResp_ReadEvent_RecordedEvent {
	if r == nil {
		return nil
	}
	id := structured(r.id)
	if stringIDs {
		id = &shared.UUID{Value: &shared.UUID_String_{String_: r.id.String()}}
	}
	contentType := "application/octet-stream"
	if r.isJSON {
		contentType = "application/json"
	}
	return &streams.ReadResp_ReadEvent_RecordedEvent{
		Id: id, StreamIdentifier: &shared.StreamIdentifier{StreamName: []byte(r.stream)},
		StreamRevision: uint64(r.revision), PreparePosition: uint64(r.position), CommitPosition: uint64(r.position),
		Metadata:       map[string]string{"type": r.kind, "content-type": contentType, "created": "17951601893646848"},
		CustomMetadata: r.metadata, Data: r.data,
	}
}

// TestEventEncoder_EqualsTheGeneratedCode compares both for random records, with and without links.
func TestEventEncoder_EqualsTheGeneratedCode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) *record {
			if !rapid.Bool().Draw(t, label) {
				return nil
			}
			return &record{
				position: rapid.Int64Range(1, 1<<62).Draw(t, "position"),
				revision: rapid.Int64Range(0, tombstoneRevision).Draw(t, "revision"),
				stream:   rapid.String().Draw(t, "stream"), kind: rapid.String().Draw(t, "kind"),
				id: uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id")), isJSON: rapid.Bool().Draw(t, "json"),
				created: 17951601893646848, metadata: rapid.SliceOf(rapid.Byte()).Draw(t, "metadata"),
				data: rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "data"),
			}
		}
		event, link := draw("event"), draw("link")
		if event == nil && link == nil {
			return
		}
		at := link
		if at == nil {
			at = event
		}
		e := eventEncoder{stringIDs: rapid.Bool().Draw(t, "string ids")}
		want := &streams.ReadResp{Content: &streams.ReadResp_Event{Event: &streams.ReadResp_ReadEvent{
			Event: stock(event, e.stringIDs), Link: stock(link, e.stringIDs),
			Position: &streams.ReadResp_ReadEvent_CommitPosition{CommitPosition: uint64(at.position)},
		}}}
		m := e.measure(event, link)
		got, octets := &streams.ReadResp{}, e.encode(nil, &m)
		if err := proto.Unmarshal(octets, got); err != nil || len(octets) != m.size() {
			t.Fatalf("%d bytes, announced were %d, %v", len(octets), m.size(), err)
		}
		if !proto.Equal(want, got) {
			t.Fatalf("got %v\nwant %v", got, want)
		}
	})
}

// TestEventEncoder_ALinkThatIsTooLargeWithItsEventIsNotResolved: clients take no larger message, and would ask for it
// for ever.
func TestEventEncoder_ALinkThatIsTooLargeWithItsEventIsNotResolved(t *testing.T) {
	t.Parallel()
	event, link := &record{position: 1, data: make([]byte, 9<<20)}, &record{position: 2, data: make([]byte, 7<<20)}
	var e eventEncoder
	if m := e.measure(event, link); m.event == nil || m.link == nil {
		t.Error("one that fits is not resolved")
	}
	link.metadata = make([]byte, 2<<20)
	if m := e.measure(event, link); m.event != nil || m.link != link || m.size() > maxMessageBytes {
		t.Errorf("%d bytes are sent", m.size())
	}
}

// TestStoredAnswer_IsWhatTheGeneratedCodeSends, or none, so that the generated code sends it.
func TestStoredAnswer_IsWhatTheGeneratedCodeSends(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := outcome{
			current:  rapid.Int64Range(-1, tombstoneRevision).Draw(t, "revision"),
			position: rapid.Int64Range(0, 1<<62).Draw(t, "position"),
		}
		options := &streams.BatchAppendReq_Options{StreamIdentifier: &shared.StreamIdentifier{
			StreamName: []byte(rapid.String().Draw(t, "stream")),
		}}
		usual := len(options.StreamIdentifier.StreamName) > 0 && o.current >= 0
		switch rapid.IntRange(0, 3).Draw(t, "expected") {
		case 0:
			options.ExpectedStreamPosition = &streams.BatchAppendReq_Options_NoStream{NoStream: &emptypb.Empty{}}
		case 1:
			options.ExpectedStreamPosition = &streams.BatchAppendReq_Options_Any{Any: &emptypb.Empty{}}
			usual = false
		default:
			options.ExpectedStreamPosition = &streams.BatchAppendReq_Options_StreamPosition{
				StreamPosition: rapid.Uint64().Draw(t, "at"),
			}
		}
		b := &batch{
			correlation: uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id")),
			stringID:    rapid.IntRange(0, 4).Draw(t, "text") == 0,
		}
		b.aim(options)
		f := storedAnswer(b, o)
		if f == nil {
			if usual && !b.stringID {
				t.Fatal("no answer")
			}
			return
		}
		want, got := b.named((&batchCall{}).response(b, o, nil)), &streams.BatchAppendResp{}
		if err := proto.Unmarshal(f, got); err != nil || !proto.Equal(want, got) {
			t.Fatalf("got %v (%v)\nwant %v", got, err, want)
		}
	})
}
