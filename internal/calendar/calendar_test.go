package calendar_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
)

// nairobi is a zone without summer time, three hours before UTC.
func nairobi(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Africa/Nairobi")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func TestPeriodAfter_AnniversaryClampsAndReturns(t *testing.T) {
	t.Parallel()
	zone := nairobi(t)
	at := time.Date(2026, time.January, 31, 14, 30, 0, 0, zone)
	for _, want := range []string{"2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31"} {
		at = calendar.Month.After(at, 31, zone)
		if got := at.In(zone).Format("2006-01-02"); got != want {
			t.Fatalf("next period begins on %s; want %s", got, want)
		}
		if got := at.In(zone).Format("15:04"); got != "14:30" {
			t.Fatalf("next period begins at %s; want 14:30", got)
		}
	}
}

// TestPeriodNext_QuartersAndYearsClampAndReturn: a period from the last day of a month returns to this day.
func TestPeriodNext_QuartersAndYearsClampAndReturn(t *testing.T) {
	t.Parallel()
	zone := nairobi(t)
	for _, c := range []struct {
		period calendar.Period
		begun  time.Time
		ends   []string
	}{
		{
			calendar.Quarter, time.Date(2026, time.November, 30, 14, 30, 0, 0, zone),
			[]string{"2027-02-28", "2027-05-30", "2027-08-30", "2027-11-30", "2028-02-29", "2028-05-30"},
		},
		{
			calendar.Quarter, time.Date(2026, time.August, 31, 14, 30, 0, 0, zone),
			[]string{"2026-11-30", "2027-02-28", "2027-05-31"},
		},
		{
			calendar.Year, time.Date(2028, time.February, 29, 14, 30, 0, 0, zone),
			[]string{"2029-02-28", "2030-02-28", "2031-02-28", "2032-02-29"},
		},
	} {
		next, after := c.begun, c.begun
		for _, want := range c.ends {
			next = c.period.Next(next, c.begun.Day(), c.begun, zone)
			after = c.period.After(after, c.begun.Day(), zone)
			if got := next.In(zone).Format("2006-01-02 15:04"); got != want+" 14:30" || !after.Equal(next) {
				t.Errorf("%s from %s: %s and %s, want %s", c.period, c.begun, got, after.In(zone), want)
			}
		}
	}
}

func TestPeriodAfter_ShortPeriods(t *testing.T) {
	t.Parallel()
	zone, at := nairobi(t), time.Date(2026, time.December, 31, 20, 0, 0, 0, time.UTC)
	for period, want := range map[calendar.Period]time.Time{
		calendar.Hour: at.Add(time.Hour), calendar.Day: at.Add(24 * time.Hour),
		calendar.Week:  at.Add(7 * 24 * time.Hour),
		calendar.Month: time.Date(2027, time.January, 31, 20, 0, 0, 0, time.UTC),
	} {
		if got := period.After(at, 0, zone); !got.Equal(want) {
			t.Errorf("a %s after %s is %s; want %s", period, at, got, want)
		}
	}
}

func TestPeriodAfter_DayFollowsTheClockOverDaylightSaving(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/London")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, time.March, 28, 12, 0, 0, 0, zone)
	if got := calendar.Day.After(at, 0, zone).Sub(at); got != 23*time.Hour {
		t.Errorf("the day of the change has %s; want 23h", got)
	}
}

func TestDate_LocalDayOfAnInstant(t *testing.T) {
	t.Parallel()
	late := time.Date(2026, time.November, 20, 22, 30, 0, 0, time.UTC)
	if got := calendar.On(late, nairobi(t)).String(); got != "2026-11-21" {
		t.Errorf("it is %s in Nairobi; want 2026-11-21", got)
	}
	if got := calendar.On(late, nairobi(t)).Start(nairobi(t)); !got.Equal(time.Date(2026, time.November, 20, 21, 0, 0,
		0, time.UTC)) {
		t.Errorf("the day began at %s", got)
	}
}

func TestParseDate_RefusesWhatIsNoDay(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"2026-02-30", "2026-2-3", "20260203", "2026-02-03T00:00:00Z", ""} {
		if got, err := calendar.ParseDate(text); err == nil {
			t.Errorf("ParseDate(%q) = %v; want an error", text, got)
		}
	}
	if d, err := calendar.ParseDate("2026-12-31"); err != nil || d.AddDays(1).String() != "2027-01-01" ||
		!d.Before(d.AddDays(1)) {
		t.Errorf("the day after 2026-12-31 is %v (%v)", d.AddDays(1), err)
	}
}

func TestDate_StartsWhenItsFirstInstantIs(t *testing.T) {
	t.Parallel()
	for name, day := range map[string]calendar.Date{
		"Africa/Nairobi": {Year: 2026, Month: 3, Day: 2}, "Africa/Cairo": {Year: 2024, Month: 4, Day: 26},
		"America/Havana": {Year: 2024, Month: 3, Day: 10}, "Atlantic/Azores": {Year: 2024, Month: 3, Day: 31},
		"America/Asuncion": {Year: 2024, Month: 10, Day: 6},
	} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		start := day.Start(zone)
		if calendar.On(start, zone) != day || !calendar.On(start.Add(-time.Nanosecond), zone).Before(day) {
			t.Errorf("%s: %s starts at %s", name, day, start.In(zone))
		}
	}
}

func TestDate_ComparesByYearThenMonthThenDay(t *testing.T) {
	t.Parallel()
	inOrder := []calendar.Date{
		{}, {Year: 2025, Month: 12, Day: 31}, {Year: 2026, Month: 1, Day: 2}, {Year: 2026, Month: 1, Day: 30},
		{Year: 2026, Month: 2, Day: 1}, {Year: 2027, Month: 1, Day: 1},
	}
	for i, a := range inOrder {
		for j, b := range inOrder {
			if a.Before(b) != (i < j) {
				t.Errorf("%q before %q: %t", a, b, a.Before(b))
			}
		}
	}
}

func TestDate_NoDateIsWrittenAsNothingAndReadBack(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]calendar.Date{
		"": {}, "2026-03-02": {Year: 2026, Month: 3, Day: 2}, "0999-12-31": {Year: 999, Month: 12, Day: 31},
	} {
		got := calendar.Date{Year: 1, Month: 1, Day: 1}
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q is read as %v, %v", text, got, err)
		}
		written, err := want.MarshalText()
		if err != nil || string(written) != text || want.String() != text || want.IsZero() != (text == "") {
			t.Errorf("%v is written as %q, %v", want, written, err)
		}
	}
	kept := calendar.Date{Year: 2026, Month: 3, Day: 2}
	if err := kept.UnmarshalText([]byte("2026-13-01")); err == nil || kept.Day != 2 {
		t.Errorf("a day that does not exist is read as %v, %v", kept, err)
	}
}

func TestDate_AddDaysGoesBackAndOverMonths(t *testing.T) {
	t.Parallel()
	from := calendar.Date{Year: 2024, Month: 3, Day: 1}
	for days, want := range map[int]string{0: "2024-03-01", -1: "2024-02-29", 31: "2024-04-01", -366: "2023-03-01"} {
		if got := from.AddDays(days).String(); got != want {
			t.Errorf("%d days after %s is %s, want %s", days, from, got, want)
		}
	}
}

func TestPeriod_KnowsItsUnits(t *testing.T) {
	t.Parallel()
	for _, p := range []calendar.Period{
		calendar.Hour, calendar.Day, calendar.Week, calendar.Month, calendar.Quarter, calendar.Year,
	} {
		if !p.Known() {
			t.Errorf("%s is unknown", p)
		}
	}
	for _, p := range []calendar.Period{"", "decade", "Month"} {
		if p.Known() {
			t.Errorf("%q is known", p)
		}
	}
}

func TestPeriodAfter_KeepsTheTimeOfDayToTheNanosecond(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, time.January, 15, 13, 14, 15, 16, time.UTC)
	for anchor, want := range map[int]time.Time{
		0: time.Date(2026, time.February, 15, 13, 14, 15, 16, time.UTC),
		1: time.Date(2026, time.February, 1, 13, 14, 15, 16, time.UTC),
	} {
		if got := calendar.Month.After(at, anchor, time.UTC); !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("with anchor %d: %s, want %s", anchor, got, want)
		}
	}
}

func TestPeriodNext_ASkippedHourMovesItsOwnPeriodOnly(t *testing.T) {
	t.Parallel()
	type end struct{ anchor, begun, first, second string } // local times
	for zone, units := range map[string]map[calendar.Period]end{
		"Africa/Cairo": { // on 26 April 2024 the clock goes from 00:00 to 01:00
			calendar.Month: {"26", "2024-03-26 00:30", "2024-04-26 01:30", "2024-05-26 00:30"},
			calendar.Week:  {"0", "2024-04-19 00:30", "2024-04-26 01:30", "2024-05-03 00:30"},
			calendar.Day:   {"0", "2024-04-25 00:30", "2024-04-26 01:30", "2024-04-27 00:30"},
			calendar.Hour:  {"0", "2024-04-25 23:30", "2024-04-26 01:30", "2024-04-26 02:30"},
		},
		"America/Havana": { // on 10 March 2024 from 00:00 to 01:00, west of Greenwich
			calendar.Month: {"10", "2024-02-10 00:30", "2024-03-10 01:30", "2024-04-10 00:30"},
			calendar.Day:   {"0", "2024-03-09 00:30", "2024-03-10 01:30", "2024-03-11 00:30"},
		},
		"Europe/London": { // on 31 March 2024 from 01:00 to 02:00
			calendar.Month: {"31", "2024-02-29 01:30", "2024-03-31 02:30", "2024-04-30 01:30"},
		},
		"America/Nuuk": { // on 30 March 2024 from 22:00 to 23:00; on 29 March 2025 from 23:00 to midnight
			calendar.Month: {"29", "2025-02-28 23:30", "2025-03-30 00:30", "2025-04-29 23:30"},
			calendar.Week:  {"0", "2025-03-22 23:30", "2025-03-30 00:30", "2025-04-05 23:30"},
			calendar.Day:   {"0", "2025-03-28 23:30", "2025-03-30 00:30", "2025-03-30 23:30"},
		},
	} {
		place, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		for unit, want := range units {
			begun, err := time.ParseInLocation("2006-01-02 15:04", want.begun, place)
			if err != nil {
				t.Fatal(err)
			}
			anchor, err := strconv.Atoi(want.anchor)
			if err != nil {
				t.Fatal(err)
			}
			first := unit.Next(begun, anchor, begun, place)
			second := unit.Next(first, anchor, begun, place)
			for i, pair := range [][2]string{
				{first.In(place).Format("2006-01-02 15:04"), want.first},
				{second.In(place).Format("2006-01-02 15:04"), want.second},
			} {
				if pair[0] != pair[1] {
					t.Errorf("%s: end %d of a %s is %s, want %s", zone, i+1, unit, pair[0], pair[1])
				}
			}
		}
	}
}

func TestPeriodNext_AnEndThatWasMovedBeforeComesBackToItsTime(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Africa/Cairo")
	if err != nil {
		t.Fatal(err)
	}
	at := func(day, hour int) time.Time { return time.Date(2024, time.June, day, hour, 30, 0, 7, zone) }
	for _, c := range []struct {
		begun int // hour of the anniversary
		moved time.Time
		want  time.Time
	}{{0, at(10, 1), at(11, 0)}, {1, at(10, 0), at(11, 1)}, {23, at(10, 0), at(10, 23)}, {0, at(9, 23), at(11, 0)}} {
		begun := time.Date(2024, time.January, 3, c.begun, 30, 0, 7, zone)
		if got := calendar.Day.Next(c.moved, 0, begun, zone); !got.Equal(c.want) || got.Location() != time.UTC {
			t.Errorf("a day from %s ends %s, want %s", c.moved, got.In(zone), c.want)
		}
	}
}
