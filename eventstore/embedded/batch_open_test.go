package embedded

import (
	"context"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/eventstore/hotcodec"
	"github.com/lastmile-isp/lastmile/internal/clock"
)

// refusedAppends is a BatchAppend call whose client sends so many appends that are refused, since they expect no
// position.
type refusedAppends struct {
	streams.Streams_BatchAppendServer
	ctx     context.Context
	name    string // of the stream
	final   bool   // they are
	all     int
	taken   atomic.Int64
	answers atomic.Int64  // that it has read
	reading chan struct{} // closed when it begins to read; before, the transport takes no answer
}

// Context ends with the call.
func (c *refusedAppends) Context() context.Context { return c.ctx }

// RecvMsg gives the next append.
func (c *refusedAppends) RecvMsg(m any) error {
	if c.taken.Load() == int64(c.all) {
		return io.EOF
	}
	c.taken.Add(1)
	req := m.(*incoming).message.(*streams.BatchAppendReq)
	req.CorrelationId, req.IsFinal = structured(uuid.New()), c.final
	req.Options = &streams.BatchAppendReq_Options{
		StreamIdentifier: &shared.StreamIdentifier{StreamName: []byte(c.name)},
	}
	return nil
}

// SendMsg sends an answer.
func (c *refusedAppends) SendMsg(m any) error {
	select {
	case <-c.reading:
	case <-c.ctx.Done():
		return c.ctx.Err()
	}
	c.answers.Add(1)
	freeAll(*m.(*hotcodec.Piece))
	return nil
}

// openNode is a node that only counts memory, and that of open appends which others have.
func openNode(t *testing.T, bytes int64) (n *Node, others *holding) {
	t.Helper()
	n = testNode()
	n.log, n.config.Clock = newLogReader(nil, nil, nil), clock.System()
	others = n.writes.open.open(&account{})
	if bytes > 0 && !others.try(bytes) {
		t.Fatal("free memory is not given")
	}
	return n, others
}

// serve begins to serve a call, and gives its end.
func (c *refusedAppends) serve(t *testing.T, n *Node) (owner *account, ended <-chan error) {
	t.Helper()
	owner = &account{}
	ctx, cancel := context.WithCancel(connected(owner))
	t.Cleanup(cancel)
	c.ctx, c.reading = ctx, make(chan struct{})
	end := make(chan error, 1)
	go func() { end <- (&streamsService{node: n}).BatchAppend(c) }()
	return owner, end
}

// TestBatch_OfAppendsWhoseAnswersAreNotReadFewAreKept: the node takes no more of a client then, and goes on when the
// client reads, also while others have all of the common room.
func TestBatch_OfAppendsWhoseAnswersAreNotReadFewAreKept(t *testing.T) {
	t.Parallel()
	n, others := openNode(t, openBytesAll)
	c := &refusedAppends{name: strings.Repeat("n", maxNameBytes), final: true, all: 1000}
	owner, ended := c.serve(t, n)
	await(t, func() bool { return owner.heldBack.Load() == 1 })
	const most = openBytes/(batchOverhead+maxNameBytes) + 2 // one is being answered, and one waits
	if taken := c.taken.Load(); taken > most {
		t.Errorf("%d appends are kept, more than %d", taken, most)
	}
	close(c.reading)
	if err := <-ended; err != nil || c.answers.Load() != int64(c.all) {
		t.Errorf("%d appends are answered: %v", c.answers.Load(), err)
	}
	others.free()
	await(t, func() bool { return NoWriteMemory(n) })
}

// unreadAnswers is a BatchAppend call whose transport takes all answers and sends none. What waits fails.
type unreadAnswers struct {
	streams.Streams_BatchAppendServer
	to unreadCall
}

// Context has ended.
func (c *unreadAnswers) Context() context.Context { return c.to.Context() }

// SendMsg keeps the answer.
func (c *unreadAnswers) SendMsg(m any) error { return c.to.SendMsg(m) }

// TestBatch_AnswersThatAreNotReadAreFew, although the transport would take thousands of them.
func TestBatch_AnswersThatAreNotReadAreFew(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]outcome{
		"stored": {verdict: verdictWrite}, "refused": {verdict: verdictWrong}, "failed": {err: errBusy},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, _ := openNode(t, 0)
			over, cancel := context.WithCancel(connected(&account{}))
			cancel()
			call := &unreadAnswers{to: unreadCall{ctx: over}}
			c := newBatchCall(&streamsService{node: n}, call)
			const most = outBytes/messageBytes + chunkMessages
			b := &batch{goal: goal{stream: "s", known: true}}
			for range 10 * most {
				c.answerWith(b, reply{batch: b, outcome: o})
			}
			if sent := len(call.to.taken); sent > most || sent < 10 {
				t.Errorf("the transport has %d answers", sent)
			}
			freeAll(call.to.taken...)
			if c.finish(); c.out.pending.Load() != 0 {
				t.Errorf("%d bytes are counted for ever", c.out.pending.Load())
			}
		})
	}
}

// TestBatch_OfAppendsThatAreBegunFewAreKept: a client that begins many and finishes none is told, when others have all
// of the common room. With that room, it may.
func TestBatch_OfAppendsThatAreBegunFewAreKept(t *testing.T) {
	t.Parallel()
	n, others := openNode(t, openBytesAll)
	c := &refusedAppends{name: strings.Repeat("n", maxNameBytes), all: unfinished}
	_, ended := c.serve(t, n)
	const most = openBytes/(batchOverhead+maxNameBytes) + 1 // the one that is too many
	if err := <-ended; err != errManyOpen || c.taken.Load() > most {
		t.Errorf("%d appends are begun, more than %d: %v", c.taken.Load(), most, err)
	}
	others.free()
	await(t, func() bool { return NoWriteMemory(n) })
	c = &refusedAppends{name: strings.Repeat("n", maxNameBytes), all: unfinished}
	_, ended = c.serve(t, n)
	if err := <-ended; err != nil || c.taken.Load() != unfinished {
		t.Errorf("%d appends are begun: %v", c.taken.Load(), err)
	}
	await(t, func() bool { return NoWriteMemory(n) })
}
