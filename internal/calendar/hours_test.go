package calendar_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
)

func TestHours_FindTheirWindowOverMidnightAndSummerTime(t *testing.T) {
	t.Parallel()
	berlin, err := calendar.Zone("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, at, begins, ends string }{
		{"02:00", "05:00", "2026-01-10T01:30:00+01:00", "2026-01-10T02:00:00+01:00", "2026-01-10T05:00:00+01:00"},
		{"02:00", "05:00", "2026-01-10T02:00:00+01:00", "2026-01-10T02:00:00+01:00", "2026-01-10T05:00:00+01:00"},
		{"02:00", "05:00", "2026-01-10T05:00:00+01:00", "2026-01-11T02:00:00+01:00", "2026-01-11T05:00:00+01:00"},
		{"22:00", "04:00", "2026-01-10T03:59:00+01:00", "2026-01-09T22:00:00+01:00", "2026-01-10T04:00:00+01:00"},
		{"22:00", "04:00", "2026-01-10T12:00:00+01:00", "2026-01-10T22:00:00+01:00", "2026-01-11T04:00:00+01:00"},
		{"00:00", "24:00", "2026-01-10T12:00:00+01:00", "2026-01-10T00:00:00+01:00", "2026-01-11T00:00:00+01:00"},
		// The clock is put forward at 02:00, and back at 03:00.
		{"01:00", "04:00", "2026-03-29T01:30:00+01:00", "2026-03-29T01:00:00+01:00", "2026-03-29T04:00:00+02:00"},
		{"02:10", "03:00", "2026-03-29T00:00:00+01:00", "2026-03-30T02:10:00+02:00", "2026-03-30T03:00:00+02:00"},
		{"01:00", "04:00", "2026-10-25T00:30:00+02:00", "2026-10-25T01:00:00+02:00", "2026-10-25T04:00:00+01:00"},
	} {
		from, to := parsed(t, c.from), parsed(t, c.to)
		begins, ends := calendar.Hours{From: from, To: to}.Window(instant(t, c.at), berlin)
		if !begins.Equal(instant(t, c.begins)) || !ends.Equal(instant(t, c.ends)) {
			t.Errorf("%s-%s at %s: %s to %s, want %s to %s", c.from, c.to, c.at, begins, ends, c.begins, c.ends)
		}
	}
}

// parsed is the time of day of a text such as 02:30.
func parsed(t *testing.T, text string) calendar.TimeOfDay {
	t.Helper()
	at, err := calendar.ParseTimeOfDay(text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// instant is that of a text such as 2026-01-10T02:00:00+01:00.
func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}
