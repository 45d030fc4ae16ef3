package embedded

import (
	"bytes"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
)

// errTooLarge refuses an append that takes more memory than one may.
var errTooLarge = invalidArgument("the append is too large for one record")

// Bounds of one append, apart from the configured limit on its data.
const (
	maxRecordBytes = 16 << 20 // bytes of everything in one append
	maxProposals   = 100_000  // events
)

// maxMessageBytes is the size of the largest message, in both directions: as large as a record, with an envelope.
const maxMessageBytes = maxRecordBytes + 1<<20

// maxMetadataBytes bounds the metadata of a stream. The node reads it for each write that it governs, and has that of
// many streams in memory.
const maxMetadataBytes = 64 << 10

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

// aim bounds the data by the stream that it is for.
func (p *proposals) aim(stream string) {
	if isMetastream(stream) {
		p.limit = min(p.limit, maxMetadataBytes)
	}
}

// refuse keeps a fault, unless there is one already. After a fault no event of the append is kept.
func (p *proposals) refuse(fault error) {
	if p.fault == nil {
		p.fault = fault
	}
	p.events = nil
}

// add takes the next event, or counts its bytes after a fault. After a fault no event of the append is kept.
func (p *proposals) add(m message) {
	p.all += len(m.GetData()) + len(m.GetCustomMetadata()) + eventOverhead
	if p.fault == nil {
		if fault := p.check(m); fault != nil {
			p.refuse(fault)
		}
	}
}

// release ends the use of a message of a size in bytes, which has brought the events from one on. Events that are much
// smaller are copied: they would keep the message, whatever else is in it, for as long as they are in memory.
func (p *proposals) release(first, size int) {
	if p.fault != nil || size <= smallMessage {
		return
	}
	kept := 0
	for _, e := range p.events[first:] {
		kept += len(e.data) + len(e.metadata) + eventOverhead
	}
	if size <= 2*kept {
		return
	}
	for i := range p.events[first:] {
		e := &p.events[first+i]
		e.data, e.metadata = bytes.Clone(e.data), bytes.Clone(e.metadata)
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
		return errTooLarge
	}
	p.events = append(p.events, proposal{
		id: id, kind: kind, isJSON: contentType == "application/json", metadata: m.GetCustomMetadata(),
		data: m.GetData(),
	})
	return nil
}
