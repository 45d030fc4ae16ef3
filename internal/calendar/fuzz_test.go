package calendar_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
)

// FuzzParseDate checks that an accepted text is a day that exists, and that the day is written as the same text.
func FuzzParseDate(f *testing.F) {
	for _, seed := range []string{
		"2026-02-28", "2024-02-29", "2026-02-29", "0000-01-01", "9999-12-31", "2026-2-3", "", "2026-03-02 ",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		day, err := calendar.ParseDate(text)
		if err != nil {
			if !day.IsZero() {
				t.Fatalf("%q is refused and %v", text, day)
			}
			return
		}
		if day.String() != text || calendar.On(day.Start(time.UTC), time.UTC) != day || !day.Before(day.AddDays(1)) ||
			day.AddDays(1).AddDays(-1) != day {
			t.Fatalf("%q is %v, the next day %v", text, day, day.AddDays(1))
		}
		var read calendar.Date
		if err := read.UnmarshalText([]byte(text)); err != nil || read != day {
			t.Fatalf("%q as text of JSON is %v, %v", text, read, err)
		}
	})
}

// FuzzPeriodAfter checks that time never stands still or runs back, and that a month ends at its anniversary.
func FuzzPeriodAfter(f *testing.F) {
	f.Add(int64(1_769_860_800), uint8(31), uint8(0)) // 31 January 2026, noon
	f.Add(int64(1_774_746_000), uint8(0), uint8(1))  // the night in which summer time begins
	f.Add(int64(1_772_366_400), uint8(29), uint8(2))
	var zones []*time.Location
	for _, name := range []string{"Africa/Nairobi", "Europe/London", "Africa/Cairo", "America/Havana"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			f.Fatal(err)
		}
		zones = append(zones, zone)
	}
	f.Fuzz(func(t *testing.T, unix int64, anchor, place uint8) {
		const year2000, year2100 = 946_684_800, 4_102_444_800
		if unix < year2000 || unix > year2100 || anchor > 31 {
			return
		}
		at, zone := time.Unix(unix, 0), zones[int(place)%len(zones)]
		for _, p := range []calendar.Period{calendar.Hour, calendar.Day, calendar.Week, calendar.Month} {
			next := p.After(at, int(anchor), zone)
			if !next.After(at) || next.Sub(at) > 62*24*time.Hour || next.Location() != time.UTC {
				t.Fatalf("a %s after %s in %s is %s", p, at.In(zone), zone, next.In(zone))
			}
			kept := p.Next(at, int(anchor), at, zone)
			if zone == zones[0] && !kept.Equal(next) {
				t.Fatalf("a %s after %s is %s, and with its own time of day %s", p, at.In(zone), next, kept)
			}
			begun := at.Add(-time.Duration(unix%86_400) * time.Second)
			if kept = p.Next(at, int(anchor), begun, zone); !kept.After(at) || kept.Sub(at) > 63*24*time.Hour {
				t.Fatalf("a %s after %s at the time of %s in %s is %s", p, at.In(zone), begun, zone, kept.In(zone))
			}
		}
		local, day := at.In(zone), int(anchor)
		if day == 0 {
			day = local.Day()
		}
		last := time.Date(local.Year(), local.Month()+2, 0, 12, 0, 0, 0, time.UTC)
		want := calendar.Date{Year: last.Year(), Month: last.Month(), Day: min(day, last.Day())}
		next := calendar.On(calendar.Month.After(at, int(anchor), zone), zone)
		if zone == zones[0] && next != want {
			t.Fatalf("a month after %s with the anchor %d is %s, want %s", local, anchor, next, want)
		}
	})
}
