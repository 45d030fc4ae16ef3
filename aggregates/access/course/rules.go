// Package course says when a customer who does not pay is reminded, walled in, suspended and proposed for a write-off.
// It is one pure function of a policy and a history, without clock and storage. The process that acts, the board that
// shows what comes next, and the preview that runs another policy over the past all use it, so that they always agree.
//
// A due instant begins a course, and every payment that settles what is due ends it. Grace days run from the due
// instant, days in the walled garden from the instant at which it really began. Pauses (holds, and times in which the
// customer could not pay or had no line) stop the clock. A cut that falls into a time without cuts happens at the first
// instant after it. Source:
// docs/rules/access-dunning.md#instants.
package course

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
)

// Rules are a policy with the calendar of an organization, prepared for many subscriptions. They are immutable and safe
// for concurrent use. The zero value is of no use: NewRules makes them.
type Rules struct {
	policy   events.DunningPolicy
	zone     *time.Location
	holidays map[calendar.Date]bool
	// noCutFrom is the time of day from which nobody is cut until midnight, by time.Weekday; 24:00 = cuts are allowed
	// on the whole day.
	noCutFrom [7]calendar.TimeOfDay
}

// endOfDay is 24:00.
const endOfDay calendar.TimeOfDay = 24 * 60

// NewRules prepares a policy that commands.CheckDunningPolicy accepts: one day of the week must allow cuts.
func NewRules(p events.DunningPolicy, zone *time.Location, holidays []calendar.Date) Rules {
	r := Rules{policy: p, zone: zone}
	if p.SkipHolidays && len(holidays) > 0 {
		r.holidays = make(map[calendar.Date]bool, len(holidays))
		for _, d := range holidays {
			r.holidays[d] = true
		}
	}
	for d := range r.noCutFrom {
		r.noCutFrom[d] = endOfDay
		if from, ok := p.NoCutAfter[events.WeekdayOf(time.Weekday(d))]; ok {
			r.noCutFrom[d] = from
		}
		for _, blocked := range p.NoCutDays {
			if blocked == events.WeekdayOf(time.Weekday(d)) {
				r.noCutFrom[d] = 0
			}
		}
	}
	return r
}

// WithoutGrace are the rules for plans by hour or day that name no policy: they end at the instant until which they are
// paid, at any hour, and nobody is reminded of it (docs/rules/access-dunning.md#small-debts).
func (r Rules) WithoutGrace() Rules {
	r.policy.ReminderDays, r.policy.GraceDays, r.policy.WalledGardenDays, r.holidays = nil, 0, 0, nil
	for d := range r.noCutFrom {
		r.noCutFrom[d] = endOfDay
	}
	return r
}

// reminderDays are the days relative to the due date on which customers are reminded. Prepaid has days of its own
// (docs/rules/messaging.md#reminders); a policy without days reminds nobody.
func (r Rules) reminderDays(prepaid bool) []int {
	if prepaid && len(r.policy.ReminderDays) > 0 {
		return []int{-3, -1, 0}
	}
	return r.policy.ReminderDays
}

// MayCut is the first instant, at or after the given one, at which a customer may be cut off, in UTC.
func (r Rules) MayCut(at time.Time) time.Time {
	for {
		day := calendar.On(at, r.zone)
		from := r.noCutFrom[at.In(r.zone).Weekday()]
		if r.holidays[day] {
			from = 0
		}
		if from == endOfDay || from > 0 && at.Before(day.At(from, r.zone)) {
			return at.UTC()
		}
		at = day.AddDays(1).Start(r.zone)
	}
}

// daysLater is the same local time some days later. The start of a day leads to the start of a day. A time that a
// change to summer time skips becomes the instant of the change.
func (r Rules) daysLater(at time.Time, days int) time.Time {
	if days == 0 {
		return at.UTC()
	}
	local := at.In(r.zone)
	day := calendar.On(at, r.zone)
	if day.Start(r.zone).Equal(at) {
		return day.AddDays(days).Start(r.zone)
	}
	h, m, s := local.Clock()
	at = time.Date(day.Year, day.Month, day.Day+days, h, m, s, local.Nanosecond(), r.zone)
	wanted := time.Date(day.Year, day.Month, day.Day+days, h, m, s, local.Nanosecond(), time.UTC)
	_, offset := at.Zone()
	shown := at.Add(time.Duration(offset) * time.Second)
	change, next := at.ZoneBounds()
	switch { // time.Date may fall on either side of a change that skips the wanted time
	case shown.After(wanted):
		return change.UTC()
	case shown.Before(wanted):
		return next.UTC()
	}
	return at.UTC()
}

// dueDate is the last local day before the due instant: customers are asked to pay by the end of it.
func (r Rules) dueDate(due time.Time) calendar.Date { return calendar.On(due.Add(-1), r.zone) }
