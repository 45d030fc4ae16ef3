package directory

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
)

// KnownWithin is how long after the record of a change all programs answer sign-ins by it, with some room for clocks
// that differ.
const KnownWithin = time.Minute

// Entitles reports whether a refusal followed from what the customer was entitled to. One who is entitled now is let in
// with the next try.
func (c Code) Entitles() bool {
	switch c {
	case CodeUnpaid, CodeBlocked, CodePaused, CodeNotStarted, CodeEnded, CodeCapReached:
		return true
	default:
		return false
	}
}

// Wronged reports whether a sign-in was refused for an entitlement although, a minute before, the log had everything
// that gives it: whoever answered did not know what the log has. False for a voucher, and for a subscription that is
// not known or was changed since.
func (d *Directory) Wronged(subscription id.Subscription, code Code, refused time.Time) bool {
	if !code.Entitles() {
		return false
	}
	before := refused.Add(-KnownWithin)
	d.mu.RLock()
	defer d.mu.RUnlock()
	s := d.services[subscription]
	if s == nil || !d.when(s.touched).Before(before) {
		return false
	}
	state := d.state(s)
	for _, at := range []time.Time{before, refused} { // what changes by time alone needs no event
		if entitlement.Of(state, at).Services[0].Access < entitlement.Throttled {
			return false
		}
	}
	return true
}
