package calendar_test

import (
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

func TestPeriod_KnowsItsFourUnits(t *testing.T) {
	t.Parallel()
	for _, p := range []calendar.Period{calendar.Hour, calendar.Day, calendar.Week, calendar.Month} {
		if !p.Known() {
			t.Errorf("%s is unknown", p)
		}
	}
	for _, p := range []calendar.Period{"", "year", "Month"} {
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
