package telemetry

import "time"

// Tells reports whether the latest look at a router tells what it shows at an instant: it compared, and the looks since
// are not missing. every is the time between two looks.
func (l Look) Tells(at time.Time, every time.Duration) bool {
	if l.LookedAt == nil || l.UnseenSince != nil {
		return false
	}
	age := at.Sub(*l.LookedAt) // below zero for one from when the clock was ahead
	return age >= -lookSlack && age <= 2*every+lookSlack
}
