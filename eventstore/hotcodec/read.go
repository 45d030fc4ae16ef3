package hotcodec

import (
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/protobuf/encoding/protowire"
)

// givenEvent has the parts of a message with an event, as one object.
type givenEvent struct {
	content  streams.ReadResp_Event
	event    streams.ReadResp_ReadEvent
	position streams.ReadResp_ReadEvent_CommitPosition
	recorded streams.ReadResp_ReadEvent_RecordedEvent
	id       halves
	stream   shared.StreamIdentifier
}

// readEvent reads a message with an event that is no link; false, and an unchanged message, for every other one.
func readEvent(octets []byte, into *streams.ReadResp) bool {
	outer := fields{rest: octets}
	if !outer.next() || !outer.is(1, protowire.BytesType) || len(outer.rest) > 0 {
		return false
	}
	var e givenEvent
	inner := fields{rest: outer.octets}
	for inner.next() {
		switch {
		case inner.is(1, protowire.BytesType):
			if !e.record(inner.octets) {
				return false
			}
			e.event.Event = &e.recorded
		case inner.is(3, protowire.VarintType):
			e.position.CommitPosition = inner.varint
			e.event.Position = &e.position
		default:
			return false
		}
	}
	if inner.odd {
		return false
	}
	e.content.Event = &e.event
	into.Content = &e.content
	return true
}

// record reads the event itself.
func (e *givenEvent) record(octets []byte) bool {
	f := fields{rest: octets, repeated: 1 << 6}
	for f.next() {
		ok := true
		switch {
		case f.is(1, protowire.BytesType):
			ok = e.id.read(f.octets)
			e.recorded.Id = &e.id.id
		case f.is(2, protowire.BytesType):
			ok = streamName(f.octets, &e.stream)
			e.recorded.StreamIdentifier = &e.stream
		case f.is(3, protowire.VarintType):
			e.recorded.StreamRevision = f.varint
		case f.is(4, protowire.VarintType):
			e.recorded.PreparePosition = f.varint
		case f.is(5, protowire.VarintType):
			e.recorded.CommitPosition = f.varint
		case f.is(6, protowire.BytesType):
			if e.recorded.Metadata == nil {
				e.recorded.Metadata = make(map[string]string, 3)
			}
			ok = mapEntry(f.octets, e.recorded.Metadata)
		case f.is(7, protowire.BytesType):
			e.recorded.CustomMetadata = f.octets
		case f.is(8, protowire.BytesType):
			e.recorded.Data = f.octets
		default:
			ok = false
		}
		if !ok {
			return false
		}
	}
	return !f.odd
}
