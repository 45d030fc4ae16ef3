package directory

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
)

// Unchanged reports whether nothing has changed what a subscription is entitled to between two instants, neither an
// event nor the time. A voucher changes by its use alone, which its stamp tells.
func (d *Directory) Unchanged(subscription id.Subscription, since, until time.Time) bool {
	if _, batch := d.vouchers.look(id.As[id.Voucher](subscription)); batch != nil {
		return true
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	s := d.services[subscription]
	if s == nil || !s.touched.Before(since) {
		return false
	}
	next := entitlement.NextChange(d.state(s), since)
	return next.IsZero() || next.After(until)
}
