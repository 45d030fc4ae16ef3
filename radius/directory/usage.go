package directory

import "github.com/lastmile-isp/lastmile/events"

// usageEvents are the events about caps that change what a subscription may use.
func usageEvents() []string {
	return []string{
		events.CapReached{}.EventType(), events.CapReset{}.EventType(), events.CapPeriodMoved{}.EventType(),
	}
}

// applyUsage applies an event about a cap; false for other events.
func (d *Directory) applyUsage(e events.Envelope) bool {
	v, ours := e.Event.(events.UsageEvent)
	switch {
	case !ours:
	case events.UsageSubjectOf(v).OfVoucher():
		d.vouchers.use(v, e.ID)
	default:
		d.change(events.UsageSubjectOf(v).SubscriptionID, func(s *service) { s.used = s.used.After(v, e.ID) })
	}
	return ours
}
