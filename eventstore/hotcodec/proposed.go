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
	e, ok := p.id.event(outer.octets)
	if !ok {
		return false
	}
	p.message.Id, p.message.Metadata = e.id, e.metadata
	p.message.CustomMetadata, p.message.Data = e.custom, e.data
	p.content.ProposedMessage = &p.message
	into.Content = &p.content
	return true
}
