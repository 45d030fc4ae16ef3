package bookscases

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// heldRuns are the billing runs of an organization that wait for a person: until then no period becomes due, also of
// later days.
type heldRuns struct {
	held  map[id.BillingRun]bool
	since time.Time // when one was released or finished last; zero = never
}

// take enters an event of a billing run.
func (r *heldRuns) take(at time.Time, e events.BillingRunEvent) {
	switch e := e.(type) { // complete: gochecksumtype, no default
	case events.BillingRunHeld:
		r.held[e.RunID] = true
	case events.BillingRunReleased:
		delete(r.held, e.RunID)
		r.since = at
	case events.BillingRunFinished:
		if r.held[e.RunID] {
			delete(r.held, e.RunID)
			r.since = at
		}
	case events.BillingRunRequested, events.BillingRunBegan:
	}
}
