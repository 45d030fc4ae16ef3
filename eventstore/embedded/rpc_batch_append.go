package embedded

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/lastmile-isp/lastmile/eventstore/hotcodec"
)

// Bounds of one BatchAppend call, and the deadline of an append that names none.
const (
	openBatches   = 512      // appends committed at the same time; the next one waits
	unfinished    = 512      // correlation ids begun but not final
	heldBytes     = 16 << 20 // bytes of the appends begun but not final
	refusedBytes  = 64 << 20 // the same of those among them that are refused, of which nothing is kept
	openBytes     = 32 << 10 // of what a call may keep of its appends in any case until they are answered
	batchOverhead = 384      // bytes that are kept of an append until it is answered, beside its name
	batchDeadline = 10 * time.Second
	// lookForLate is how often a call looks for appends whose deadline has passed while the database does not answer.
	lookForLate = 100 * time.Millisecond
)

// batchCall is one BatchAppend call. Its appends are identified by correlation id, decided in the order of their final
// messages and answered in the order in which they are committed. One goroutine takes messages, and that of the call
// answers.
type batchCall struct {
	service *streamsService
	call    streams.Streams_BatchAppendServer
	begun   map[uuid.UUID]*batch // only the taking goroutine uses it
	held    int                  // bytes of the appends in begun that are not refused; the same
	refused int                  // bytes of those that are
	running sync.WaitGroup       // comparisons with the log
	slots   chan struct{}        // taken from the final message until the outcome
	replies chan reply           // has room for all slots
	late    *time.Timer          // runs while appends wait for their outcome
	out     *outbox              // for answers; only the goroutine of the call uses it
	piece   hotcodec.Piece       // which is being sent; the same
	settled chan struct{}        // has an element when an append had its outcome since the last look

	mu      sync.Mutex
	waiting map[*batch]struct{} // for their outcome
	closing bool                // no more may begin to wait
	kept    int                 // bytes of the appends that are not answered
	room    *holding            // of more of them
	over    bool                // the call has ended
}

// BatchAppend stores many appends over one call, each atomic by itself. A fault of one append is a response, not an
// error of the call. Clients keep such a call open all the time, so the call ends when the node stops.
func (s *streamsService) BatchAppend(call streams.Streams_BatchAppendServer) error {
	c := newBatchCall(s, call)
	defer c.finish()
	defer c.running.Wait()
	taken := make(chan error, 1)
	go func() { taken <- c.takeAll() }() // ends at the latest with the context of the call
	stopping := s.node.stopping
	var end error
	for ended := false; !ended || c.waits(); {
		select {
		case r := <-c.replies:
			c.settle(r)
		case err := <-taken: // what was taken before has its answer all the same
			ended, end = true, cmp.Or(end, err)
		case <-c.late.C:
			c.answerLate()
		case <-call.Context().Done(): // the client has gone, or the node can write no more
			return fromContext(call.Context().Err())
		case <-stopping:
			c.close()
			ended, end, stopping = true, errStopping, nil
		}
	}
	return end
}

// newBatchCall begins a call.
func newBatchCall(s *streamsService, call streams.Streams_BatchAppendServer) *batchCall {
	owner := accountOf(call.Context())
	return &batchCall{
		service: s, call: call, begun: map[uuid.UUID]*batch{}, slots: make(chan struct{}, openBatches),
		replies: make(chan reply, openBatches), waiting: map[*batch]struct{}{}, late: time.NewTimer(time.Hour),
		out: newOutbox(s.node.log.memory.frames, owner, nil), settled: make(chan struct{}, 1),
		room: s.node.writes.open.open(owner),
	}
}

// finish gives back what the call has. The goroutine that takes messages may still run.
func (c *batchCall) finish() {
	c.late.Stop()
	c.out.close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	c.room.free()
}

// takeAll takes messages until the client sends no more, without an error, or until a message ends the call.
func (c *batchCall) takeAll() error {
	defer func() { // of appends that never became final
		for _, b := range c.begun {
			b.load.free()
		}
	}()
	ctx, owner := c.call.Context(), accountOf(c.call.Context())
	for {
		req, memory := &streams.BatchAppendReq{}, c.service.node.newLoad(owner)
		memory.behind = c.holdings
		in := incoming{message: req, admit: func(weight int) error { return memory.grow(ctx, weight) }}
		err := c.call.RecvMsg(&in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = c.take(req, memory, in)
		}
		if err != nil {
			memory.free()
			return err
		}
	}
}

// holdings are those of the appends that have begun and are not final.
func (c *batchCall) holdings() (all []*holding) {
	for _, b := range c.begun {
		if b.load != nil {
			all = append(all, b.load.room)
		}
	}
	return all
}

// close lets no more appends begin to wait for their outcome.
func (c *batchCall) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closing = true
}

// waits reports whether an append waits for its outcome.
func (c *batchCall) waits() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting) > 0
}

// wait notes that an append waits for its outcome; false when none may any more.
func (c *batchCall) wait(b *batch) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return false
	}
	if len(c.waiting) == 0 {
		c.late.Reset(lookForLate)
	}
	c.waiting[b] = struct{}{}
	return true
}

// answerLate answers the appends whose deadline has passed. Their outcome is unknown.
func (c *batchCall) answerLate() {
	now := patienceClock.Now()
	c.mu.Lock()
	var late []*batch
	for b := range c.waiting {
		if !b.late && now.After(b.deadline) {
			b.late = true
			late = append(late, b)
		}
	}
	if len(c.waiting) > 0 {
		c.late.Reset(lookForLate)
	}
	c.mu.Unlock()
	for _, b := range late {
		c.answer(b, c.response(b, outcome{}, fromContext(context.DeadlineExceeded)))
	}
}

// settle answers an append that has its outcome, or has it compared with the log first.
func (c *batchCall) settle(r reply) {
	b := r.batch
	if r.compare != nil {
		c.running.Go(func() {
			ctx, cancel := context.WithDeadline(c.call.Context(), b.deadline)
			defer cancel()
			o, err := c.service.node.compared(ctx, r.compare, r.outcome)
			o.err = err
			c.replies <- reply{batch: b, outcome: o}
		})
		return
	}
	c.forget(b)
	<-c.slots
	switch {
	case b.late:
	case errors.Is(r.err, errAbandoned):
		c.answer(b, c.response(b, outcome{}, fromContext(context.DeadlineExceeded)))
	default:
		c.answerWith(b, r)
	}
}

// answerWith answers an append with its outcome.
func (c *batchCall) answerWith(b *batch, r reply) {
	if r.err == nil && (r.verdict == verdictWrite || r.verdict == verdictRepeat) {
		if f := storedAnswer(b, r.outcome); f != nil {
			c.send(f)
			return
		}
	}
	c.answer(b, c.response(b, r.outcome, r.err))
}

// take adds a message to its append and queues the append when the message is the final one: the queue keeps the order
// in which clients send their appends, which may depend on each other. The memory is that of the message.
func (c *batchCall) take(req *streams.BatchAppendReq, memory *load, in incoming) error {
	b, err := c.append(req)
	if err != nil {
		return err
	}
	if b.weight == 0 {
		if err := c.keep(c.call.Context(), b, memory); err != nil {
			return err
		}
	}
	c.count(b, -b.counted)
	b.add(c.call.Context(), req, memory, in)
	if !req.GetIsFinal() {
		c.count(b, b.proposals.all)
		if c.held > heldBytes || c.refused > refusedBytes {
			return invalidArgument("the appends begun and not finished are too large")
		}
		return nil
	}
	delete(c.begun, b.correlation)
	ctx := c.call.Context()
	if err := c.slot(ctx, b.load); err != nil {
		b.load.free()
		return err
	}
	b.deadline = patienceClock.Now().Add(b.goal.patience(c.service.node.config.Clock.Now()))
	if !c.wait(b) {
		b.load.free()
		return errStopping
	}
	err = b.proposals.fault
	if err == nil {
		err = c.enqueue(ctx, b.write(c.replies))
	}
	if err != nil {
		c.replies <- reply{batch: b, outcome: outcome{err: err}}
	}
	return nil
}

// count adds bytes of an append that is not final to those of the call, or takes them away.
func (c *batchCall) count(b *batch, bytes int) {
	b.counted += bytes
	if b.proposals.fault != nil {
		c.refused += bytes
	} else {
		c.held += bytes
	}
}

// errManyOpen ends a call that begins more appends than there is room for, before it finishes any.
var errManyOpen = &refusal{code: codes.Aborted, message: "too many appends are begun at once; try again"}

// keep takes room for what is kept of an append until it is answered. If there is none, it waits until others of the
// call are, as slot does.
func (c *batchCall) keep(ctx context.Context, b *batch, memory *load) error {
	b.weight = batchOverhead + len(b.goal.stream)
	if kept, err := c.tryKeep(b); kept || err != nil {
		return err
	}
	defer c.hold(ctx)()
	memory.waits(true)
	defer memory.waits(false)
	for {
		if kept, err := c.tryKeep(b); kept || err != nil {
			return err
		}
		select {
		case <-c.settled:
		case <-ctx.Done():
			return fromContext(ctx.Err())
		}
	}
}

// tryKeep is keep if there is room. It fails when there will be none.
func (c *batchCall) tryKeep(b *batch) (kept bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.over:
		return false, errStopping
	case c.kept+b.weight <= openBytes:
		c.kept += b.weight
		return true, nil
	case c.room.try(int64(b.weight)):
		b.shared = true
		return true, nil
	case len(c.waiting) == 0:
		return false, errManyOpen
	}
	return false, nil
}

// forget notes that an append has its outcome. What is kept of it is so no longer when it is answered, which is next.
func (c *batchCall) forget(b *batch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, b)
	if b.shared {
		c.room.release(int64(b.weight))
	} else {
		c.kept -= b.weight
	}
	select {
	case c.settled <- struct{}{}:
	default:
	}
}

// slot waits until one more append may be committed. Meanwhile the memory of this one waits for the client, who may
// read no answers to those before it; a client that cannot read any has longer, since the node holds it back.
func (c *batchCall) slot(ctx context.Context, memory *load) error {
	select {
	case c.slots <- struct{}{}:
		return nil
	default:
	}
	defer c.hold(ctx)()
	memory.waits(true)
	defer memory.waits(false)
	select {
	case c.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fromContext(ctx.Err())
	}
}

// enqueue hands an append to the sequencer, and may wait for that.
func (c *batchCall) enqueue(ctx context.Context, w *write) error {
	q := c.service.node.sequencer
	if len(q.queue) == cap(q.queue) {
		defer c.hold(ctx)()
	}
	return q.enqueue(ctx, w)
}

// hold notes that the client cannot go on with the appends that it has begun, since the node takes no messages, until
// over is called.
func (c *batchCall) hold(ctx context.Context) (over func()) {
	return accountOf(ctx).hold(c.service.node.writes.large.now)
}

// append finds the append of a message, or begins it.
func (c *batchCall) append(req *streams.BatchAppendReq) (*batch, error) {
	correlation, err := parseUUID(req.GetCorrelationId())
	if err != nil {
		return nil, err
	}
	if b, ok := c.begun[correlation]; ok {
		return b, nil
	}
	if len(c.begun) >= unfinished {
		return nil, invalidArgument("too many appends begun and not finished")
	}
	_, stringID := req.GetCorrelationId().GetValue().(*shared.UUID_String_)
	b := &batch{correlation: correlation, stringID: stringID}
	b.proposals.limit = c.service.node.config.MaxAppendSize
	b.aim(req.GetOptions())
	c.begun[correlation] = b
	return b, nil
}

// answer sends one response; only the goroutine of the call does.
func (c *batchCall) answer(b *batch, resp *streams.BatchAppendResp) {
	if octets, err := proto.Marshal(b.named(resp)); err == nil { // all of it is valid
		c.send(octets)
	}
}

// send sends an encoded response. It waits until the client has read most of those before. An error is ignored, because
// then the call has ended.
func (c *batchCall) send(octets []byte) {
	var err error
	if c.piece, err = c.out.pack(c.call.Context(), octets); err == nil {
		_ = c.call.SendMsg(&c.piece)
	}
}

// response builds the response to one append, also for an error.
func (c *batchCall) response(b *batch, o outcome, err error) *streams.BatchAppendResp {
	switch {
	case err != nil:
		return failed(batchFault(err, b))
	case o.verdict == verdictDeleted:
		return failed(batchError(codes.NotFound, "Stream is deleted.", &shared.StreamDeleted{
			StreamIdentifier: b.goal.identifier(),
		}))
	case o.verdict == verdictWrong:
		return failed(batchError(codes.AlreadyExists, "Wrong expected version.", b.wrongVersion(o.current)))
	}
	return &streams.BatchAppendResp{Result: &streams.BatchAppendResp_Success_{Success: batchSuccess(o)}}
}

// batchSuccess builds the response for an append that is in the log, new or repeated.
func batchSuccess(o outcome) *streams.BatchAppendResp_Success {
	s := &streams.BatchAppendResp_Success{}
	if o.current < 0 {
		s.CurrentRevisionOption = &streams.BatchAppendResp_Success_NoStream{NoStream: &emptypb.Empty{}}
	} else {
		s.CurrentRevisionOption = &streams.BatchAppendResp_Success_CurrentRevision{CurrentRevision: uint64(o.current)}
	}
	at := uint64(o.position)
	s.PositionOption = &streams.BatchAppendResp_Success_Position{
		Position: &shared.AllStreamPosition{CommitPosition: at, PreparePosition: at},
	}
	return s
}

// failed builds the response for one append that has failed; the call goes on.
func failed(s *rpcstatus.Status) *streams.BatchAppendResp {
	return &streams.BatchAppendResp{Result: &streams.BatchAppendResp_Error{Error: s}}
}
