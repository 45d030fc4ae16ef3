package embedded

import (
	"context"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
)

// Bounds of one append, apart from the configured limit on its data.
const (
	maxRecordBytes = 16 << 20 // bytes of everything in one append; also the largest message
	maxProposals   = 100_000  // events
)

// proposals collects the events of one append. The first fault is kept; after it, events are only counted.
type proposals struct {
	limit  int
	events []proposal
	data   int // bytes of data
	all    int // bytes of everything
	fault  error
}

// message is a proposed event. Append and BatchAppend have different types for it with the same fields.
type message interface {
	GetId() *shared.UUID
	GetMetadata() map[string]string
	GetCustomMetadata() []byte
	GetData() []byte
}

// add takes the next event, or counts its bytes after a fault. After a fault no event of the append is kept.
func (p *proposals) add(m message) {
	p.all += len(m.GetData()) + len(m.GetCustomMetadata()) + eventOverhead
	if p.fault == nil {
		p.fault = p.check(m)
	}
	if p.fault != nil {
		p.events = nil
	}
}

// addWeighed is add that counts the memory of the events. Having no memory is a fault like others; after a fault the
// memory is free.
func (p *proposals) addWeighed(ctx context.Context, m message, memory *load) {
	before := p.all
	if p.add(m); p.fault == nil {
		p.fault = memory.grow(ctx, p.all-before)
	}
	if p.fault != nil {
		p.events = nil
		memory.free()
	}
}

// check adds the event, unless the event is malformed or too large for the append.
func (p *proposals) check(m message) error {
	md := m.GetMetadata()
	kind, ok := md["type"]
	if !ok {
		return missingMetadata("type")
	}
	contentType, ok := md["content-type"]
	if !ok {
		return missingMetadata("content-type")
	}
	if kind == "" || !storable(kind) {
		return invalidArgument("the event type is empty, not valid UTF-8, contains a NUL or is longer than 1024 bytes")
	}
	id, err := parseUUID(m.GetId())
	if err != nil {
		return err
	}
	// The limit counts data alone, as the real server in effect does.
	if p.data += len(m.GetData()); p.data > p.limit {
		return appendTooLarge(p.limit)
	}
	if p.all > maxRecordBytes || len(p.events) >= maxProposals {
		return invalidArgument("the append is too large for one record")
	}
	p.events = append(p.events, proposal{
		id: id, kind: kind, isJSON: contentType == "application/json", metadata: m.GetCustomMetadata(),
		data: m.GetData(),
	})
	return nil
}
