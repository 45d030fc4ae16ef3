package embedded

import (
	"context"
	"errors"
	"io"
	"math"
	"sync"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/emptypb"
)

// Bounds of one BatchAppend call, and the deadline of an append that names none.
const (
	openBatches   = 512      // appends committed at the same time; the next one waits
	unfinished    = 512      // correlation ids begun but not final
	heldBytes     = 64 << 20 // bytes of the appends begun but not final
	batchDeadline = 10 * time.Second
)

// batch is one append within a BatchAppend call, as far as its messages have arrived.
type batch struct {
	correlation uuid.UUID
	stringID    bool
	options     *streams.BatchAppendReq_Options
	proposals   proposals
	load        *load
}

// batchCall is one BatchAppend call. Its appends are identified by correlation id, decided in the order of their final
// messages and answered in the order in which they are committed.
type batchCall struct {
	service *streamsService
	call    streams.Streams_BatchAppendServer
	begun   map[uuid.UUID]*batch
	held    int // bytes of all appends in begun
	sending sync.Mutex
	running sync.WaitGroup
	slots   chan struct{}
}

// BatchAppend stores many appends over one call, each atomic by itself. A fault of one append is a response, not an
// error of the call. Clients keep such a call open all the time, so the call ends when the node stops.
func (s *streamsService) BatchAppend(call streams.Streams_BatchAppendServer) error {
	c := &batchCall{service: s, call: call, begun: map[uuid.UUID]*batch{}, slots: make(chan struct{}, openBatches)}
	defer c.running.Wait()
	defer func() { // of appends that never became final
		for _, b := range c.begun {
			b.load.free()
		}
	}()
	type arrival struct {
		req *streams.BatchAppendReq
		err error
	}
	arrivals, ended := make(chan arrival), make(chan struct{})
	defer close(ended)
	go func() { // ends at the latest with the context of the call
		for {
			req, err := call.Recv()
			select {
			case arrivals <- arrival{req, err}:
			case <-ended:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	for {
		select {
		case a := <-arrivals:
			switch {
			case errors.Is(a.err, io.EOF):
				return nil
			case a.err != nil:
				return a.err
			}
			if err := c.take(a.req); err != nil {
				return err
			}
		case <-s.node.stopping:
			return errStopping
		}
	}
}

// take adds a message to its append and queues the append when the message is the final one: the queue keeps the order
// in which clients send their appends, which may depend on each other.
func (c *batchCall) take(req *streams.BatchAppendReq) error {
	b, err := c.append(req)
	if err != nil {
		return err
	}
	before := b.proposals.all
	for _, m := range req.GetProposedMessages() {
		b.proposals.addWeighed(c.call.Context(), m, b.load)
	}
	c.held += b.proposals.all - before
	if !req.GetIsFinal() {
		if c.held > heldBytes {
			return invalidArgument("the appends begun and not finished are too large")
		}
		return nil
	}
	c.held -= b.proposals.all
	delete(c.begun, b.correlation)
	select {
	case c.slots <- struct{}{}:
	case <-c.call.Context().Done():
		b.load.free()
		return fromContext(c.call.Context().Err())
	}
	node := c.service.node
	ctx, cancel := context.WithTimeout(c.call.Context(), b.patience(node.config.Clock.Now()))
	w, err := b.write()
	if err != nil {
		b.load.free()
	} else {
		err = node.sequencer.enqueue(ctx, w)
	}
	c.running.Go(func() {
		defer func() { cancel(); <-c.slots }()
		var o outcome
		if err == nil {
			o, err = node.finish(ctx, w)
		}
		c.answer(b, c.response(b, o, err))
	})
	return nil
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
	b := &batch{
		correlation: correlation, stringID: stringID, options: req.GetOptions(), load: c.service.node.newLoad(),
	}
	b.proposals.limit = c.service.node.config.MaxAppendSize
	c.begun[correlation] = b
	return b, nil
}

// answer sends one response. An error of Send is ignored, because then the call has ended.
func (c *batchCall) answer(b *batch, resp *streams.BatchAppendResp) {
	resp.CorrelationId = structured(b.correlation)
	if b.stringID {
		resp.CorrelationId = &shared.UUID{Value: &shared.UUID_String_{String_: b.correlation.String()}}
	}
	resp.StreamIdentifier = b.options.GetStreamIdentifier()
	switch e := b.options.GetExpectedStreamPosition().(type) {
	case *streams.BatchAppendReq_Options_StreamPosition:
		resp.ExpectedStreamPosition = &streams.BatchAppendResp_StreamPosition{StreamPosition: e.StreamPosition}
	case *streams.BatchAppendReq_Options_NoStream:
		resp.ExpectedStreamPosition = &streams.BatchAppendResp_NoStream{NoStream: &emptypb.Empty{}}
	case *streams.BatchAppendReq_Options_Any:
		resp.ExpectedStreamPosition = &streams.BatchAppendResp_Any{Any: &emptypb.Empty{}}
	case *streams.BatchAppendReq_Options_StreamExists:
		resp.ExpectedStreamPosition = &streams.BatchAppendResp_StreamExists{StreamExists: &emptypb.Empty{}}
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	_ = c.call.Send(resp)
}

// response builds the response to one append, also for an error.
func (c *batchCall) response(b *batch, o outcome, err error) *streams.BatchAppendResp {
	switch {
	case err != nil:
		return failed(batchFault(err, b, c.service.node.config.MaxAppendSize))
	case o.verdict == verdictDeleted:
		return failed(batchError(codes.NotFound, "Stream is deleted.", &shared.StreamDeleted{
			StreamIdentifier: b.options.GetStreamIdentifier(),
		}))
	case o.verdict == verdictWrong:
		return failed(batchError(codes.AlreadyExists, "Wrong expected version.", b.wrongVersion(o.current)))
	}
	return &streams.BatchAppendResp{Result: &streams.BatchAppendResp_Success_{Success: batchSuccess(o)}}
}

// write checks an append and converts it for the sequencer.
func (b *batch) write() (*write, error) {
	w := &write{
		kind: writeAppend, stream: string(b.options.GetStreamIdentifier().GetStreamName()), events: b.proposals.events,
		load: b.load,
	}
	switch e := b.options.GetExpectedStreamPosition().(type) {
	case *streams.BatchAppendReq_Options_StreamPosition:
		w.expected = exact(e.StreamPosition)
	case *streams.BatchAppendReq_Options_NoStream:
		w.expected = expectNoStream
	case *streams.BatchAppendReq_Options_Any:
		w.expected = expectAny
	case *streams.BatchAppendReq_Options_StreamExists:
		w.expected = expectExists
	default:
		return w, invalidArgument("the append names no expected position")
	}
	if err := checkWritable(w.stream); err != nil {
		return w, err
	}
	return w, b.proposals.fault
}

// patience is how long the client wants to wait; older clients send an instant instead of a duration.
func (b *batch) patience(now time.Time) time.Duration {
	switch d := b.options.GetDeadlineOption().(type) {
	case *streams.BatchAppendReq_Options_Deadline:
		if d.Deadline.GetSeconds() >= math.MaxInt64/int64(time.Second) {
			return math.MaxInt64
		}
		return d.Deadline.AsDuration()
	case *streams.BatchAppendReq_Options_Deadline_21_10_0:
		return d.Deadline_21_10_0.AsTime().Sub(now)
	}
	return batchDeadline
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
