package directory

import (
	"cmp"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
)

// mark is when a change was recorded.
type mark struct {
	recorded time.Time // as the event says
	applied  time.Time // here, by pace
}

// mark is that of the event that is being applied.
func (d *Directory) mark() mark { return mark{recorded: d.act.At, applied: d.pace.Now()} }

// when is the instant of a change by the clock as it is now: an event says a later one where the clock was ahead when
// it was recorded, but no change was recorded after it was applied.
func (d *Directory) when(m mark) time.Time {
	applied := d.cfg.Clock.Now().Add(m.applied.Sub(d.pace.Now()))
	if applied.Before(m.recorded) {
		return applied
	}
	return m.recorded
}

// Unchanged reports whether nothing has changed what a subscription or a voucher is entitled to between two instants,
// neither an event nor the time.
func (d *Directory) Unchanged(subscription id.Subscription, since, until time.Time) bool {
	v, batch := d.vouchers.look(id.As[id.Voucher](subscription))
	d.mu.RLock()
	defer d.mu.RUnlock()
	if batch != nil {
		zone := cmp.Or(d.organizations[batch.org], time.UTC)
		return d.when(d.rezoned[batch.org]).Before(since) && v.unchanged(batch, zone, since, until)
	}
	s := d.services[subscription]
	if s == nil || !d.when(s.touched).Before(since) || !d.when(d.rezoned[s.org]).Before(since) {
		return false
	}
	return nothingNext(d.state(s), since, until)
}

// unchanged reports whether nothing has changed what a voucher gives between two instants. Before its first sign-in it
// gave the same; its cap counts anew with each period.
func (u voucher) unchanged(b *voucherBatch, zone *time.Location, since, until time.Time) bool {
	since = later(since, u.first)
	cap := b.terms.Access.Cap
	switch {
	case u.first.IsZero() || u.void():
		return u.voided.Before(since)
	case u.used != nil && !u.used.Since.Before(since),
		!cap.PeriodAt(since, zone).Same(cap.PeriodAt(until, zone)):
		return false
	}
	return nothingNext(u.state(b, zone), since, until)
}

// nothingNext reports whether time alone changes nothing between two instants.
func nothingNext(state entitlement.State, since, until time.Time) bool {
	next := entitlement.NextChange(state, since)
	return next.IsZero() || next.After(until)
}
