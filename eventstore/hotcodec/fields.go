package hotcodec

import (
	"unicode/utf8"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"google.golang.org/protobuf/encoding/protowire"
)

// fields walks over the fields of an encoded message whose numbers are below 32, each of them at most once but for the
// repeated ones. It is over at the first that is anything else: odd is set then, and the stock codec has to read the
// message.
type fields struct {
	rest     []byte
	repeated uint32 // bits of the numbers that may come again
	seen     uint32
	odd      bool

	number protowire.Number // of the present field
	kind   protowire.Type   // of the present field: VarintType or BytesType
	varint uint64
	octets []byte // a part of the message
}

// next goes to the next field; false at the end, and at an odd field.
func (f *fields) next() bool {
	if len(f.rest) == 0 || f.odd {
		return false
	}
	number, kind, n := protowire.ConsumeTag(f.rest)
	if n < 0 || number >= 32 || f.seen&^f.repeated&(1<<number) != 0 {
		f.odd = true
		return false
	}
	f.seen |= 1 << number
	f.number, f.kind, f.rest = number, kind, f.rest[n:]
	switch kind {
	case protowire.VarintType:
		f.varint, n = protowire.ConsumeVarint(f.rest)
	case protowire.BytesType:
		f.octets, n = protowire.ConsumeBytes(f.rest)
	default:
		n = -1
	}
	if n < 0 {
		f.odd = true
		return false
	}
	f.rest = f.rest[n:]
	return true
}

// is reports whether the present field has a number and a kind.
func (f *fields) is(number protowire.Number, kind protowire.Type) bool {
	return f.number == number && f.kind == kind
}

// halves is the usual form of an id, as one object.
type halves struct {
	id         shared.UUID
	structured shared.UUID_Structured_
	value      shared.UUID_Structured
}

// read reads an id; false for an odd one.
func (h *halves) read(octets []byte) bool {
	outer := fields{rest: octets}
	if !outer.next() || !outer.is(1, protowire.BytesType) || len(outer.rest) > 0 {
		return false
	}
	inner := fields{rest: outer.octets}
	for inner.next() {
		switch {
		case inner.is(1, protowire.VarintType):
			h.value.MostSignificantBits = int64(inner.varint)
		case inner.is(2, protowire.VarintType):
			h.value.LeastSignificantBits = int64(inner.varint)
		default:
			return false
		}
	}
	h.structured.Structured = &h.value
	h.id.Value = &h.structured
	return !inner.odd
}

// streamName reads the name of a stream, into which no other field belongs.
func streamName(octets []byte, into *shared.StreamIdentifier) bool {
	f := fields{rest: octets}
	for f.next() {
		if !f.is(3, protowire.BytesType) {
			return false
		}
		into.StreamName = f.octets
	}
	return !f.odd
}

// mapEntry reads an entry of a map of texts.
func mapEntry(octets []byte, into map[string]string) bool {
	f := fields{rest: octets}
	var key, value []byte
	for f.next() {
		switch {
		case f.is(1, protowire.BytesType):
			key = f.octets
		case f.is(2, protowire.BytesType):
			value = f.octets
		default:
			return false
		}
	}
	if f.odd || !utf8.Valid(key) || !utf8.Valid(value) {
		return false
	}
	into[text(key)] = text(value)
	return true
}

// text makes a text, without an object for those that come with every event.
func text(octets []byte) string {
	switch string(octets) {
	case "type":
		return "type"
	case "content-type":
		return "content-type"
	case "created":
		return "created"
	case "application/json":
		return "application/json"
	case "application/octet-stream":
		return "application/octet-stream"
	}
	return string(octets)
}
