package hotcodec

import (
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"
)

// givenAppend has the parts of an append, but for its events, as one object.
type givenAppend struct {
	correlation halves
	options     streams.BatchAppendReq_Options
	stream      shared.StreamIdentifier
	expected    streams.BatchAppendReq_Options_StreamPosition
	deadline    streams.BatchAppendReq_Options_Deadline
	duration    durationpb.Duration
	usual       proposed // the first event, mostly the only one
	list        [1]*streams.BatchAppendReq_ProposedMessage
}

// proposed has the parts of an event, as one object.
type proposed struct {
	message streams.BatchAppendReq_ProposedMessage
	id      halves
}

// readAppend reads an append; false, and an unchanged message, for an odd one.
func readAppend(octets []byte, into *streams.BatchAppendReq) bool {
	var a givenAppend
	var correlation *shared.UUID
	var options *streams.BatchAppendReq_Options
	list, final := a.list[:0], false
	f := fields{rest: octets, repeated: 1 << 3}
	for f.next() {
		ok := true
		switch {
		case f.is(1, protowire.BytesType):
			ok = a.correlation.read(f.octets)
			correlation = &a.correlation.id
		case f.is(2, protowire.BytesType):
			ok = a.readOptions(f.octets)
			options = &a.options
		case f.is(3, protowire.BytesType):
			p := &a.usual
			if len(list) > 0 {
				p = &proposed{}
			}
			ok = p.read(f.octets)
			list = append(list, &p.message)
		case f.is(4, protowire.VarintType):
			final = f.varint != 0
		default:
			ok = false
		}
		if !ok {
			return false
		}
	}
	if f.odd {
		return false
	}
	into.CorrelationId, into.Options, into.IsFinal = correlation, options, final
	if len(list) > 0 {
		into.ProposedMessages = list
	}
	return true
}

// readOptions reads where an append wants to write.
func (a *givenAppend) readOptions(octets []byte) bool {
	f := fields{rest: octets}
	for f.next() {
		ok := a.options.ExpectedStreamPosition == nil || f.number == 1 || f.number == 7
		switch {
		case f.is(1, protowire.BytesType):
			ok = streamName(f.octets, &a.stream)
			a.options.StreamIdentifier = &a.stream
		case f.is(2, protowire.VarintType):
			a.expected.StreamPosition = f.varint
			a.options.ExpectedStreamPosition = &a.expected
		case f.is(3, protowire.BytesType) && len(f.octets) == 0:
			a.options.ExpectedStreamPosition = &streams.BatchAppendReq_Options_NoStream{NoStream: &emptypb.Empty{}}
		case f.is(4, protowire.BytesType) && len(f.octets) == 0:
			a.options.ExpectedStreamPosition = &streams.BatchAppendReq_Options_Any{Any: &emptypb.Empty{}}
		case f.is(7, protowire.BytesType):
			ok = readDuration(f.octets, &a.duration)
			a.deadline.Deadline = &a.duration
			a.options.DeadlineOption = &a.deadline
		default:
			ok = false
		}
		if !ok {
			return false
		}
	}
	return !f.odd
}

// readDuration reads how long the answer is waited for.
func readDuration(octets []byte, into *durationpb.Duration) bool {
	f := fields{rest: octets}
	for f.next() {
		switch {
		case f.is(1, protowire.VarintType):
			into.Seconds = int64(f.varint)
		case f.is(2, protowire.VarintType):
			into.Nanos = int32(f.varint) //nolint:gosec // as the stock codec cuts it
		default:
			return false
		}
	}
	return !f.odd
}

// read reads an event.
func (p *proposed) read(octets []byte) bool {
	e, ok := p.id.event(octets)
	p.message.Id, p.message.Metadata = e.id, e.metadata
	p.message.CustomMetadata, p.message.Data = e.custom, e.data
	return ok
}

// eventParts are those of an event that is to be stored, in both calls that store events.
type eventParts struct {
	id           *shared.UUID
	metadata     map[string]string
	custom, data []byte
}

// event reads an event, whose id comes here; false for an odd one.
func (h *halves) event(octets []byte) (e eventParts, ok bool) {
	f := fields{rest: octets, repeated: 1 << 2}
	for f.next() {
		ok = true
		switch {
		case f.is(1, protowire.BytesType):
			ok = h.read(f.octets)
			e.id = &h.id
		case f.is(2, protowire.BytesType):
			if e.metadata == nil {
				e.metadata = make(map[string]string, 2)
			}
			ok = mapEntry(f.octets, e.metadata)
		case f.is(3, protowire.BytesType):
			e.custom = f.octets
		case f.is(4, protowire.BytesType):
			e.data = f.octets
		default:
			ok = false
		}
		if !ok {
			return e, false
		}
	}
	return e, !f.odd
}

// givenAnswer has the parts of the answer to an append, as one object.
type givenAnswer struct {
	correlation halves
	stream      shared.StreamIdentifier
	result      streams.BatchAppendResp_Success_
	success     streams.BatchAppendResp_Success
	revision    streams.BatchAppendResp_Success_CurrentRevision
	position    streams.BatchAppendResp_Success_Position
	place       shared.AllStreamPosition
	expected    streams.BatchAppendResp_StreamPosition
}

// readAppended reads the answer that an append is stored; false, and an unchanged message, for every other one.
func readAppended(octets []byte, into *streams.BatchAppendResp) bool {
	var a givenAnswer
	var m streams.BatchAppendResp
	f := fields{rest: octets}
	for f.next() {
		ok := true
		switch {
		case f.is(1, protowire.BytesType):
			ok = a.correlation.read(f.octets)
			m.CorrelationId = &a.correlation.id
		case f.is(3, protowire.BytesType):
			ok = a.readSuccess(f.octets)
			m.Result = &a.result
		case f.is(4, protowire.BytesType):
			ok = streamName(f.octets, &a.stream)
			m.StreamIdentifier = &a.stream
		case f.is(5, protowire.VarintType) && m.ExpectedStreamPosition == nil:
			a.expected.StreamPosition = f.varint
			m.ExpectedStreamPosition = &a.expected
		case f.is(6, protowire.BytesType) && m.ExpectedStreamPosition == nil && len(f.octets) == 0:
			m.ExpectedStreamPosition = &streams.BatchAppendResp_NoStream{NoStream: &emptypb.Empty{}}
		default:
			ok = false
		}
		if !ok {
			return false
		}
	}
	if f.odd {
		return false
	}
	into.CorrelationId, into.Result, into.StreamIdentifier = m.CorrelationId, m.Result, m.StreamIdentifier
	into.ExpectedStreamPosition = m.ExpectedStreamPosition
	return true
}

// readSuccess reads where the last event of an append stands.
func (a *givenAnswer) readSuccess(octets []byte) bool {
	f := fields{rest: octets}
	for f.next() {
		ok := true
		switch {
		case f.is(1, protowire.VarintType):
			a.revision.CurrentRevision = f.varint
			a.success.CurrentRevisionOption = &a.revision
		case f.is(3, protowire.BytesType):
			ok = a.readPlace(f.octets)
			a.position.Position = &a.place
			a.success.PositionOption = &a.position
		default:
			ok = false
		}
		if !ok {
			return false
		}
	}
	a.result.Success = &a.success
	return !f.odd
}

// readPlace reads a position in $all.
func (a *givenAnswer) readPlace(octets []byte) bool {
	f := fields{rest: octets}
	for f.next() {
		switch {
		case f.is(1, protowire.VarintType):
			a.place.CommitPosition = f.varint
		case f.is(2, protowire.VarintType):
			a.place.PreparePosition = f.varint
		default:
			return false
		}
	}
	return !f.odd
}
