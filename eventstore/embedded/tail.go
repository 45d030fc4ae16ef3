package embedded

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Bounds of the tail. A live subscriber that lags further behind reads pages from the database again.
const (
	tailEvents = 1 << 14
	tailBytes  = 16 << 20
)

// tail keeps the newest events in memory and wakes the subscribers that wait. publish never waits for a reader. Safe
// for concurrent use.
type tail struct {
	last atomic.Int64 // last published position

	mu      sync.Mutex
	ring    []record // ring[position % len]; the zero record where the event was removed
	first   int64    // oldest position held
	bytes   int
	changed chan struct{} // closed at the next publish; nil when no subscriber waits
	watched map[string]*watchedStream
	filled  chan struct{} // woken when a block is full (typeBlocks)
	doubts  int           // reasons for which another node may have the log
	doubted chan struct{} // closed while there are any
}

// newTail makes an empty tail after the last position of the log.
func newTail(last int64) *tail {
	t := &tail{ring: make([]record, tailEvents), first: last + 1, watched: map[string]*watchedStream{},
		filled: make(chan struct{}, 1), doubted: make(chan struct{})}
	t.last.Store(last)
	return t
}

// publish adds committed events. Their positions must follow the last one without a gap.
func (t *tail) publish(rows []record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.last.Load()
	full := last >> blockBits
	for i := range rows {
		last = rows[i].position
		if last-t.first >= tailEvents {
			t.evict()
		}
		t.ring[last%tailEvents] = rows[i]
		t.bytes += rows[i].size()
		if len(t.watched) > 0 {
			t.watched[rows[i].stream].add(last, t.first)
		}
	}
	for t.bytes > tailBytes && t.first <= last {
		t.evict()
	}
	t.last.Store(last)
	if last>>blockBits > full {
		loop.Wake(t.filled)
	}
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
}

// doubt ends the wait of all subscribers after some time, and of those that come later, until it is settled that the
// log is still that of this node.
func (t *tail) doubt(after time.Duration) (settled func()) {
	over := false
	timer := time.AfterFunc(after, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if over {
			return
		}
		over = true
		if t.doubts++; t.doubts == 1 {
			close(t.doubted)
		}
	})
	return func() {
		timer.Stop()
		t.mu.Lock()
		defer t.mu.Unlock()
		if over {
			if t.doubts--; t.doubts == 0 {
				t.doubted = make(chan struct{})
			}
		}
		over = true
	}
}

// doubtful is closed while the log may go on at another node.
func (t *tail) doubtful() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.doubted
}

// evict forgets the oldest event and its bytes.
func (t *tail) evict() {
	slot := &t.ring[t.first%tailEvents]
	t.bytes -= slot.size()
	*slot = record{}
	t.first++
}

// drop forgets events that were removed from the log, so that memory gives no more than the log has.
func (t *tail) drop(positions []int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.last.Load()
	for _, p := range positions {
		if p < t.first || p > last {
			continue
		}
		slot := &t.ring[p%tailEvents]
		t.bytes -= slot.size()
		*slot = record{}
		t.bytes += slot.size()
	}
}

// after copies the events after a position into buf, as many as fit the size and at least one. held is false when some
// of them are no longer in memory. When there is no event yet, more is closed at the next publish.
func (t *tail) after(position int64, size extent, buf []record) (rows []record, more <-chan struct{}, held bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if position+1 < t.first {
		return nil, nil, false
	}
	last := t.last.Load()
	bytes := 0
	for p := position + 1; p <= last && len(buf) < size.rows; p++ {
		row := &t.ring[p%tailEvents]
		if row.position != p {
			continue
		}
		if bytes += row.size(); bytes > size.bytes && len(buf) > 0 {
			break
		}
		buf = append(buf, *row)
	}
	if len(buf) == 0 {
		if t.changed == nil {
			t.changed = make(chan struct{})
		}
		more = t.changed
	}
	return buf, more, true
}
