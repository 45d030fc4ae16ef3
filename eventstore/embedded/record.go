package embedded

import (
	"time"

	"github.com/google/uuid"
)

// record is one event of the log. It does not change after it was published, and its slices may be shared.
type record struct {
	position int64 // place in $all, from 1, dense until events are removed
	revision int64 // number in the stream, from 0; tombstoneRevision for a tombstone
	streamID int64 // number of the stream in the table of streams
	stream   string
	kind     string // event type
	id       uuid.UUID
	isJSON   bool
	created  int64 // ticks of 100 ns since the UNIX epoch
	metadata []byte
	data     []byte
}

// size is about the number of bytes of memory that a record takes.
func (r *record) size() int {
	return len(r.stream) + len(r.kind) + len(r.metadata) + len(r.data) + 120
}

// ticks converts an instant to the protocol's unit: 100 ns since the UNIX epoch.
func ticks(t time.Time) int64 {
	return t.Unix()*10_000_000 + int64(t.Nanosecond())/100
}
