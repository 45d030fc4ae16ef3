package calendar_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
)

func TestTimeOfDay_IsReadInOneFormOnly(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"00:00", "08:00", "16:30", "23:59", "24:00"} {
		v, err := calendar.ParseTimeOfDay(text)
		if err != nil || v.String() != text {
			t.Errorf("%s: %v %v", text, v, err)
		}
	}
	for _, text := range []string{"", "8:00", "08:0", "24:01", "25:00", "12:60", "noon", "08:00:00", "-1:00"} {
		if v, err := calendar.ParseTimeOfDay(text); err == nil {
			t.Errorf("%q is read as %v", text, v)
		}
	}
}

func TestDateAt_FollowsTheClockOverSummerTime(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ day, clock, want string }{
		{"2026-03-28", "24:00", "2026-03-28T23:00:00Z"},
		{"2026-03-29", "00:00", "2026-03-28T23:00:00Z"},
		{"2026-03-29", "02:30", "2026-03-29T01:30:00Z"}, // skipped: an hour later
		{"2026-03-29", "16:00", "2026-03-29T14:00:00Z"},
		{"2026-10-25", "16:00", "2026-10-25T15:00:00Z"},
		{"2026-10-25", "24:00", "2026-10-25T23:00:00Z"},
	} {
		day, err := calendar.ParseDate(c.day)
		if err != nil {
			t.Fatal(err)
		}
		clock, err := calendar.ParseTimeOfDay(c.clock)
		if err != nil {
			t.Fatal(err)
		}
		if got := day.At(clock, berlin).Format(time.RFC3339); got != c.want {
			t.Errorf("%s %s: want %s, have %s", c.day, c.clock, c.want, got)
		}
	}
}
