package contract

import (
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"
)

// BatchRequest makes an append of n events to a new stream, complete in one message.
func BatchRequest(s string, n int) *streams.BatchAppendReq {
	r := &streams.BatchAppendReq{
		CorrelationId: &shared.UUID{Value: &shared.UUID_String_{String_: uuid.NewString()}},
		Options: &streams.BatchAppendReq_Options{
			StreamIdentifier:       &shared.StreamIdentifier{StreamName: []byte(s)},
			ExpectedStreamPosition: &streams.BatchAppendReq_Options_NoStream{NoStream: &emptypb.Empty{}},
			DeadlineOption:         &streams.BatchAppendReq_Options_Deadline{Deadline: durationpb.New(patience)},
		},
		IsFinal: true,
	}
	for range n {
		p := proposed()
		r.ProposedMessages = append(r.ProposedMessages, &streams.BatchAppendReq_ProposedMessage{
			Id: p.Id, Metadata: p.Metadata, Data: p.Data,
		})
	}
	return r
}

// batchCall opens a BatchAppend call that ends after patience at the latest.
func (k *kit) batchCall(t *testing.T) streams.Streams_BatchAppendClient {
	t.Helper()
	call, err := k.raw.BatchAppend(within(t))
	if err != nil {
		t.Fatal(err)
	}
	return call
}

// exchange sends one request and waits for its response, which must have the same correlation id and stream.
func exchange(
	t *testing.T, call streams.Streams_BatchAppendClient, req *streams.BatchAppendReq,
) *streams.BatchAppendResp {
	t.Helper()
	if err := call.Send(req); err != nil {
		t.Fatal(err)
	}
	resp, err := call.Recv()
	if err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(resp.GetCorrelationId(), req.GetCorrelationId()) {
		t.Errorf("answered correlation %v for %v", resp.GetCorrelationId(), req.GetCorrelationId())
	}
	if string(resp.GetStreamIdentifier().GetStreamName()) != string(
		req.GetOptions().GetStreamIdentifier().GetStreamName()) {
		t.Errorf("answered stream %s", resp.GetStreamIdentifier().GetStreamName())
	}
	return resp
}

// wantDetail checks the code and the only detail of an error.
func wantDetail(t *testing.T, resp *streams.BatchAppendResp, code codes.Code, want proto.Message) {
	t.Helper()
	e := resp.GetError()
	if e == nil || codes.Code(e.GetCode()) != code || len(e.GetDetails()) != 1 {
		t.Fatalf("got %v, want code %v with one detail", resp, code)
	}
	got, err := e.GetDetails()[0].UnmarshalNew()
	if err != nil || !proto.Equal(want, got) {
		t.Errorf("got detail %v (%v), want %v", got, err, want)
	}
}

// testBatchAppend covers the call that clients of other languages use for appends.
func testBatchAppend(t *testing.T, k *kit) {
	t.Run("interleaved appends are told apart", func(t *testing.T) {
		t.Parallel()
		call := k.batchCall(t)
		one, two := BatchRequest(stream("batch"), 2), BatchRequest(stream("batch"), 3)
		rest := &streams.BatchAppendReq{
			CorrelationId: one.CorrelationId, ProposedMessages: one.ProposedMessages[1:], IsFinal: true,
		}
		one.ProposedMessages, one.IsFinal = one.ProposedMessages[:1], false
		for _, m := range []*streams.BatchAppendReq{one, two, rest} {
			if err := call.Send(m); err != nil {
				t.Fatal(err)
			}
		}
		got := map[string]uint64{}
		for range 2 {
			resp, err := call.Recv()
			if err != nil || resp.GetSuccess() == nil || resp.GetSuccess().GetPosition().GetCommitPosition() == 0 {
				t.Fatalf("got %v, %v", resp, err)
			}
			got[resp.GetCorrelationId().GetString_()] = resp.GetSuccess().GetCurrentRevision()
		}
		if got[one.CorrelationId.GetString_()] != 1 || got[two.CorrelationId.GetString_()] != 2 {
			t.Errorf("last revisions %v", got)
		}
	})
	t.Run("many at once", func(t *testing.T) { t.Parallel(); batchMany(t, k) })
	t.Run("appends of one call are stored in its order", func(t *testing.T) { t.Parallel(); batchOrder(t, k) })
	t.Run("appends behind one that revives a stream keep their order", func(t *testing.T) {
		t.Parallel()
		batchRevival(t, k)
	})
	t.Run("errors", func(t *testing.T) { t.Parallel(); batchErrors(t, k) })
	t.Run("ends with the client", func(t *testing.T) {
		t.Parallel()
		call := k.batchCall(t)
		if err := call.CloseSend(); err != nil {
			t.Fatal(err)
		}
		if resp, err := call.Recv(); err == nil {
			t.Errorf("got %v after the end", resp)
		}
	})
}

// batchMany: each of 300 appends on one call is answered once.
func batchMany(t *testing.T, k *kit) {
	const n = 300
	call := k.batchCall(t)
	wanted := map[string]bool{}
	requests := make([]*streams.BatchAppendReq, n)
	for i := range requests {
		requests[i] = BatchRequest(stream("batch"), 1)
		wanted[requests[i].CorrelationId.GetString_()] = true
	}
	sent := make(chan error, 1)
	go func() {
		for _, r := range requests {
			if err := call.Send(r); err != nil {
				sent <- err
				return
			}
		}
		sent <- call.CloseSend()
	}()
	for range n {
		resp, err := call.Recv()
		if err != nil || resp.GetSuccess() == nil {
			t.Fatalf("got %v, %v", resp, err)
		}
		delete(wanted, resp.GetCorrelationId().GetString_())
	}
	if err := <-sent; err != nil || len(wanted) != 0 {
		t.Errorf("%d not answered, %v", len(wanted), err)
	}
}

// batchOrder: clients send the next append of a stream before the answer to the last one. Each names the revision that
// the one before leads to.
func batchOrder(t *testing.T, k *kit) {
	const n = 300
	call, name := k.batchCall(t), stream("batch")
	revision := map[string]uint64{}
	requests := make([]*streams.BatchAppendReq, n)
	for i := range requests {
		requests[i] = BatchRequest(name, 1)
		if i > 0 {
			requests[i].Options.ExpectedStreamPosition = &streams.BatchAppendReq_Options_StreamPosition{
				StreamPosition: uint64(i - 1),
			}
		}
		revision[requests[i].CorrelationId.GetString_()] = uint64(i)
	}
	sent := make(chan error, 1)
	go func() {
		for _, r := range requests {
			if err := call.Send(r); err != nil {
				sent <- err
				return
			}
		}
		sent <- call.CloseSend()
	}()
	for range n {
		resp, err := call.Recv()
		if err != nil {
			t.Fatal(err)
		}
		want := revision[resp.GetCorrelationId().GetString_()]
		if resp.GetSuccess() == nil || resp.GetSuccess().GetCurrentRevision() != want {
			t.Fatalf("append %d: %v", want, resp)
		}
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
}

// batchRevival: a deleted stream is written anew by an append that expects no stream, and the next ones on the call
// name the revisions that it leads to. The first one has to be compared with the log, and they do not overtake it.
func batchRevival(t *testing.T, k *kit) {
	call := k.batchCall(t)
	for range 20 {
		name := stream("batch")
		if resp := exchange(t, call, BatchRequest(name, 3)); resp.GetSuccess() == nil {
			t.Fatalf("got %v", resp)
		}
		if _, err := k.client.DeleteStream(within(t), name, esdb.DeleteStreamOptions{}); err != nil {
			t.Fatal(err)
		}
		requests := make([]*streams.BatchAppendReq, 3)
		revision := map[string]uint64{}
		for i := range requests {
			requests[i] = BatchRequest(name, 1)
			if i > 0 {
				requests[i].Options.ExpectedStreamPosition = &streams.BatchAppendReq_Options_StreamPosition{
					StreamPosition: uint64(2 + i),
				}
			}
			revision[requests[i].CorrelationId.GetString_()] = uint64(3 + i)
			if err := call.Send(requests[i]); err != nil {
				t.Fatal(err)
			}
		}
		for range requests {
			resp, err := call.Recv()
			if err != nil {
				t.Fatal(err)
			}
			want := revision[resp.GetCorrelationId().GetString_()]
			if resp.GetSuccess() == nil || resp.GetSuccess().GetCurrentRevision() != want {
				t.Fatalf("append %d: %v", want, resp)
			}
		}
	}
}

// batchErrors: a fault is answered with the detail that clients decide by, and the call goes on.
func batchErrors(t *testing.T, k *kit) {
	call := k.batchCall(t)
	s := stream("batch")
	if resp := exchange(t, call, BatchRequest(s, 2)); resp.GetSuccess() == nil {
		t.Fatalf("got %v", resp)
	}
	wantDetail(t, exchange(t, call, BatchRequest(s, 1)), codes.AlreadyExists, &shared.WrongExpectedVersion{
		CurrentStreamRevisionOption:  &shared.WrongExpectedVersion_CurrentStreamRevision{CurrentStreamRevision: 1},
		ExpectedStreamPositionOption: &shared.WrongExpectedVersion_ExpectedNoStream{ExpectedNoStream: &emptypb.Empty{}},
	})
	large := BatchRequest(stream("batch"), 1)
	large.ProposedMessages[0].Data = make([]byte, 1<<20+1)
	wantDetail(t, exchange(t, call, large), codes.InvalidArgument,
		&shared.MaximumAppendSizeExceeded{MaxAppendSize: 1 << 20})
	wantDetail(t, exchange(t, call, BatchRequest("$all", 1)), codes.PermissionDenied, &shared.AccessDenied{})
	if _, err := k.client.TombstoneStream(within(t), s,
		esdb.TombstoneStreamOptions{ExpectedRevision: esdb.Any{}}); err != nil {
		t.Fatal(err)
	}
	wantDetail(t, exchange(t, call, BatchRequest(s, 1)), codes.NotFound,
		&shared.StreamDeleted{StreamIdentifier: &shared.StreamIdentifier{StreamName: []byte(s)}})
	late := BatchRequest(stream("batch"), 1)
	late.Options.DeadlineOption = &streams.BatchAppendReq_Options_Deadline{Deadline: durationpb.New(-1)}
	wantDetail(t, exchange(t, call, late), codes.DeadlineExceeded, &shared.Timeout{})
	untyped := BatchRequest(stream("batch"), 1)
	delete(untyped.ProposedMessages[0].Metadata, "type")
	if resp := exchange(t, call, untyped); codes.Code(resp.GetError().GetCode()) != codes.InvalidArgument {
		t.Errorf("got %v", resp)
	}
	if resp := exchange(t, call, BatchRequest(stream("batch"), 1)); resp.GetSuccess() == nil {
		t.Errorf("the call does not go on: %v", resp)
	}
}

// OpenBatchCall opens a BatchAppend call and makes one append, so that the server certainly serves the call.
func OpenBatchCall(t *testing.T, connection string) streams.Streams_BatchAppendClient {
	t.Helper()
	k := newKit(t, connection)
	call := k.batchCall(t)
	if resp := exchange(t, call, BatchRequest(stream("batch"), 1)); resp.GetSuccess() == nil {
		t.Fatalf("got %v", resp)
	}
	return call
}
