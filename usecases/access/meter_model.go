package accesscases

import (
	"context"
	"maps"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
)

// Name is the name of the model in logs.
func (m *Meter) Name() string { return "access_meter" }

// Handles implements runner.MemoryModel.
func (m *Meter) Handles() []string {
	return []string{
		events.OrganizationCreated{}.EventType(), events.BillingSettingsAdopted{}.EventType(),
		events.SubscriptionCreated{}.EventType(), events.SubscriptionEnded{}.EventType(),
		events.SubscriptionPlanChanged{}.EventType(),
		events.FirstSessionBegan{}.EventType(), events.CapWarned{}.EventType(), events.CapReached{}.EventType(),
		events.CapReset{}.EventType(), events.CapPeriodMoved{}.EventType(), events.TopUpAdded{}.EventType(),
		events.UsagePeriodClosed{}.EventType(), events.VoucherBatchMade{}.EventType(),
		events.VoucherRedeemed{}.EventType(), events.VoucherVoided{}.EventType(),
	}
}

// Leave implements runner.PartialModel. What cannot be read may be another cap as well as what was used, so nobody of
// the organization is slowed down any more.
func (m *Meter) Leave(org id.Organization) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left[org] = true
	maps.DeleteFunc(m.lines, func(_ id.Subscription, l *meterLine) bool { return l.subject.OrgID == org })
}

// Apply implements runner.MemoryModel.
func (m *Meter) Apply(e events.Envelope) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left[e.Meta.OrgID] {
		return
	}
	switch v := e.Event.(type) {
	case events.OrganizationCreated:
		m.inZone(v.OrgID, v.Billing.Timezone)
	case events.BillingSettingsAdopted:
		m.inZone(v.OrgID, v.Billing.Timezone)
	case events.SubscriptionCreated:
		if m.lines[v.SubscriptionID] == nil {
			m.lines[v.SubscriptionID] = &meterLine{cap: v.Terms.Access.Cap, subject: events.UsageSubject{
				SubscriptionID: v.SubscriptionID, OrgID: v.OrgID, SubscriberID: v.SubscriberID,
			}}
		}
	case events.SubscriptionPlanChanged:
		if line := m.lines[v.SubscriptionID]; line != nil {
			line.cap = v.Terms.Access.Cap
			m.want(line)
			loop.Wake(m.wake)
		}
	case events.SubscriptionEnded:
		delete(m.lines, v.SubscriptionID)
	case events.VoucherBatchMade:
		if cap := v.Terms.Access.Cap; cap.Bytes > 0 {
			m.caps[v.BatchID] = &batchCap{cap, v.Count}
		}
	case events.VoucherRedeemed:
		cap := m.capOf(v.BatchID, e.Revision == 0) // else it was voided before
		m.redeemed(v, cap, e.Meta.At)
	case events.VoucherVoided:
		m.capOf(v.BatchID, !v.Redeemed)
		delete(m.lines, id.As[id.Subscription](v.VoucherID))
	case events.UsageEvent:
		if line := m.lines[events.UsageSubjectOf(v).SubscriptionID]; line != nil {
			line.usage = m.evolve(line.usage, v)
		}
	}
}

// capOf is the cap of a voucher of a batch; none after the batch was forgotten, and for one without. first says that
// nothing was recorded of the voucher before: a batch is forgotten with the last of them. The caller holds the lock.
func (m *Meter) capOf(batch id.VoucherBatch, first bool) events.Cap {
	known := m.caps[batch]
	if known == nil {
		return events.Cap{}
	}
	if first {
		known.left--
	}
	if known.left <= 0 {
		delete(m.caps, batch)
	}
	return known.Cap
}

// redeemed follows a voucher that has a cap until it has ended for sure; those that have are forgotten. What it used
// may have been told before its sign-in was recorded, so it is counted once. Its first use is an event of its own, so
// none is wanted here.
func (m *Meter) redeemed(v events.VoucherRedeemed, cap events.Cap, recorded time.Time) {
	if now, ok := m.passed.Look(recorded, m.cfg.Clock.Now()); ok {
		maps.DeleteFunc(m.lines, func(_ id.Subscription, l *meterLine) bool {
			return !l.ends.IsZero() && !now.Before(l.ends)
		})
	}
	subject := events.VoucherUsage(v.OrgID, v.VoucherID)
	if cap.Bytes == 0 || m.lines[subject.SubscriptionID] != nil {
		return
	}
	line := &meterLine{subject: subject, cap: cap, usage: access.Usage{Began: true}, ends: v.EndsAt}
	m.lines[subject.SubscriptionID] = line
	m.want(line)
	loop.Wake(m.wake)
}

// inZone notes the zone in which an organization's days begin. When it changes, all caps are compared anew.
func (m *Meter) inZone(org id.Organization, name string) {
	zone := calendar.ZoneOrUTC(name)
	before := m.zones[org]
	m.zones[org] = zone
	if before != nil && before.String() != zone.String() {
		m.check = true
		loop.Wake(m.wake)
	}
}

// zone is the zone of an organization. The caller holds the lock.
func (m *Meter) zone(org id.Organization) *time.Location {
	if zone := m.zones[org]; zone != nil {
		return zone
	}
	return time.UTC
}

// rollup names one column of totals of an organization.
type rollup struct {
	org    id.Organization
	step   telemetry.Step
	starts calendar.Date
}

// checkAll compares all caps with the totals of their present periods when that was asked for. When some totals cannot
// be read it does so again after a pause. It reports false when all have to wait.
func (m *Meter) checkAll(ctx context.Context) bool {
	list := m.toCheck()
	failed, all := false, true
	for _, r := range list {
		used, err := m.cfg.Store.Totals(ctx, r.org, r.step, r.starts)
		if err == nil {
			m.Take(used)
			continue
		}
		m.cfg.Logger.WarnContext(ctx, "usage not checked", "organization_id", r.org.String(), "error", err)
		if failed = true; ctx.Err() != nil || outage(err) {
			all = false
			break
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if failed {
		m.checks.put(m.steady.Now())
	} else if len(list) > 0 {
		m.checks = aside{}
	}
	return all
}

// toCheck lists the totals to compare; none when nobody asked for it. A period that ends at another instant than it is
// recorded, since the zone has changed, is wanted at once.
func (m *Meter) toCheck() []rollup {
	now := m.cfg.Clock.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.check {
		return nil
	}
	m.check = false
	seen := map[rollup]bool{}
	var list []rollup
	for _, line := range m.lines {
		if line.cap.Bytes == 0 {
			continue
		}
		present := line.cap.PeriodAt(now, m.zone(line.subject.OrgID))
		r := rollup{line.subject.OrgID, telemetry.Step(present.Period), present.Starts}
		if !seen[r] {
			seen[r] = true
			list = append(list, r)
		}
		recorded := line.usage.Period
		if recorded.Period != "" && now.Before(recorded.ResetsAt) && !recorded.ResetsAt.Equal(present.ResetsAt) {
			m.want(line)
		}
	}
	return list
}

// usedIn reads what a subscription has used in a period, in bytes of both directions. Without a period it is nothing.
func usedIn(
	ctx context.Context, store *telemetry.Store, s events.UsageSubject, p events.CapPeriod,
) (calendar.Date, int64, error) {
	if p.Period == "" {
		return calendar.Date{}, 0, nil
	}
	rows, err := store.Usage(ctx, s.OrgID, telemetry.UsageOf{Subscription: s.SubscriptionID},
		telemetry.Step(p.Period), p.Starts, p.Starts.AddDays(1))
	var used int64
	for _, row := range rows {
		used += row.BytesDown + row.BytesUp
	}
	return p.Starts, used, err
}
