// Package calendar has local dates and billing periods. Which date an instant has depends on the organization's zone;
// the instant itself does not.
package calendar

import (
	"fmt"
	"time"
	_ "time/tzdata" // the zones, also for systems without zone files
)

// Date is a day without a zone. The zero value means no date.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// On is the date that an instant has in a zone.
func On(at time.Time, zone *time.Location) Date {
	y, m, d := at.In(zone).Date()
	return Date{y, m, d}
}

// ParseDate reads YYYY-MM-DD and refuses every other form and days that do not exist.
func ParseDate(text string) (Date, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return Date{}, fmt.Errorf("parse date %q: want YYYY-MM-DD", text)
	}
	return On(t, time.UTC), nil
}

// IsZero reports whether the value means no date.
func (d Date) IsZero() bool { return d == Date{} }

// String is YYYY-MM-DD, or "" for no date.
func (d Date) String() string {
	if d.IsZero() {
		return ""
	}
	return fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day)
}

// Start is the first instant of the day in a zone, in UTC. It is not always midnight, because a change to summer time
// may skip midnight.
func (d Date) Start(zone *time.Location) time.Time {
	midnight := time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, zone)
	if _, change := midnight.ZoneBounds(); On(midnight, zone).Before(d) {
		return change.UTC()
	}
	return midnight.UTC()
}

// moment is the instant at which a day has a time of day in a zone, in UTC. A time of day that a change to summer time
// skips is as much later as the clock is put forward. The time of day must be less than 24 hours.
func (d Date) moment(clock time.Duration, zone *time.Location) time.Time {
	wanted := time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC).Add(clock)
	h, m, s := wanted.Clock()
	at := time.Date(d.Year, d.Month, d.Day, h, m, s, wanted.Nanosecond(), zone)
	if early := wanted.Sub(asUTC(at)); early > 0 { // time.Date may fall on either side of the change
		at = at.Add(early)
	}
	return at.UTC()
}

// asUTC is the instant at which clocks in UTC show what a local clock shows at the given instant.
func asUTC(local time.Time) time.Time {
	y, mo, d := local.Date()
	h, m, s := local.Clock()
	return time.Date(y, mo, d, h, m, s, local.Nanosecond(), time.UTC)
}

// AddDays is the date n days later; a negative n gives an earlier date.
func (d Date) AddDays(n int) Date {
	return On(time.Date(d.Year, d.Month, d.Day+n, 12, 0, 0, 0, time.UTC), time.UTC)
}

// Before compares by the calendar. No date (the zero value) is before every other.
func (d Date) Before(e Date) bool {
	if d.Year != e.Year {
		return d.Year < e.Year
	}
	if d.Month != e.Month {
		return d.Month < e.Month
	}
	return d.Day < e.Day
}

// MarshalText writes YYYY-MM-DD, or "" for no date.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads YYYY-MM-DD, or "" for no date.
func (d *Date) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*d = Date{}
		return nil
	}
	v, err := ParseDate(string(text))
	if err != nil {
		return err
	}
	*d = v
	return nil
}

// Period is the length of a plan's billing period.
type Period string

// The periods of docs/rules/billing.md#half-open-periods and docs/rules/subscribers.md#anniversaries.
const (
	Hour    Period = "hour"
	Day     Period = "day"
	Week    Period = "week"
	Month   Period = "month"
	Quarter Period = "quarter" // 3 months
	Year    Period = "year"    // 12 months
)

// Known reports whether the word is one of the periods.
func (p Period) Known() bool {
	return p.Short() || p == Week || p == Month || p == Quarter || p == Year
}

// Months is how many months a period has. Hours, days and weeks have none; an unknown period counts as a month.
func (p Period) Months() int {
	switch p {
	case Hour, Day, Week:
		return 0
	case Quarter:
		return 3
	case Year:
		return 12
	}
	return 1
}

// Short reports whether the period is an hour or a day.
func (p Period) Short() bool { return p == Hour || p == Day }

// Next is the end of a period that begins at an instant, in the zone's calendar and in UTC. It keeps the anniversary:
// its day of the month, anchorDay, as in After, and the time of day that begun has. Where a change to summer time skips
// that time of day, the period ends as much later as the clock is put forward, and the period after it is on time
// again. Hours have no anniversary.
func (p Period) Next(at time.Time, anchorDay int, begun time.Time, zone *time.Location) time.Time {
	if p == Hour {
		return at.Add(time.Hour).UTC()
	}
	local := asUTC(begun.In(zone))
	clock := local.Sub(local.Truncate(24 * time.Hour))
	const half = 12 * time.Hour // an instant that a change has moved still belongs to the day of its anniversary
	day := On(at.Add(half-clock), zone)
	switch p {
	case Day:
		return day.AddDays(1).moment(clock, zone)
	case Week:
		return day.AddDays(7).moment(clock, zone)
	}
	if anchorDay == 0 {
		anchorDay = day.Day
	}
	end := day.Month + time.Month(p.Months())
	last := On(time.Date(day.Year, end+1, 0, 12, 0, 0, 0, time.UTC), time.UTC) // of the month in which it ends
	last.Day = min(anchorDay, last.Day)
	return last.moment(clock, zone)
}

// After is one period after an instant, in the zone's calendar. The result is in UTC. anchorDay (1 to 31) is the day of
// the month of periods of months; a shorter month uses its last day, and the next period returns to anchorDay. 0 means
// the day of the instant itself. The result has the time of day of the instant, so a period that ended later because of
// a change to summer time moves all after it: only periods that were recorded before Next existed go on like this.
func (p Period) After(at time.Time, anchorDay int, zone *time.Location) time.Time {
	local := at.In(zone)
	switch p {
	case Hour:
		return at.Add(time.Hour).UTC()
	case Day:
		return local.AddDate(0, 0, 1).UTC()
	case Week:
		return local.AddDate(0, 0, 7).UTC()
	}
	if anchorDay == 0 {
		anchorDay = local.Day()
	}
	year, month := local.Year(), local.Month()+time.Month(p.Months())
	last := time.Date(year, month+1, 0, 12, 0, 0, 0, zone).Day()
	h, m, s := local.Clock()
	return time.Date(year, month, min(anchorDay, last), h, m, s, local.Nanosecond(), zone).UTC()
}
