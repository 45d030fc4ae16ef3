package calendar

import "time"

// BillingMonth is the time from one fixed billing day to the next, in whole days of a zone.
type BillingMonth struct {
	First, Next Date // the billing day on or before an instant, and the one after it
}

// BillingMonthAt is the month of a billing day, from 1 to 28, in which an instant lies.
func BillingMonthAt(at time.Time, day int, zone *time.Location) BillingMonth {
	first := On(at, zone)
	if first.Day < day {
		first = first.addMonths(-1)
	}
	first.Day = day
	next := first.addMonths(1)
	return BillingMonth{First: first, Next: next}
}

// Days is the number of days of the month.
func (m BillingMonth) Days() int { return DaysBetween(m.First, m.Next) }

// addMonths keeps the day, so it must exist in the other month.
func (d Date) addMonths(n int) Date {
	return On(time.Date(d.Year, d.Month+time.Month(n), d.Day, 12, 0, 0, 0, time.UTC), time.UTC)
}

// DaysBetween counts the days from one date, inclusive, to another, exclusive. It is negative when the other is
// earlier.
func DaysBetween(from, to Date) int {
	noon := func(d Date) time.Time { return time.Date(d.Year, d.Month, d.Day, 12, 0, 0, 0, time.UTC) }
	return int(noon(to).Sub(noon(from)) / (24 * time.Hour))
}
