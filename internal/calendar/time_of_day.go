package calendar

import (
	"fmt"
	"time"
)

// TimeOfDay is a time that a local clock shows, in whole minutes since midnight, 0 to 1440. 24:00 is the end of the
// day. The zero value is 00:00.
type TimeOfDay int

// endOfDay is 24:00, the start of the next day.
const endOfDay TimeOfDay = 24 * 60

// ParseTimeOfDay reads HH:MM from 00:00 to 24:00, always with two digits each.
func ParseTimeOfDay(text string) (TimeOfDay, error) {
	if text == "24:00" {
		return endOfDay, nil
	}
	t, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") {
		return 0, fmt.Errorf("parse time of day %q: want HH:MM", text)
	}
	return TimeOfDay(t.Hour()*60 + t.Minute()), nil
}

// String is HH:MM.
func (t TimeOfDay) String() string { return fmt.Sprintf("%02d:%02d", t/60, t%60) }

// MarshalText writes HH:MM.
func (t TimeOfDay) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads HH:MM.
func (t *TimeOfDay) UnmarshalText(text []byte) error {
	v, err := ParseTimeOfDay(string(text))
	if err == nil {
		*t = v
	}
	return err
}

// At is the instant at which a day has a time of day in a zone, in UTC. A time that a change to summer time skips is as
// much later as the clock is put forward. 00:00 is the first instant of the day, and 24:00 that of the next day.
func (d Date) At(t TimeOfDay, zone *time.Location) time.Time {
	switch t {
	case 0:
		return d.Start(zone)
	case endOfDay:
		return d.AddDays(1).Start(zone)
	}
	return d.moment(time.Duration(t)*time.Minute, zone)
}
