package embedded

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/lastmile-isp/lastmile/eventstore/hotcodec"
)

// appendMessage is a message of a batched append with one event, as it was received, and a count of the messages that
// are in memory.
func appendMessage(t *testing.T, metadata map[string]string, kept *atomic.Int64) *streams.BatchAppendReq {
	t.Helper()
	octets, err := proto.Marshal(&streams.BatchAppendReq{
		CorrelationId: structured(uuid.New()),
		Options: &streams.BatchAppendReq_Options{
			StreamIdentifier:       &shared.StreamIdentifier{StreamName: []byte("s")},
			ExpectedStreamPosition: &streams.BatchAppendReq_Options_NoStream{NoStream: &emptypb.Empty{}},
		},
		ProposedMessages: []*streams.BatchAppendReq_ProposedMessage{{
			Id: structured(uuid.New()), Metadata: metadata, Data: make([]byte, 1<<20),
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	req := &streams.BatchAppendReq{}
	if err := hotcodec.Decode(octets, req); err != nil {
		t.Fatal(err)
	}
	kept.Add(1)
	runtime.AddCleanup(&octets[0], func(kept *atomic.Int64) { kept.Add(-1) }, kept)
	return req
}

// testNode is a node that only counts memory.
func testNode() *Node { return &Node{writes: newWriteMemory(), config: Config{MaxAppendSize: 4 << 20}} }

// begin takes a message of a call.
func begin(t *testing.T, c *batchCall, req *streams.BatchAppendReq) *batch {
	t.Helper()
	b, err := c.append(req)
	if err != nil {
		t.Fatal(err)
	}
	memory := c.service.node.newLoad(&account{})
	if err := memory.grow(t.Context(), 2<<20); err != nil {
		t.Fatal(err)
	}
	b.add(t.Context(), req, memory, incoming{bytes: proto.Size(req)})
	return b
}

// collected waits until no message is in memory. One collection can take seconds, on a slow machine and beside tests
// that have much in memory.
func collected(t *testing.T, kept *atomic.Int64) {
	t.Helper()
	for limit := time.Now().Add(2 * time.Minute); kept.Load() > 0; runtime.GC() {
		if time.Now().After(limit) {
			t.Fatalf("%d messages are in memory", kept.Load())
		}
	}
}

// TestBatch_ASmallEventDoesNotKeepItsMessage, whatever else is in that, for as long as readers may want the event.
func TestBatch_ASmallEventDoesNotKeepItsMessage(t *testing.T) {
	t.Parallel()
	n, kept := testNode(), &atomic.Int64{}
	c := &batchCall{service: &streamsService{node: n}, begun: map[uuid.UUID]*batch{}}
	var events []proposal
	for range 10 {
		b := begin(t, c, appendMessage(t, map[string]string{
			"type": "t", "content-type": "c", "x": strings.Repeat("x", 3<<20),
		}, kept))
		events = append(events, b.proposals.events...)
	}
	collected(t, kept)
	if len(events) != 10 || len(events[9].data) != 1<<20 {
		t.Errorf("%d events", len(events))
	}
}

// TestBatch_OfARefusedAppendNothingIsKept, although the call goes on, and the append is not final.
func TestBatch_OfARefusedAppendNothingIsKept(t *testing.T) {
	t.Parallel()
	n, kept := testNode(), &atomic.Int64{}
	c := &batchCall{service: &streamsService{node: n}, begun: map[uuid.UUID]*batch{}}
	for range 10 {
		b := begin(t, c, appendMessage(t, map[string]string{"type": "t"}, kept)) // without a content type
		if b.proposals.fault == nil {
			t.Fatal("the append is not refused")
		}
	}
	collected(t, kept)
	if len(c.begun) != 10 || !NoWriteMemory(n) {
		t.Errorf("%d appends are begun, and memory is held: %v", len(c.begun), !NoWriteMemory(n))
	}
}

// TestBatch_ANameThatIsTooLongIsNotKept: the append is refused with its first message.
func TestBatch_ANameThatIsTooLongIsNotKept(t *testing.T) {
	t.Parallel()
	b := &batch{}
	b.aim(&streams.BatchAppendReq_Options{
		StreamIdentifier:       &shared.StreamIdentifier{StreamName: make([]byte, 1<<20)},
		ExpectedStreamPosition: &streams.BatchAppendReq_Options_Any{Any: &emptypb.Empty{}},
	})
	if b.proposals.fault == nil || len(b.goal.stream) > maxNameBytes+1 {
		t.Errorf("%d bytes of a name are kept: %v", len(b.goal.stream), b.proposals.fault)
	}
}

// TestBatch_AnAnswerThatWaitsToBeSentKeepsNoEvents: a client may read no answers and send appends.
func TestBatch_AnAnswerThatWaitsToBeSentKeepsNoEvents(t *testing.T) {
	t.Parallel()
	n, kept := testNode(), &atomic.Int64{}
	c := &batchCall{
		service: &streamsService{node: n}, begun: map[uuid.UUID]*batch{}, replies: make(chan reply, openBatches),
	}
	for range 10 {
		b := begin(t, c, appendMessage(t, map[string]string{"type": "t", "content-type": jsonType}, kept))
		if b.proposals.fault != nil {
			t.Fatal(b.proposals.fault)
		}
		delete(c.begun, b.correlation)
		b.write(c.replies).answer(outcome{verdict: verdictWrong})
	}
	collected(t, kept)
	if len(c.replies) != 10 || !NoWriteMemory(n) {
		t.Errorf("%d answers wait, and memory is held: %v", len(c.replies), !NoWriteMemory(n))
	}
}

// TestBatch_AComparisonKeepsTheMemoryOfItsEvents until it is over, or its call is.
func TestBatch_AComparisonKeepsTheMemoryOfItsEvents(t *testing.T) {
	t.Parallel()
	n := testNode()
	ctx, cancel := context.WithCancel(t.Context())
	w := &write{load: n.newLoad(&account{}), caller: ctx, reply: make(chan reply, 1)}
	if err := w.load.grow(t.Context(), 1<<20); err != nil {
		t.Fatal(err)
	}
	w.answer(outcome{verdict: verdictCompare})
	if NoWriteMemory(n) || unstalled(n.writes.large) {
		t.Error("memory that is needed still is given back, or waits for no client")
	}
	pool, err := pgxpool.New(t.Context(), "postgres://127.0.0.1:1/none")
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	n.log = &logReader{pool: pool, queries: newQueries("none")}
	over, end := context.WithCancel(t.Context())
	end()
	if _, err := n.compared(over, w, outcome{}); err == nil || !NoWriteMemory(n) {
		t.Errorf("a comparison that fails keeps memory: %v", err)
	}
	w = &write{load: n.newLoad(&account{}), caller: ctx, reply: make(chan reply, 1)}
	if err := w.load.grow(t.Context(), 1<<20); err != nil {
		t.Fatal(err)
	}
	w.answer(outcome{verdict: verdictCompare})
	cancel()
	await(t, func() bool { return NoWriteMemory(n) })
}

// TestBatch_AClientThatReadsNoAnswersIsDismissed when it keeps the memory of an append from others, which is taken when
// the answers before it are read.
func TestBatch_AClientThatReadsNoAnswersIsDismissed(t *testing.T) {
	t.Parallel()
	n, dismissed := testNode(), make(chan string, 100)
	now := &atomic.Int64{}
	n.writes.large.now = func() time.Time { return time.Unix(now.Load(), 0) }
	owner := &account{disconnect: func(reason string) { dismissed <- reason }}
	c := &batchCall{service: &streamsService{node: n}, slots: make(chan struct{}, 1)}
	c.slots <- struct{}{}
	memory := n.newLoad(owner)
	if err := memory.grow(t.Context(), writeBytes); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(connected(owner))
	ended := make(chan error)
	go func() { ended <- c.slot(ctx, memory) }()
	await(t, func() bool { return owner.heldBack.Load() == 1 && !unstalled(n.writes.large) })
	claimed(n.writes.large.open(&account{}), 1)
	now.Add(int64(excused * budgetPatience / time.Second))
	n.writes.large.look()
	<-dismissed
	cancel()
	if <-ended; !unstalled(n.writes.large) {
		t.Error("the memory waits for a client that has gone")
	}
	memory.free()
	n.writes.large.timer.Stop()
}

// unstalled reports whether none of a kind of memory waits for a client.
func unstalled(b *budget) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.stalls) == 0
}
