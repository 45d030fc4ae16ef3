package clock

import "time"

// passedEvery is the time between two looks of a Passed.
const passedEvery = 24 * time.Hour

// Passed tells which time has passed for sure, to who forgets by it what is over. What an event says has passed by the
// clock of the program that recorded it, and that clock, or this machine's, may be ahead. So only what the log and this
// machine agree on counts, at two looks that are a day apart by them. The zero value has not looked yet.
type Passed struct{ seen time.Time }

// Look is told when an event was recorded, and the present time of this machine. Once a day of these it reports true,
// with the instant that has passed for sure; that is at least a day behind.
func (p *Passed) Look(recorded, now time.Time) (passed time.Time, ok bool) {
	seen := earlier(recorded, now)
	if seen.Sub(p.seen).Abs() < passedEvery {
		return time.Time{}, false
	}
	passed, p.seen = earlier(p.seen, seen), seen
	return passed, true
}

// earlier is the earlier one of two instants.
func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
