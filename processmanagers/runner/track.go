package processrunner

import (
	"context"
	"sync"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// tracker keeps the low-water mark of events that are handled in parallel: every event up to the mark is done. Safe for
// concurrent use.
type tracker struct {
	mu      sync.Mutex
	open    []*mark // in the order of the log
	seen    uint64  // every wanted event up to here was begun
	done    uint64  // the low-water mark
	changed chan struct{}

	seenMark eventstore.Mark // the newest event up to seen that is known; none = no newer one than before
	doneMark eventstore.Mark // the newest event up to done that is known
}

// mark is one event that was begun.
type mark struct {
	at       eventstore.Mark
	finished bool
}

// reset forgets all events and sets the low-water mark to a position, at the start of a round.
func (t *tracker) reset(position uint64, at eventstore.Mark) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open, t.seen, t.done = nil, position, position
	t.seenMark, t.doneMark = at, at
	t.announce()
}

// begin adds an event; call it in the order of the log.
func (t *tracker) begin(e *events.Envelope) *mark {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := &mark{at: eventstore.Mark{Position: e.Position, ID: e.ID}}
	t.open = append(t.open, m)
	return m
}

// finish marks an event as done and moves the low-water mark when it can.
func (t *tracker) finish(m *mark) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m.finished = true
	t.settle()
}

// look notes that every wanted event up to a position was begun, and the newest event up to there, if it is known.
func (t *tracker) look(position uint64, at eventstore.Mark) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen, t.seenMark = position, at
	t.settle()
}

// settle moves the low-water mark past finished events. The caller holds the lock.
func (t *tracker) settle() {
	before := t.done
	for len(t.open) > 0 && t.open[0].finished {
		t.done = t.open[0].at.Position
		t.pass(t.open[0].at)
		t.open = t.open[1:]
	}
	if len(t.open) == 0 {
		t.done = max(t.done, t.seen)
		t.pass(t.seenMark)
	}
	if t.done != before {
		t.announce()
	}
}

// pass notes the newest event up to the low-water mark. The caller holds the lock.
func (t *tracker) pass(at eventstore.Mark) {
	if !at.IsZero() && at.Position > t.doneMark.Position {
		t.doneMark = at
	}
}

// announce wakes all waiters. The caller holds the lock.
func (t *tracker) announce() {
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
}

// low is the position up to which every event is done.
func (t *tracker) low() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.done
}

// checkpoint is low, with the newest event up to there that is known.
func (t *tracker) checkpoint() (low uint64, at eventstore.Mark) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.done, t.doneMark
}

// wait returns when the low-water mark has reached a position, or ctx ended.
func (t *tracker) wait(ctx context.Context, position uint64) error {
	for {
		t.mu.Lock()
		if t.done >= position {
			t.mu.Unlock()
			return nil
		}
		if t.changed == nil {
			t.changed = make(chan struct{})
		}
		changed := t.changed
		t.mu.Unlock()
		if !loop.Wait(ctx, changed) {
			return ctx.Err()
		}
	}
}

// lanes make the inputs of one instance pass one by one, in the order in which they entered. The zero value is ready.
// Safe for concurrent use.
type lanes struct {
	mu   sync.Mutex
	last map[string]chan struct{} // by key: closed when the newest turn is left
}

// turn is one place in the lane of a key.
type turn struct {
	lanes  *lanes
	key    string
	before <-chan struct{} // closed when the turn before is left; nil for the first one
	own    chan struct{}
	left   bool
}

// enter takes the last place in the lane of a key. The caller must leave the turn, or the lane is blocked.
func (l *lanes) enter(key string) *turn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil {
		l.last = map[string]chan struct{}{}
	}
	t := &turn{lanes: l, key: key, own: make(chan struct{})}
	if before, ok := l.last[key]; ok {
		t.before = before
	}
	l.last[key] = t.own
	return t
}

// wait returns when all turns before were left. All users of the lanes share ctx: when it ends, every wait fails.
func (t *turn) wait(ctx context.Context) error {
	if t.before != nil {
		select {
		case <-t.before:
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// leave lets the next turn of the lane pass. To leave again does nothing.
func (t *turn) leave() {
	t.lanes.mu.Lock()
	defer t.lanes.mu.Unlock()
	if t.left {
		return
	}
	t.left = true
	close(t.own)
	if t.lanes.last[t.key] == t.own {
		delete(t.lanes.last, t.key)
	}
}
