package embedded

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc/codes"
)

// Memory of writes, from the first message of an append until its answer.
const (
	writeBytes    = 128 << 20       // of all appends together
	eventOverhead = 64              // bytes that are counted for an event beside its body
	loadPatience  = 5 * time.Second // how long an append waits for memory; it may itself hold what others wait for
)

// load counts the memory that one append holds. Not safe for concurrent use. A nil load counts nothing.
type load struct {
	memory *semaphore.Weighted
	held   int64
}

// errBusy answers an append for which there is no memory. It has not been written.
var errBusy = &refusal{code: codes.Aborted, message: "too many bytes are being written at once; try again"}

// newLoad begins to count an append.
func (n *Node) newLoad() *load { return &load{memory: n.writes} }

// weigh counts events that have been received already.
func (n *Node) weigh(ctx context.Context, events []proposal) (*load, error) {
	l, bytes := n.newLoad(), 0
	for i := range events {
		bytes += len(events[i].data) + len(events[i].metadata) + eventOverhead
	}
	return l, l.grow(ctx, bytes)
}

// grow takes memory for more bytes and waits for it if necessary. When it fails, the load is free.
func (l *load) grow(ctx context.Context, bytes int) error {
	if !l.memory.TryAcquire(int64(bytes)) {
		limited, cancel := context.WithTimeout(ctx, loadPatience)
		defer cancel()
		if l.memory.Acquire(limited, int64(bytes)) != nil {
			l.free()
			if ctx.Err() != nil {
				return fromContext(ctx.Err())
			}
			return errBusy
		}
	}
	l.held += int64(bytes)
	return nil
}

// free gives all memory back.
func (l *load) free() {
	if l != nil && l.held > 0 {
		l.memory.Release(l.held)
		l.held = 0
	}
}
