package commands

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// MaxBillingDay is the last day of the month that a plan can be billed on: every month has it.
const MaxBillingDay = 28

// MaxSessions is the highest limit of sessions that a plan may have.
const MaxSessions = 16

// Limits of a plan's access terms.
const (
	maxRate         = 100_000_000 // kbit/s
	maxBurstSeconds = 300
	maxCapBytes     = 1 << 50
	maxWindows      = 28
	dayMinutes      = 24 * 60
	weekMinutes     = 7 * dayMinutes
)

// Forms of names in a plan's terms. A pool's name goes to the router as it is.
var (
	poolForm   = regexp.MustCompile(`^[!-~]{1,64}$`)
	policyForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$`)
)

// checkTerms checks a plan's terms field by field.
func checkTerms(f *failure.Faults, t events.PlanTerms) {
	checkName(f, t.Name)
	f.Check(t.Kind == "pppoe" || t.Kind == "hotspot", "kind", "must be pppoe or hotspot")
	f.Check(!t.Price.Negative(), "price", "must not be negative")
	f.Check(t.Price.Cmp(money.Major(maxPrice, t.Price.Currency)) <= 0, "price", "must be at most %d", maxPrice)
	f.Check(t.Mode == events.Prepaid || t.Mode == events.Postpaid, "billing.mode", "must be prepaid or postpaid")
	late := t.LateRenewal.WithDefault()
	f.Check(late == events.FromPayment || late == events.FromExpiry, "lateRenewal", "must be payment or expiry")
	part := t.PartialPayment.WithDefault()
	f.Check(part == events.PartIsCredit || part == events.PartIsDays, "partialPayment", "must be credit or days")
	f.Check(part != events.PartIsDays || t.AnchorDay == 0, "partialPayment",
		"must be credit where a billing day is fixed: days would end on another one")
	f.Check(slices.Contains([]events.SuspendedBilling{events.BillAll, events.BillNothing, events.BillUsedDays},
		t.BillWhileSuspended.WithDefault()), "billWhileSuspended", "must be yes, no or days")
	f.Check(t.Period.Known(), "billing.period", "must be hour, day, week, month, quarter or year")
	f.Check(t.AnchorDay >= 0 && t.AnchorDay <= MaxBillingDay, "billing.anchor",
		"must be anniversary, or a day from 1 to %d", MaxBillingDay)
	f.Check(t.AnchorDay == 0 || t.Period == calendar.Month, "billing.anchor",
		"must be anniversary, unless the period is a month")
	speed := events.Speed{Down: t.Rates.Down, Up: t.Rates.Up}
	checkSpeed(f, "rates", speed)
	checkAccess(f, speed, t.Access)
}

// checkAccess checks what only the network needs. speed is that of the plan.
func checkAccess(f *failure.Faults, speed events.Speed, a events.AccessTerms) {
	f.Check(a.SessionLimit >= 0 && a.SessionLimit <= MaxSessions, "sessionLimit", "must be from 1 to %d", MaxSessions)
	f.Check(slices.Contains([]events.OnLimit{"", events.ReplaceSession, events.RefuseSession}, a.OnLimit), "onLimit",
		"must be replace or refuse")
	checkBurst(f, "rates.burst", speed, a.Burst)
	for _, pool := range []struct{ field, name string }{
		{"pool", a.Pool}, {"ipv6.pool", a.IPv6Pool}, {"ipv6.delegatedPool", a.IPv6DelegatedPool},
	} {
		f.Check(pool.name == "" || poolForm.MatchString(pool.name), pool.field,
			"must be the name of a pool in the router: 1 to 64 printable characters without spaces")
	}
	f.Check(a.DunningPolicy == "" || policyForm.MatchString(a.DunningPolicy), "dunningPolicy",
		"must have 1 to 50 letters, digits or . _ -")
	checkCap(f, a.Cap)
	checkSchedule(f, a.Schedule)
}

// checkSpeed checks both directions of a speed that must be there.
func checkSpeed(f *failure.Faults, field string, s events.Speed) {
	f.Check(s.Down > 0 && s.Down <= maxRate, field+".down", "must be from 1 to %d kbit/s", maxRate)
	f.Check(s.Up > 0 && s.Up <= maxRate, field+".up", "must be from 1 to %d kbit/s", maxRate)
}

// checkBurst checks a burst, which may be absent, against the speed that it exceeds.
func checkBurst(f *failure.Faults, field string, s events.Speed, b events.Burst) {
	if b == (events.Burst{}) {
		return
	}
	f.Check(b.Down >= s.Down && b.Down <= maxRate, field+".down", "must be from rates.down to %d kbit/s", maxRate)
	f.Check(b.Up >= s.Up && b.Up <= maxRate, field+".up", "must be from rates.up to %d kbit/s", maxRate)
	f.Check(b.ThresholdDown > 0 && b.ThresholdDown <= b.Down, field+".thresholdDown",
		"must be from 1 kbit/s to the burst's down")
	f.Check(b.ThresholdUp > 0 && b.ThresholdUp <= b.Up, field+".thresholdUp", "must be from 1 kbit/s to the burst's up")
	f.Check(b.Seconds > 0 && b.Seconds <= maxBurstSeconds, field+".seconds", "must be from 1 to %d", maxBurstSeconds)
}

// checkCap checks a cap, which may be absent.
func checkCap(f *failure.Faults, c events.Cap) {
	if c == (events.Cap{}) {
		return
	}
	f.Check(c.Bytes > 0 && c.Bytes <= maxCapBytes, "cap.bytes", "must be from 1 to %d", int64(maxCapBytes))
	f.Check(c.Period == "day" || c.Period == "month", "cap.period", "must be day or month")
	switch c.Then {
	case events.CapThrottle:
		checkSpeed(f, "cap.throttle", c.Throttle)
	case events.CapStop:
		f.Check(c.Throttle == (events.Speed{}), "cap.throttle", "must be absent when the cap stops the service")
	default:
		f.Check(false, "cap.then", "must be throttle or stop")
	}
}

// checkSchedule checks each window, and when all are right, that no two of them overlap in any week.
func checkSchedule(f *failure.Faults, windows []events.ScheduleWindow) {
	right := len(windows) <= maxWindows
	f.Check(right, "schedule", "must have at most %d windows", maxWindows)
	for i, w := range windows {
		field := fmt.Sprintf("schedule.%d", i)
		days := len(w.Days) > 0 && len(w.Days) <= 7
		for _, day := range w.Days {
			days = days && day >= time.Sunday && day <= time.Saturday
		}
		from, to := w.From >= 0 && w.From < dayMinutes, w.To >= 0 && w.To <= dayMinutes && w.To != w.From
		f.Check(days, field+".days", "must have 1 to 7 days of the week, such as monday")
		f.Check(from, field+".from", "must be a time from 00:00 to 23:59")
		f.Check(to, field+".to", "must be a time from 00:00 to 24:00, and differ from the beginning")
		checkSpeed(f, field+".rates", w.Speed)
		checkBurst(f, field+".rates.burst", w.Speed, w.Burst)
		right = right && days && from && to
	}
	f.Check(!right || !overlapping(windows), "schedule", "must not have windows that overlap")
}

// overlapping reports whether two windows have a minute of the week in common. The week is a circle: what begins late
// on Saturday can meet what begins early on Sunday.
func overlapping(windows []events.ScheduleWindow) bool {
	type span struct{ from, to int }
	var spans []span
	for _, w := range windows {
		length := w.To - w.From
		if length <= 0 {
			length += dayMinutes
		}
		for _, day := range w.Days {
			from := int(day)*dayMinutes + w.From
			spans = append(spans, span{from, from + length})
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for i, s := range spans {
		next := spans[0].from + weekMinutes
		if i+1 < len(spans) {
			next = spans[i+1].from
		}
		if next < s.to {
			return true
		}
	}
	return false
}
