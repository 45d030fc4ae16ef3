package access

import (
	"fmt"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// maxTopUps bounds what all top-ups of one period add, in bytes. It is as much as a cap may have.
const maxTopUps = 1 << 50

// decideUsage only dispatches.
func decideUsage(s Usage, c commands.UsageCommand, now time.Time) ([]events.UsageEvent, error) {
	switch c := c.(type) {
	case commands.CountTraffic:
		return decideCountTraffic(s, c, now)
	case commands.ResetCap:
		if !s.Reached || s.Period.Starts != c.Starts || now.Before(s.Period.ResetsAt) {
			return nil, nil
		}
		return []events.UsageEvent{s.reset(events.ResetPeriodOver, s.stand(), now)}, nil
	case commands.AddTopUp:
		return decideAddTopUp(s, c, now)
	case commands.GrantTopUp:
		return decideGrantTopUp(s, c, now)
	}
	return nil, nil
}

// usageRun collects what one command makes happen, and the state after it.
type usageRun struct {
	Usage
	out []events.UsageEvent
	now time.Time
}

// take adds an event and applies it.
func (r *usageRun) take(e events.UsageEvent) {
	r.Usage, r.out = evolveUsage(r.Usage, e), append(r.out, e)
}

// decideCountTraffic records the first session, and each grade of use once in a period. It also ends a cap whose period
// is over, and one that a changed plan has made larger than what was used.
func decideCountTraffic(s Usage, c commands.CountTraffic, now time.Time) ([]events.UsageEvent, error) {
	s.Subject = c.Subject
	r := &usageRun{Usage: s, now: now}
	if !s.Began && !c.FirstSeen.IsZero() {
		r.take(events.FirstSessionBegan{UsageSubject: c.Subject, BeganAt: c.FirstSeen.UTC(), At: now})
	}
	period, err := r.enter(c.Terms)
	if err != nil {
		return nil, err
	}
	count := r.count(c.Terms.Cap, period, c.Starts, c.Used)
	switch g := grade(count); {
	case r.Reached && g < reached:
		r.take(r.reset(events.ResetPlanChanged, count, now))
	case r.Reached:
	case g == reached:
		r.take(events.CapReached{UsageSubject: c.Subject, CapPeriod: period, CapCount: count, At: now})
	case g == warned && (!r.Warned || !r.Period.Same(period)):
		r.take(events.CapWarned{UsageSubject: c.Subject, CapPeriod: period, CapCount: count, At: now})
	}
	return r.out, nil
}

// decideAddTopUp adds to the present period, or orders what is to be paid before. Source:
// docs/rules/access-usage.md#top-ups.
func decideAddTopUp(s Usage, c commands.AddTopUp, now time.Time) ([]events.UsageEvent, error) {
	if s.knows(c.TopUpID) {
		return nil, nil
	}
	if c.Terms.Cap.Bytes == 0 {
		return nil, commands.ErrNoCap()
	}
	s.Subject = c.Subject
	r := &usageRun{Usage: s, now: now}
	period, err := r.enter(c.Terms)
	if err != nil {
		return nil, err
	}
	count := r.count(c.Terms.Cap, period, c.Starts, c.Used)
	var f failure.Faults
	f.Check(count.Allowed-c.Terms.Cap.Bytes <= maxTopUps-c.Bytes, "bytes",
		"must be at most %d with the other top-ups of the period", int64(maxTopUps))
	if err := f.Err(); err != nil {
		return nil, err
	}
	invoice, reason := id.Derive[id.Invoice]("top_up", c.TopUpID.String()), personal.Of(c.Reason)
	if c.WhenPaid && c.Price.Positive() {
		r.take(events.TopUpOrdered{
			UsageSubject: c.Subject, TopUpID: c.TopUpID, Bytes: c.Bytes, CapPeriod: period, Reason: reason,
			Price: c.Price, InvoiceID: invoice, At: now,
		})
		return r.out, nil
	}
	e := events.TopUpAdded{
		UsageSubject: c.Subject, TopUpID: c.TopUpID, Bytes: c.Bytes, CapPeriod: period, CapCount: count,
		Reason: reason, At: now,
	}
	if c.Price.Positive() {
		e.Price, e.InvoiceID = c.Price, invoice
	}
	r.add(e)
	return r.out, nil
}

// decideGrantTopUp adds to the present period what was ordered, perhaps in an earlier one, and is paid. It refuses
// nothing: the money is there.
func decideGrantTopUp(s Usage, c commands.GrantTopUp, now time.Time) ([]events.UsageEvent, error) {
	if s.knows(c.TopUpID) {
		return nil, nil
	}
	s.Subject = c.Subject
	r := &usageRun{Usage: s, now: now}
	period, err := r.enter(c.Terms)
	if err != nil {
		return nil, err
	}
	r.add(events.TopUpAdded{
		UsageSubject: c.Subject, TopUpID: c.TopUpID, Bytes: c.Bytes, CapPeriod: period,
		CapCount: r.count(c.Terms.Cap, period, c.Starts, c.Used), Price: c.Price, InvoiceID: c.InvoiceID, Paid: true,
		At: now,
	})
	return r.out, nil
}

// knows reports whether a top-up was added to the state's period.
func (s Usage) knows(topUp id.TopUp) bool {
	return slices.ContainsFunc(s.TopUps, func(t TopUp) bool { return t.ID == topUp })
}

// add takes a top-up whose count is the one before it, and ends the cap when more is allowed now than was used.
func (r *usageRun) add(e events.TopUpAdded) {
	e.Allowed += e.Bytes
	r.take(e)
	if r.Reached && grade(e.CapCount) < reached {
		r.take(r.reset(events.ResetTopUp, e.CapCount, r.now))
	}
}

// enter gives the period that counts now. It ends a cap that was reached in another one, and records another end of the
// same one.
func (r *usageRun) enter(t commands.CapTerms) (events.CapPeriod, error) {
	zone, err := calendar.Zone(t.Timezone)
	if err != nil {
		return events.CapPeriod{}, fmt.Errorf("zone of the cap: %w", err)
	}
	present, before := t.Cap.PeriodAt(r.now, zone), r.Period
	// A zone further west can bring back the day before. What was counted and topped up then stays in its period.
	tomorrow := calendar.On(r.now, zone).AddDays(1)
	if present.Period == before.Period && present.Starts.Before(before.Starts) && !tomorrow.Before(before.Starts) {
		present = events.NewCapPeriod(before.Period, before.Starts, zone)
	}
	switch {
	case before.Period == "":
	case present.Same(before):
		if !present.ResetsAt.Equal(before.ResetsAt) {
			r.take(events.CapPeriodMoved{UsageSubject: r.Subject, CapPeriod: present, At: r.now})
		}
	case !r.Reached:
	case present.Period != before.Period:
		r.take(r.reset(events.ResetPlanChanged, r.stand(), r.now))
	default:
		r.take(r.reset(events.ResetPeriodOver, r.stand(), r.now))
	}
	return present, nil
}

// count compares the use of a period with what a cap and the period's top-ups allow. A count that another program took
// earlier never lowers it, and one of another period is left out.
func (s Usage) count(cap events.Cap, period events.CapPeriod, starts calendar.Date, used int64) events.CapCount {
	c := events.CapCount{Then: cap.Then, Throttle: cap.Throttle}
	if cap.Bytes == 0 {
		return c
	}
	c.Allowed = cap.Bytes
	if starts == period.Starts {
		c.Used = used
	}
	if s.Period.Same(period) {
		c.Used, c.Allowed = max(c.Used, s.Used), c.Allowed+s.added()
	}
	return c
}

// stand is the count that the state has, without what the plan allows.
func (s Usage) stand() events.CapCount { return events.CapCount{Used: s.Used} }

// reset is the event that ends the cap of the state's period.
func (s Usage) reset(why events.CapResetReason, c events.CapCount, now time.Time) events.CapReset {
	return events.CapReset{UsageSubject: s.Subject, CapPeriod: s.Period, CapCount: c, Reason: why, At: now}
}
