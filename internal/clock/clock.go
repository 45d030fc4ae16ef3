// Package clock is where time comes from: engines get a Clock, tests give them one that they move by hand.
package clock

import (
	"sync"
	"time"
)

// Clock tells the time, in UTC.
type Clock interface{ Now() time.Time }

// System is the machine's clock.
func System() Clock { return system{} }

// system is the machine's clock.
type system struct{}

func (system) Now() time.Time { return time.Now().UTC() }

// Manual is a clock that moves only when told to. Safe for concurrent use.
type Manual struct {
	mu  sync.Mutex
	now time.Time
}

// NewManual starts a manual clock.
func NewManual(at time.Time) *Manual { return &Manual{now: at.UTC()} }

// Now is the time set last.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Advance moves the clock forward.
func (m *Manual) Advance(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
}

// Set moves the clock to an instant.
func (m *Manual) Set(at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = at.UTC()
}
