package processrunner

import (
	"context"
	"sync"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// tracker knows the low-water mark of events that are worked on in parallel: every event up to it is done. Safe for
// concurrent use.
type tracker struct {
	mu      sync.Mutex
	open    []*mark // in the order of the log
	seen    uint64  // no wanted event up to here is missing from open
	done    uint64  // the low-water mark
	changed chan struct{}
}

// mark is one event that was begun.
type mark struct {
	position uint64
	finished bool
}

// reset starts again after a position.
func (t *tracker) reset(position uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open, t.seen, t.done = nil, position, position
	t.announce()
}

// begin notes an event.
func (t *tracker) begin(position uint64) *mark {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := &mark{position: position}
	t.open = append(t.open, m)
	return m
}

// finish notes that an event is done.
func (t *tracker) finish(m *mark) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m.finished = true
	t.settle()
}

// look notes that everything wanted up to a position was begun.
func (t *tracker) look(position uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen = position
	t.settle()
}

// settle moves the low-water mark; the lock is held.
func (t *tracker) settle() {
	before := t.done
	for len(t.open) > 0 && t.open[0].finished {
		t.done = t.open[0].position
		t.open = t.open[1:]
	}
	if len(t.open) == 0 {
		t.done = max(t.done, t.seen)
	}
	if t.done != before {
		t.announce()
	}
}

// announce wakes who waits; the lock is held.
func (t *tracker) announce() {
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
}

// low is the low-water mark.
func (t *tracker) low() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.done
}

// wait returns when the low-water mark has reached a position.
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

// lanes let inputs of one instance pass one by one, in the order in which they entered. The zero value is ready.
type lanes struct {
	mu   sync.Mutex
	last map[string]chan struct{} // closed when the last one of a key has left
}

// turn is a place in a lane.
type turn struct {
	lanes  *lanes
	key    string
	before <-chan struct{} // nil: nobody was there
	own    chan struct{}
}

// enter takes the place behind everybody of the key. The turn must be left.
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

// wait returns when everybody before has left. All users of the lanes share ctx: when it ends, none goes on.
func (t *turn) wait(ctx context.Context) error {
	if t.before != nil {
		select {
		case <-t.before:
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// leave lets the next one pass.
func (t *turn) leave() {
	t.lanes.mu.Lock()
	defer t.lanes.mu.Unlock()
	close(t.own)
	if t.lanes.last[t.key] == t.own {
		delete(t.lanes.last, t.key)
	}
}
