package embedded

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/emptypb"
)

// batch is one append within a BatchAppend call, as far as its messages have arrived.
type batch struct {
	correlation uuid.UUID
	stringID    bool
	goal        goal
	proposals   proposals
	load        *load
	counted     int       // bytes that the call counts for it
	weight      int       // bytes that it takes without its events; 0 = it has no room for them yet
	shared      bool      // that room is of the one for all calls
	deadline    time.Time // by patienceClock; set with the final message
	late        bool      // it was answered at its deadline; the outcome comes later
}

// goal is where an append wants to write and how long its client waits. It keeps nothing of the message that said so,
// because the message has the events of the append, too.
type goal struct {
	stream   string
	expected int64         // a revision, or one of the expect constants
	position uint64        // the revision as the client has given it
	known    bool          // that the client has named what it expects
	wait     time.Duration // from the final message on
	until    time.Time     // instead of it, from older clients; zero = wait
}

// aim takes the options of an append. One that can write nowhere is refused, so that none of its events is kept.
func (b *batch) aim(options *streams.BatchAppendReq_Options) {
	g := &b.goal
	name := options.GetStreamIdentifier().GetStreamName()
	g.stream = string(name[:min(len(name), maxNameBytes+1)]) // as much as shows that it is too long
	b.proposals.aim(g.stream)
	g.known = true
	switch e := options.GetExpectedStreamPosition().(type) {
	case *streams.BatchAppendReq_Options_StreamPosition:
		g.expected, g.position = exact(e.StreamPosition), e.StreamPosition
	case *streams.BatchAppendReq_Options_NoStream:
		g.expected = expectNoStream
	case *streams.BatchAppendReq_Options_Any:
		g.expected = expectAny
	case *streams.BatchAppendReq_Options_StreamExists:
		g.expected = expectExists
	default:
		g.known = false
		b.proposals.refuse(invalidArgument("the append names no expected position"))
	}
	if err := checkWritable(g.stream); err != nil {
		b.proposals.refuse(err)
	}
	switch d := options.GetDeadlineOption().(type) {
	case *streams.BatchAppendReq_Options_Deadline:
		if g.wait = d.Deadline.AsDuration(); d.Deadline.GetSeconds() >= math.MaxInt64/int64(time.Second) {
			g.wait = math.MaxInt64
		}
	case *streams.BatchAppendReq_Options_Deadline_21_10_0:
		g.until = d.Deadline_21_10_0.AsTime()
	default:
		g.wait = batchDeadline
	}
}

// patience is how long the client wants to wait.
func (g *goal) patience(now time.Time) time.Duration {
	if !g.until.IsZero() {
		return g.until.Sub(now)
	}
	return g.wait
}

// identifier is the stream as the answer names it.
func (g *goal) identifier() *shared.StreamIdentifier {
	return &shared.StreamIdentifier{StreamName: []byte(g.stream)}
}

// add adds the events of a message to its append. The memory becomes that of the append; after a fault, as that of in,
// it is free.
func (b *batch) add(ctx context.Context, req *streams.BatchAppendReq, memory *load, in incoming) {
	fault := in.fault
	switch {
	case fault == nil:
		fault = b.proposals.fault
	case errors.Is(fault, errBusy) && b.load != nil && b.load.held+int64(in.bytes) > writeBytes:
		fault = errTooLarge // it would be so each time
	}
	switch {
	case fault != nil:
		memory.free()
	case b.load == nil:
		b.load = memory
	default:
		fault = b.load.join(ctx, memory)
	}
	if fault != nil {
		b.proposals.refuse(fault)
	}
	first := len(b.proposals.events)
	for _, m := range req.GetProposedMessages() {
		b.proposals.add(m)
	}
	b.proposals.release(first, in.bytes)
	if b.proposals.fault != nil {
		b.load.free()
	} else {
		b.load.waits(!req.GetIsFinal())
	}
}

// write converts an append, which is whole and not refused, for the sequencer. It hands the events over.
func (b *batch) write(replies chan reply) *write {
	w := &write{
		kind: writeAppend, stream: b.goal.stream, expected: b.goal.expected, events: b.proposals.events, load: b.load,
		batch: b, deadline: b.deadline, reply: replies,
	}
	b.proposals.events = nil // an answer that waits to be sent keeps the append
	return w
}

// named gives a response what says to which append it belongs.
func (b *batch) named(resp *streams.BatchAppendResp) *streams.BatchAppendResp {
	resp.CorrelationId = structured(b.correlation)
	if b.stringID {
		resp.CorrelationId = &shared.UUID{Value: &shared.UUID_String_{String_: b.correlation.String()}}
	}
	resp.StreamIdentifier = b.goal.identifier()
	switch {
	case !b.goal.known:
	case b.goal.expected == expectNoStream:
		resp.ExpectedStreamPosition = &streams.BatchAppendResp_NoStream{NoStream: &emptypb.Empty{}}
	case b.goal.expected == expectAny:
		resp.ExpectedStreamPosition = &streams.BatchAppendResp_Any{Any: &emptypb.Empty{}}
	case b.goal.expected == expectExists:
		resp.ExpectedStreamPosition = &streams.BatchAppendResp_StreamExists{StreamExists: &emptypb.Empty{}}
	default:
		resp.ExpectedStreamPosition = &streams.BatchAppendResp_StreamPosition{StreamPosition: b.goal.position}
	}
	return resp
}
