package hotcodec

import (
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/protobuf/encoding/protowire"
)

// givenProposed has the parts of an event of an append that has a call of its own, as one object.
type givenProposed struct {
	content streams.AppendReq_ProposedMessage_
	message streams.AppendReq_ProposedMessage
	id      halves
}

// readProposed reads an event of an append; false, and an unchanged message, for every other part of it.
func readProposed(octets []byte, into *streams.AppendReq) bool {
	outer := fields{rest: octets}
	if !outer.next() || !outer.is(2, protowire.BytesType) || len(outer.rest) > 0 {
		return false
	}
	var p givenProposed
	f := fields{rest: outer.octets, repeated: 1 << 2}
	for f.next() {
		ok := true
		switch {
		case f.is(1, protowire.BytesType):
			ok = p.id.read(f.octets)
			p.message.Id = &p.id.id
		case f.is(2, protowire.BytesType):
			if p.message.Metadata == nil {
				p.message.Metadata = make(map[string]string, 2)
			}
			ok = mapEntry(f.octets, p.message.Metadata)
		case f.is(3, protowire.BytesType):
			p.message.CustomMetadata = f.octets
		case f.is(4, protowire.BytesType):
			p.message.Data = f.octets
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
	p.content.ProposedMessage = &p.message
	into.Content = &p.content
	return true
}
