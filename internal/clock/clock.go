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

// Manual is a clock that moves only when told to. Safe for concurrent use.
type Manual struct {
	mu  sync.Mutex
	now time.Time
}

// NewManual makes a clock that stands at an instant.
func NewManual(at time.Time) *Manual { return &Manual{now: at.UTC()} }

// Now is the instant set last, in UTC, until the next call of Advance or Set.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Advance moves the clock by d. Nothing that waits on real time is woken.
func (m *Manual) Advance(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
}

// Set moves the clock to an instant, forward or back.
func (m *Manual) Set(at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = at.UTC()
}
