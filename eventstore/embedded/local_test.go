package embedded_test

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/lastmile-isp/lastmile/eventstore/contract"
	"github.com/lastmile-isp/lastmile/eventstore/embedded"
)

// batched is an append of one event to a stream of any revision.
func batched(stream string, bytes int) *streams.BatchAppendReq {
	req := contract.BatchRequest(stream, 1)
	req.Options.ExpectedStreamPosition = &streams.BatchAppendReq_Options_Any{Any: &emptypb.Empty{}}
	req.ProposedMessages[0].Data = make([]byte, bytes)
	return req
}

// revision is an expected revision of an append.
func revision(n uint64) *streams.BatchAppendReq_Options_StreamPosition {
	return &streams.BatchAppendReq_Options_StreamPosition{StreamPosition: n}
}

// opened is a call that appends within the program.
func opened(ctx context.Context, t *testing.T, n *embedded.Node) streams.Streams_BatchAppendClient {
	t.Helper()
	call, err := streams.NewStreamsClient(n.Local()).BatchAppend(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return call
}

// ask sends an append and gives its answer.
func ask(t *testing.T, call streams.Streams_BatchAppendClient, req *streams.BatchAppendReq) *streams.BatchAppendResp {
	t.Helper()
	if err := call.Send(req); err != nil {
		t.Fatal(err)
	}
	resp, err := call.Recv()
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// ended gives the error with which a call ends, after the answers that it has still.
func ended(t *testing.T, call streams.Streams_BatchAppendClient) error {
	t.Helper()
	end := make(chan error, 1)
	go func() {
		for {
			if _, err := call.Recv(); err != nil {
				end <- err
				return
			}
		}
	}()
	select {
	case err := <-end:
		return err
	case <-time.After(soon):
		t.Fatal("the call does not end")
		return nil
	}
}

// TestLocal_AnswersAsOverTheNetwork: the same append, wherever it comes from, is written once, and refusals are alike.
func TestLocal_AnswersAsOverTheNetwork(t *testing.T) {
	t.Parallel()
	n := start(t, testConfig(t))
	local := opened(t.Context(), t, n)
	remote, err := bare(t, n.URL()).BatchAppend(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	req := batched("s", 100)
	req.Options.ExpectedStreamPosition = &streams.BatchAppendReq_Options_NoStream{NoStream: &emptypb.Empty{}}
	first := ask(t, local, req).GetSuccess()
	if first.GetCurrentRevision() != 0 || first.GetPosition() == nil {
		t.Fatalf("got %v", first)
	}
	for name, call := range map[string]streams.Streams_BatchAppendClient{"local": local, "remote": remote} {
		if again := ask(t, call, req).GetSuccess(); again.GetPosition().GetCommitPosition() !=
			first.GetPosition().GetCommitPosition() {
			t.Errorf("%s: a repeat is answered %v", name, again)
		}
		wrong := batched("s", 1)
		wrong.Options.ExpectedStreamPosition = revision(7)
		if refused := ask(t, call, wrong).GetError(); codes.Code(refused.GetCode()) != codes.AlreadyExists {
			t.Errorf("%s: a wrong revision is answered %v", name, refused)
		}
	}
	last := ask(t, local, batched("s", 1)).GetSuccess()
	read, err := contract.Connect(t, n.URL()).ReadStream(t.Context(), "s", esdb.ReadStreamOptions{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	count := uint64(0)
	for _, err = read.Recv(); err == nil; _, err = read.Recv() {
		count++
	}
	if !errors.Is(err, io.EOF) || count != 2 || last.GetCurrentRevision() != 1 {
		t.Errorf("%d events, the last at revision %d: %v", count, last.GetCurrentRevision(), err)
	}
	if err := local.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if _, err := local.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("after its last append the call ends with %v", err)
	}
}

// TestLocal_TakesAppendsOnly: whoever reads comes over the network.
func TestLocal_TakesAppendsOnly(t *testing.T) {
	t.Parallel()
	client := streams.NewStreamsClient(start(t, testConfig(t)).Local())
	_, reading := client.Read(t.Context(), readOf("s", false))
	_, deleting := client.Delete(t.Context(), &streams.DeleteReq{})
	for _, err := range []error{reading, deleting} {
		if status.Code(err) != codes.Unimplemented {
			t.Errorf("got %v", err)
		}
	}
}

// TestLocal_NeedsCredentials, as every call of the node.
func TestLocal_NeedsCredentials(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Username, cfg.Password = "admin", "changeit"
	n := start(t, cfg)
	for password, want := range map[string]codes.Code{"": codes.Unauthenticated, "changed": codes.Unauthenticated} {
		ctx := t.Context()
		if password != "" {
			ctx = asAdmin(ctx, password)
		}
		if err := ended(t, opened(ctx, t, n)); status.Code(err) != want {
			t.Errorf("password %q: got %v", password, err)
		}
	}
	if resp := ask(t, opened(asAdmin(t.Context(), "changeit"), t, n), batched("s", 1)); resp.GetSuccess() == nil {
		t.Errorf("got %v", resp)
	}
}

// asAdmin adds the credentials of a call.
func asAdmin(ctx context.Context, password string) context.Context {
	basic := base64.StdEncoding.EncodeToString([]byte("admin:" + password))
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Basic "+basic)
}

// TestLocal_EndsWithTheNode, and none begins any more.
func TestLocal_EndsWithTheNode(t *testing.T) {
	t.Parallel()
	n, err := embedded.Start(t.Context(), testConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	channel, idle := n.Local(), opened(t.Context(), t, n)
	stop(t, n)
	if err := ended(t, idle); status.Code(err) != codes.Unavailable {
		t.Errorf("got %v", err)
	}
	if err := idle.Send(batched("s", 1)); err != nil && !errors.Is(err, io.EOF) {
		t.Errorf("an append after the end: %v", err)
	}
	if _, err := streams.NewStreamsClient(channel).BatchAppend(t.Context()); status.Code(err) != codes.Unavailable {
		t.Errorf("a call after the end: %v", err)
	}
	if n.Local() != nil {
		t.Error("a node that has stopped has a channel")
	}
}

// TestLocal_EndsWhenTheNodeIsFenced: what waits then has an unknown outcome.
func TestLocal_EndsWhenTheNodeIsFenced(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	n := start(t, cfg)
	call := opened(t.Context(), t, n)
	if _, err := cfg.Pool.Exec(t.Context(), `update `+cfg.Schema+`.node set holder = $1, epoch = epoch + 1`,
		uuid.New()); err != nil {
		t.Fatal(err)
	}
	if err := call.Send(batched("s", 1)); err != nil && !errors.Is(err, io.EOF) { // the node may have noticed
		t.Fatal(err)
	}
	resp, err := call.Recv()
	if err == nil && codes.Code(resp.GetError().GetCode()) != codes.Unavailable {
		t.Errorf("an append by a fenced node is answered %v", resp)
	}
	wantFatal(t, n, "another node has taken over")
	if err := ended(t, call); status.Code(err) != codes.Unavailable {
		t.Errorf("got %v", err)
	}
}

// TestLocal_AClientThatLeavesLeavesNothing: no memory, and nothing that a stop would wait for.
func TestLocal_AClientThatLeavesLeavesNothing(t *testing.T) {
	t.Parallel()
	n, err := embedded.Start(t.Context(), testConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	call := opened(ctx, t, n)
	half := batched("s", 1<<20)
	half.IsFinal = false
	if err := call.Send(half); err != nil {
		t.Fatal(err)
	}
	leave()
	if err := ended(t, call); status.Code(err) != codes.Canceled {
		t.Errorf("got %v", err)
	}
	began := time.Now()
	stop(t, n)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the node stops after %s", took)
	}
	for !embedded.NoMemory(n) { // soon, or never: the test is ended then
		time.Sleep(time.Millisecond)
	}
}

// TestLocal_AClientThatReadsNoAnswersIsHeldBack, while others are served. A stop that has no more time cuts it off.
func TestLocal_AClientThatReadsNoAnswersIsHeldBack(t *testing.T) {
	t.Parallel()
	n, err := embedded.Start(t.Context(), testConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	silent := opened(t.Context(), t, n)
	var sent atomic.Int64
	go func() {
		for silent.Send(batched("silent", 10)) == nil {
			sent.Add(1)
		}
	}()
	other := opened(t.Context(), t, n)
	for before := int64(-1); before != sent.Load(); time.Sleep(300 * time.Millisecond) { // longer than an append takes
		before = sent.Load()
		if ask(t, other, batched("other", 10)).GetSuccess() == nil {
			t.Fatal("another client is not served")
		}
	}
	if count := sent.Load(); count < 100 || count > 1000 {
		t.Errorf("a client that reads nothing has sent %d appends", count)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := n.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the stop ends with %v", err)
	}
	if err := ended(t, silent); status.Code(err) != codes.Unavailable {
		t.Errorf("got %v", err)
	}
}

// TestLocal_AClientThatKeepsMemoryFromOthersIsDismissed, as the client of a connection is: two begin more appends than
// there is memory for, and finish none.
func TestLocal_AClientThatKeepsMemoryFromOthersIsDismissed(t *testing.T) {
	t.Parallel()
	n := start(t, testConfig(t))
	over := make(chan error, 2)
	for range cap(over) {
		greedy := opened(t.Context(), t, n)
		for range 14 {
			half := batched("greedy", 1<<20)
			half.IsFinal = false
			if err := greedy.Send(half); err != nil {
				t.Fatal(err)
			}
		}
		go func() {
			_, err := greedy.Recv()
			over <- err
		}()
	}
	large := oneEvent()
	large.Data, large.ContentType = make([]byte, 1<<20-1024), esdb.ContentTypeBinary
	mustAppend(t, contract.Connect(t, n.URL()), "honest", esdb.NoStream{}, large)
	select {
	case err := <-over:
		if status.Code(err) != codes.Unavailable {
			t.Errorf("got %v", err)
		}
	case <-time.After(soon):
		t.Error("nobody is dismissed")
	}
}
