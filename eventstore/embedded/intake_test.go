package embedded

import (
	"bytes"
	"slices"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// cut is an encoded message in pieces, as it arrives.
func cut(t *testing.T, m proto.Message) (all mem.BufferSlice) {
	t.Helper()
	octets, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	for len(octets) > 0 {
		n := min(len(octets), 7)
		all, octets = append(all, mem.SliceBuffer(octets[:n])), octets[n:]
	}
	return all
}

// TestIntake_AMessageIsWeighedBeforeItIsDecoded by its bytes and its parts. One that is refused has everything but its
// events, so that the answer reaches its append.
func TestIntake_AMessageIsWeighedBeforeItIsDecoded(t *testing.T) {
	t.Parallel()
	codec := intakeCodec{encoding.GetCodecV2("proto")}
	sent := &streams.BatchAppendReq{
		CorrelationId: &shared.UUID{Value: &shared.UUID_String_{String_: "0195a000-0000-7000-8000-000000000001"}},
		Options: &streams.BatchAppendReq_Options{
			StreamIdentifier: &shared.StreamIdentifier{StreamName: []byte("s")},
		},
		IsFinal: true,
	}
	for range 1000 {
		sent.ProposedMessages = append(sent.ProposedMessages, &streams.BatchAppendReq_ProposedMessage{
			Metadata: map[string]string{"a": "b"}, Data: []byte("d"),
		})
	}
	weight := 0
	got := &streams.BatchAppendReq{}
	in := incoming{message: got, admit: func(more int) error { weight += more; return nil }}
	data := cut(t, sent)
	if err := codec.Unmarshal(data, &in); err != nil || in.fault != nil || !proto.Equal(sent, got) {
		t.Fatalf("%v, %v", err, in.fault)
	}
	if least := data.Len() + 2000*decodedObject; weight < least {
		t.Errorf("it weighs %d, less than %d", weight, least)
	}
	for allowed := range 2 {
		got = &streams.BatchAppendReq{}
		in.message = got
		in.admit = func(int) error {
			if allowed--; allowed < 0 {
				return errBusy
			}
			return nil
		}
		bare := proto.Clone(sent).(*streams.BatchAppendReq)
		bare.ProposedMessages = nil
		if err := codec.Unmarshal(cut(t, sent), &in); err != nil || in.fault == nil || !proto.Equal(bare, got) {
			t.Errorf("%v, %v: %v", err, in.fault, got)
		}
	}
	if err := codec.Unmarshal(cut(t, sent), &incoming{}); err != nil {
		t.Errorf("a message that is thrown away: %v", err)
	}
	large := mem.BufferSlice{mem.SliceBuffer(make([]byte, requestBytes+1))}
	if err := codec.Unmarshal(large, &streams.ReadReq{}); err == nil {
		t.Error("a huge read is decoded")
	}
}

// TestIntake_AMalformedMessageWithoutMemoryIsAnError: its events are skipped, and what is kept of the rest is bounded.
func TestIntake_AMalformedMessageWithoutMemoryIsAnError(t *testing.T) {
	t.Parallel()
	codec := intakeCodec{encoding.GetCodecV2("proto")}
	for name, octets := range map[string][]byte{
		"a field longer than all memory": slices.Concat([]byte{32, 1}, bytes.Repeat([]byte{26, 0}, 300_000),
			[]byte{10, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1}),
		"a field longer than the message": {32, 1, 10, 100, 1, 2, 3},
		"an event that is cut":            {32, 1, 26, 100, 1, 2, 3},
		"flags without end":               bytes.Repeat([]byte{32, 1}, 300_000),
	} {
		in := incoming{message: &streams.BatchAppendReq{}, admit: func(int) error { return errBusy }}
		if err := codec.Unmarshal(mem.BufferSlice{mem.SliceBuffer(octets)}, &in); err == nil {
			t.Errorf("%s is taken: %v", name, in.message)
		}
	}
}

// FuzzSkeleton: what is kept of a message that has no memory is as in the message, and nothing makes it fail otherwise
// than by an error.
func FuzzSkeleton(f *testing.F) {
	f.Add([]byte{10, 0, 18, 2, 1, 2, 26, 3, 1, 2, 3, 32, 1})
	f.Add([]byte{26, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	f.Add([]byte{13, 1, 2, 3, 4})
	f.Add([]byte{32, 1, 10, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, octets []byte) {
		whole, got := &streams.BatchAppendReq{}, &streams.BatchAppendReq{}
		in := incoming{message: got}
		if in.skeleton(mem.BufferSlice{mem.SliceBuffer(octets)}) != nil || proto.Unmarshal(octets, whole) != nil {
			return
		}
		whole.ProposedMessages = nil
		if !proto.Equal(whole.GetCorrelationId(), got.GetCorrelationId()) || whole.GetIsFinal() != got.GetIsFinal() {
			t.Fatalf("%v is read as %v", whole, got)
		}
	})
}

// TestCalls_OneConnectionDoesNotTakeThemAll from another one.
func TestCalls_OneConnectionDoesNotTakeThemAll(t *testing.T) {
	t.Parallel()
	calls := &callCount{}
	var leave []func()
	first := connected(&account{})
	for range allCalls {
		l, err := calls.enter(first)
		if err != nil {
			t.Fatal(err)
		}
		leave = append(leave, l)
	}
	if _, err := calls.enter(first); err == nil {
		t.Error("there is no bound")
	}
	other := connected(&account{})
	for range ownCalls {
		l, err := calls.enter(other)
		if err != nil {
			t.Fatal(err)
		}
		leave = append(leave, l)
	}
	if _, err := calls.enter(other); err == nil {
		t.Error("another connection has no bound")
	}
	for _, l := range leave {
		l()
	}
	if calls.all != 0 || accountOf(first).running.Load() != 0 || accountOf(other).running.Load() != 0 {
		t.Errorf("%d calls are counted for ever", calls.all)
	}
}
