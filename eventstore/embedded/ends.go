package embedded

import (
	"context"
	"sync"
	"time"
)

// Bounds of the shared look-ups of heads.
const (
	endsTogether = 1                      // statements at the same time: more would leave less to share
	endsMost     = 256                    // reads that share one statement
	endsPatience = 300 * time.Millisecond // for the statement under way: one that hangs must hold no other read
	endsLimit    = 10 * time.Second       // of a statement, which looks into two indexes
)

// ends reads the heads of streams for readers that know a stream up to a revision and ask for what came after. Mostly
// nothing did, and then the head is all that the read needs. Reads that come while others are under way share the next
// statement, so a reader never gets a head from before its call. Safe for concurrent use.
type ends struct {
	slots chan struct{} // one element for each statement under way

	mu   sync.Mutex
	next *endsBatch // takes further reads; nil = none waits
}

// endsBatch is the reads that share a statement. heads and err are set when done is closed.
type endsBatch struct {
	streams []string
	reads   int
	done    chan struct{}
	heads   map[string]head
	err     error
}

// newEnds has no read under way.
func newEnds() *ends { return &ends{slots: make(chan struct{}, endsTogether)} }

// join adds a read of some streams to the batch that waits. The first one of a batch has to start it.
func (e *ends) join(streams []string) (b *endsBatch, first bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.next == nil || e.next.reads == endsMost {
		e.next, first = &endsBatch{done: make(chan struct{})}, true
	}
	b = e.next
	b.streams, b.reads = append(b.streams, streams...), b.reads+1
	return b, first
}

// leave keeps a batch from taking further reads.
func (e *ends) leave(b *endsBatch) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.next == b {
		e.next = nil
	}
}

// end reads a stream's view by a shared statement.
func (l *logReader) end(ctx context.Context, stream string) (view, error) {
	b, first := l.ends.join(related(stream))
	if first {
		go l.runEnds(context.WithoutCancel(ctx), b) // others wait for it too, also when this call has ended
	}
	select {
	case <-b.done:
	case <-ctx.Done():
		return view{}, fromContext(ctx.Err())
	}
	if b.err != nil {
		return view{}, b.err
	}
	return l.viewOf(stream, b.heads), nil
}

// runEnds runs the statement of a batch, when there is a place for one more or the one before takes long.
func (l *logReader) runEnds(ctx context.Context, b *endsBatch) {
	patience := time.NewTimer(endsPatience)
	defer patience.Stop()
	select {
	case l.ends.slots <- struct{}{}:
		defer func() { <-l.ends.slots }()
	case <-patience.C:
	}
	l.ends.leave(b)
	defer close(b.done)
	ctx, cancel := context.WithTimeout(ctx, endsLimit)
	defer cancel()
	b.err = l.retry(ctx, func() (err error) {
		b.heads, err = loadHeads(ctx, l.pool, l.queries.heads, b.streams, false)
		return err
	})
	if ctx.Err() != nil {
		b.err = errNoDatabase
	}
}
