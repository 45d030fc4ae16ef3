// Package clock is the source of time: engines are given a Clock, and tests give them one that they move by hand.
package clock

import (
	"sync"
	"time"
)

// Clock returns the present time, in UTC.
type Clock interface{ Now() time.Time }

// System reads the time of the machine, which most other packages must not do themselves.
func System() Clock { return system{} }

// system has no state, so every value of it is the same clock.
type system struct{}

func (system) Now() time.Time { return time.Now().UTC() }

// Steady gives the clock under c for measuring: when somebody sets the machine's clock, the difference of two of its
// instants stays what it was. An instant alone means no more than one of c.
func Steady(c Clock) Clock {
	if under := base(c); under != System() {
		return under
	}
	return steady{}
}

// steady keeps the reading that nobody sets, which System cannot: UTC takes it away.
type steady struct{}

func (steady) Now() time.Time { return time.Now() }

// Manual is a clock that moves only when told to. Safe for concurrent use.
type Manual struct {
	began time.Time

	mu    sync.Mutex
	now   time.Time
	back  time.Duration // the sum of all moves back
	moved chan struct{} // closed by the next move, and replaced
}

// NewManual makes a clock that stands at an instant.
func NewManual(at time.Time) *Manual {
	return &Manual{began: at.UTC(), now: at.UTC(), moved: make(chan struct{})}
}

// Ahead is the sum of all moves; negative when the clock was set back to before its first instant.
func (m *Manual) Ahead() time.Duration { return m.Now().Sub(m.began) }

// Now is the instant set last, in UTC, until the next call of Advance or Set.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Moved gives a channel that the next call of Advance or Set closes.
func (m *Manual) Moved() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.moved
}

// Advance moves the clock by d.
func (m *Manual) Advance(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.move(m.now.Add(d))
}

// move sets the time and wakes those who wait for an instant; the lock is held.
func (m *Manual) move(to time.Time) {
	m.back += max(m.now.Sub(to), 0)
	m.now = to
	close(m.moved)
	m.moved = make(chan struct{})
}

// Set moves the clock to an instant, forward or back.
func (m *Manual) Set(at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.move(at.UTC())
}
