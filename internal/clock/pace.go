package clock

import "time"

// Pace gives a clock for lengths of time by c, such as pauses and ages. It goes on with c and is moved ahead with it,
// but somebody who sets the machine's clock does not change it. The difference of two of its instants has a meaning; an
// instant alone has none.
func Pace(c Clock) Clock {
	switch c := c.(type) {
	case *Movable:
		return movablePace{base: Pace(c.base), ahead: c.Ahead}
	case *Manual:
		return manualPace{c}
	}
	return steady{}
}

// movablePace adds all moves to the pace of the clock under a Movable.
type movablePace struct {
	base  Clock
	ahead func() time.Duration
}

// Now implements Clock.
func (p movablePace) Now() time.Time { return p.base.Now().Add(p.ahead()) }

// manualPace is the pace of a Manual: one that was set back stands for a machine's clock that somebody set.
type manualPace struct{ of *Manual }

// Now implements Clock.
func (p manualPace) Now() time.Time {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	return p.of.now.Add(p.of.back)
}
