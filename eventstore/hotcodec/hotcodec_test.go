package hotcodec

import (
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	stock "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"
)

// id is the usual form of an id.
func id(most, least int64) *shared.UUID {
	return &shared.UUID{Value: &shared.UUID_Structured_{
		Structured: &shared.UUID_Structured{MostSignificantBits: most, LeastSignificantBits: least},
	}}
}

// named identifies a stream as requests do.
func named(name string) *shared.StreamIdentifier {
	return &shared.StreamIdentifier{StreamName: []byte(name)}
}

// event is a message with an event.
func event() *streams.ReadResp {
	return &streams.ReadResp{Content: &streams.ReadResp_Event{Event: &streams.ReadResp_ReadEvent{
		Event: &streams.ReadResp_ReadEvent_RecordedEvent{
			Id: id(1, -2), StreamIdentifier: named("account-1"), StreamRevision: 3, PreparePosition: 4,
			CommitPosition: 5, CustomMetadata: []byte(`{"a":1}`), Data: []byte(`{"b":2}`),
			Metadata: map[string]string{"type": "paid", "content-type": "application/json", "created": "17"},
		},
		Position: &streams.ReadResp_ReadEvent_CommitPosition{CommitPosition: 5},
	}}}
}

// proposal is an event of an append.
func proposal(data string) *streams.BatchAppendReq_ProposedMessage {
	return &streams.BatchAppendReq_ProposedMessage{
		Id: id(7, 8), Data: []byte(data), CustomMetadata: []byte("{}"),
		Metadata: map[string]string{"type": "paid", "content-type": "application/octet-stream"},
	}
}

// alone is an event of an append that has a call of its own.
func alone(id *shared.UUID) *streams.AppendReq {
	p := proposal("1")
	return &streams.AppendReq{Content: &streams.AppendReq_ProposedMessage_{
		ProposedMessage: &streams.AppendReq_ProposedMessage{
			Id: id, Data: p.GetData(), CustomMetadata: p.GetCustomMetadata(), Metadata: p.GetMetadata(),
		},
	}}
}

// messages has each kind of message in its usual form, and in forms that the stock codec has to read.
func messages() (usual, odd []stock.Message) {
	link := event()
	link.GetEvent().Link = link.GetEvent().GetEvent()
	written := event()
	written.GetEvent().GetEvent().Id = &shared.UUID{Value: &shared.UUID_String_{String_: "0195a000"}}
	at := &streams.BatchAppendReq{
		CorrelationId: id(1, 0), IsFinal: true,
		ProposedMessages: []*streams.BatchAppendReq_ProposedMessage{proposal("1")},
		Options: &streams.BatchAppendReq_Options{
			StreamIdentifier:       named("account-1"),
			ExpectedStreamPosition: &streams.BatchAppendReq_Options_StreamPosition{StreamPosition: 9},
			DeadlineOption: &streams.BatchAppendReq_Options_Deadline{
				Deadline: &durationpb.Duration{Seconds: 10, Nanos: -5},
			},
		},
	}
	several := stock.Clone(at).(*streams.BatchAppendReq)
	several.ProposedMessages = append(several.ProposedMessages, proposal("2"), proposal(""))
	several.Options.ExpectedStreamPosition = &streams.BatchAppendReq_Options_NoStream{NoStream: &emptypb.Empty{}}
	whatever := stock.Clone(at).(*streams.BatchAppendReq)
	whatever.Options.ExpectedStreamPosition = &streams.BatchAppendReq_Options_Any{Any: &emptypb.Empty{}}
	exists := stock.Clone(at).(*streams.BatchAppendReq)
	exists.Options.ExpectedStreamPosition = &streams.BatchAppendReq_Options_StreamExists{StreamExists: &emptypb.Empty{}}
	stored := &streams.BatchAppendResp{
		CorrelationId: id(1, 0), StreamIdentifier: named("account-1"),
		ExpectedStreamPosition: &streams.BatchAppendResp_StreamPosition{StreamPosition: 9},
		Result: &streams.BatchAppendResp_Success_{Success: &streams.BatchAppendResp_Success{
			CurrentRevisionOption: &streams.BatchAppendResp_Success_CurrentRevision{CurrentRevision: 10},
			PositionOption: &streams.BatchAppendResp_Success_Position{
				Position: &shared.AllStreamPosition{CommitPosition: 77, PreparePosition: 77},
			},
		}},
	}
	first := stock.Clone(stored).(*streams.BatchAppendResp)
	first.ExpectedStreamPosition = &streams.BatchAppendResp_NoStream{NoStream: &emptypb.Empty{}}
	refused := stock.Clone(stored).(*streams.BatchAppendResp)
	refused.Result = &streams.BatchAppendResp_Error{Error: &rpcstatus.Status{Code: 3, Message: "no"}}
	begin := &streams.AppendReq{Content: &streams.AppendReq_Options_{Options: &streams.AppendReq_Options{
		StreamIdentifier:       named("account-1"),
		ExpectedStreamRevision: &streams.AppendReq_Options_Revision{Revision: 4},
	}}}
	usual = []stock.Message{event(), at, several, whatever, stored, first, alone(id(7, 8))}
	return usual, []stock.Message{
		link, written, exists, refused, begin,
		alone(&shared.UUID{Value: &shared.UUID_String_{String_: "0195a000"}}),
		&streams.ReadResp{Content: &streams.ReadResp_CaughtUp_{CaughtUp: &streams.ReadResp_CaughtUp{}}},
	}
}

// hot reads a message in its usual form; false for an odd one.
func hot(octets []byte, m stock.Message) bool {
	switch m := m.(type) {
	case *streams.ReadResp:
		return readEvent(octets, m)
	case *streams.AppendReq:
		return readProposed(octets, m)
	case *streams.BatchAppendReq:
		return readAppend(octets, m)
	case *streams.BatchAppendResp:
		return readAppended(octets, m)
	}
	return false
}

// TestCodec_UsualMessagesAreReadHot, each as the stock codec reads it, and the others by that.
func TestCodec_UsualMessagesAreReadHot(t *testing.T) {
	t.Parallel()
	usual, odd := messages()
	for _, want := range append(usual, odd...) {
		octets, err := stock.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got := want.ProtoReflect().New().Interface()
		err = encoding.GetCodecV2(proto.Name).Unmarshal(mem.BufferSlice{mem.SliceBuffer(octets)}, got)
		if err != nil || !stock.Equal(want, got) {
			t.Errorf("%v is read as %v: %v", want, got, err)
		}
	}
	for _, want := range usual {
		octets, _ := stock.Marshal(want)
		if got := want.ProtoReflect().New().Interface(); !hot(octets, got) || !stock.Equal(want, got) {
			t.Errorf("%v is not read hot", want)
		}
	}
}

// TestCodec_AFrameIsSentAsItIs also by a call that does not name the codec.
func TestCodec_AFrameIsSentAsItIs(t *testing.T) {
	t.Parallel()
	f := Frame("anything")
	got, err := encoding.GetCodecV2(proto.Name).Marshal(&f)
	if err != nil || string(got.Materialize()) != "anything" {
		t.Errorf("sent %q: %v", got.Materialize(), err)
	}
}

// FuzzCodec: what is read hot means the same to the stock codec, and nothing is read hot that it refuses.
func FuzzCodec(f *testing.F) {
	usual, odd := messages()
	for _, m := range append(usual, odd...) {
		octets, err := stock.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(octets)
	}
	f.Fuzz(func(t *testing.T, octets []byte) {
		for _, kind := range []stock.Message{
			&streams.ReadResp{}, &streams.AppendReq{}, &streams.BatchAppendReq{}, &streams.BatchAppendResp{},
		} {
			want, got := kind.ProtoReflect().New().Interface(), kind
			if !hot(octets, got) {
				if !stock.Equal(got, want) {
					t.Fatalf("an odd message has left %v", got)
				}
				continue
			}
			if err := stock.Unmarshal(octets, want); err != nil || !stock.Equal(want, got) {
				t.Fatalf("%T: read %v, the stock codec %v: %v", kind, got, want, err)
			}
		}
	})
}
