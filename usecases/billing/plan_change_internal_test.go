package billingcases

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
)

// More days than a month has are not said to be a part of it.
func TestChangeLines_ManyMonthsReadWell(t *testing.T) {
	t.Parallel()
	from := calendar.Date{Year: 2026, Month: time.January, Day: 31}
	lines := changeLines([]events.PlanChangeLine{
		{PlanName: "Home", From: from, To: from.AddDays(9), Days: 10, Of: 28},
		{PlanName: "Home", From: from, To: from.AddDays(364), Days: 365, Of: 28},
	})
	for i, want := range []string{
		"Home, 2026-01-31 to 2026-02-09 (10 of 28 days)",
		"Home, 2026-01-31 to 2027-01-30 (365 days, at 28 days a month)",
	} {
		if lines[i].Description != want {
			t.Errorf("%q, want %q", lines[i].Description, want)
		}
	}
}
