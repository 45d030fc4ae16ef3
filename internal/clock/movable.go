package clock

import (
	"sync"
	"time"
)

// Movable is a clock that goes at the pace of another one and can be moved forward, never back. Whoever waits for a
// time of it waits by loop.SleepFor or loop.WaitUntil, so that a move wakes him. Safe for concurrent use.
type Movable struct {
	base Clock

	mu    sync.Mutex
	ahead time.Duration
	moved chan struct{} // closed by the next move, and replaced
}

// NewMovable makes a clock that is ahead of base by a time, or behind it when the time is negative: moves can bring it
// to the present then.
func NewMovable(base Clock, ahead time.Duration) *Movable {
	return &Movable{base: base, ahead: ahead, moved: make(chan struct{})}
}

// Now is the instant of the base and the time by which the clock is ahead, in UTC.
func (m *Movable) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.base.Now().Add(m.ahead)
}

// Ahead is by how much the clock is ahead of its base; negative for one that is behind.
func (m *Movable) Ahead() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ahead
}

// Advance moves the clock forward by d and wakes those who wait for an instant; it does nothing unless d is above zero.
func (m *Movable) Advance(d time.Duration) {
	if d <= 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ahead += d
	close(m.moved)
	m.moved = make(chan struct{})
}

// Moved gives a channel that the next move closes.
func (m *Movable) Moved() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.moved
}

// base gives the clock under a Movable, which no move changes; any other clock is its own base.
func base(c Clock) Clock {
	if m, ok := c.(*Movable); ok {
		return m.base
	}
	return c
}

// Moved gives a channel that is closed when the clock jumps. It is nil, which never ends a wait, for a clock that only
// goes on by itself. Read it before the clock's time: a jump in between is noticed then.
func Moved(c Clock) <-chan struct{} {
	if m, ok := c.(interface{ Moved() <-chan struct{} }); ok {
		return m.Moved()
	}
	return nil
}

// Ahead gives how far a clock is from where it would be without a hand that moves it: negative for one that is behind,
// zero for one that only goes on by itself.
func Ahead(c Clock) time.Duration {
	switch c := c.(type) {
	case *Movable:
		return c.Ahead() + Ahead(c.base)
	case *Manual:
		return c.Ahead()
	}
	return 0
}
