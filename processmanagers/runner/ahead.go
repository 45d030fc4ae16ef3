package processrunner

import (
	"context"
	"errors"
	"sync"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// How much of the log processes hold in memory: the events that were read and are not taken yet, by their stored size.
// A burst of one organization up to about this size delays no other one.
const (
	aheadBytes = 64 << 20       // of all processes together
	aheadMost  = aheadBytes / 2 // of one process, so that the others can look beyond a burst too
	aheadSure  = 1 << 20        // what one process may have whatever the others hold, so that each goes on
	eventCost  = 1 << 10        // what an event takes beside its content
	eventGuess = 4 << 10        // the size of an event whose size is not known
)

// budget is the memory that all processes share for what they have read ahead. Safe for concurrent use.
type budget struct {
	mu      sync.Mutex
	used    int           // bytes
	changed chan struct{} // closed when some was given back; nil when nobody waits
}

// hold is the part of a budget that one round of a process has. Safe for concurrent use.
type hold struct {
	of    *budget
	bytes int // guarded by the lock of the budget, as ended is
	ended bool
}

// errHoldEnded reports that the round has ended for which the memory was asked.
var errHoldEnded = errors.New("the round has ended")

// cost is the number of bytes that an event of a stored size takes.
func cost(size int) int {
	if size == 0 {
		size = eventGuess
	}
	return size + eventCost
}

// take waits for n bytes. It fails when ctx or the hold has ended.
func (h *hold) take(ctx context.Context, n int) error {
	for {
		ok, changed, err := h.try(n)
		if ok || err != nil {
			return err
		}
		if !loop.Wait(ctx, changed) {
			return ctx.Err()
		}
	}
}

// try takes n bytes if they are free. Otherwise changed is closed when some were given back.
func (h *hold) try(n int) (ok bool, changed <-chan struct{}, err error) {
	b := h.of
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case h.ended:
		return false, nil, errHoldEnded
	case h.bytes < aheadSure, h.bytes+n <= aheadMost && b.used+n <= aheadBytes:
		h.bytes += n
		b.used += n
		return true, nil, nil
	}
	if b.changed == nil {
		b.changed = make(chan struct{})
	}
	return false, b.changed, nil
}

// give gives n bytes back. After the end of the hold it does nothing.
func (h *hold) give(n int) {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	if !h.ended {
		h.free(n)
	}
}

// end gives everything back.
func (h *hold) end() {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	h.ended = true
	h.free(h.bytes)
}

// free gives n bytes back and wakes everybody who waits. The caller holds the lock of the budget.
func (h *hold) free(n int) {
	h.bytes -= n
	h.of.used -= n
	if h.of.changed != nil {
		close(h.of.changed)
		h.of.changed = nil
	}
}
