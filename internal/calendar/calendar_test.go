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
