package reportscases

import (
	"testing"
	"time"
)

// spanCases has an instant in a zone, and where the times that are compared with it begin or end.
var spanCases = map[string]struct {
	zone, now                                string
	today, yesterdaySoFar, lastMonthSoFar    string
	month, lastMonth, tomorrow, yesterdayAll string
}{
	"the first instant of a day": {
		"Africa/Nairobi", "2026-03-19T21:00:00Z", "2026-03-19T21:00:00Z", "2026-03-18T21:00:00Z",
		"2026-02-19T21:00:00Z", "2026-02-28T21:00:00Z", "2026-01-31T21:00:00Z", "2026-03-20T21:00:00Z",
		"2026-03-18T21:00:00Z",
	},
	"the last instant of a day": {
		"Africa/Nairobi", "2026-03-19T20:59:59Z", "2026-03-18T21:00:00Z", "2026-03-18T20:59:59Z",
		"2026-02-19T20:59:59Z", "2026-02-28T21:00:00Z", "2026-01-31T21:00:00Z", "2026-03-19T21:00:00Z",
		"2026-03-17T21:00:00Z",
	},
	"a day that the last month does not have": {
		"Africa/Nairobi", "2026-03-31T09:00:00Z", "2026-03-30T21:00:00Z", "2026-03-30T09:00:00Z",
		"2026-02-28T21:00:00Z", "2026-02-28T21:00:00Z", "2026-01-31T21:00:00Z", "2026-03-31T21:00:00Z",
		"2026-03-29T21:00:00Z",
	},
	"yesterday skipped midnight": { // Beirut begins 29 March 2026 at 01:00
		"Asia/Beirut", "2026-03-29T21:30:00Z", "2026-03-29T21:00:00Z", "2026-03-28T22:30:00Z",
		"2026-02-28T22:00:00Z", "2026-02-28T22:00:00Z", "2026-01-31T22:00:00Z", "2026-03-30T21:00:00Z",
		"2026-03-28T22:00:00Z",
	},
	"yesterday had 25 hours": {
		"Europe/Berlin", "2026-10-26T11:00:00Z", "2026-10-25T23:00:00Z", "2026-10-25T11:00:00Z",
		"2026-09-26T10:00:00Z", "2026-09-30T22:00:00Z", "2026-08-31T22:00:00Z", "2026-10-26T23:00:00Z",
		"2026-10-24T22:00:00Z",
	},
	"January": {
		"Africa/Nairobi", "2026-01-15T09:00:00Z", "2026-01-14T21:00:00Z", "2026-01-14T09:00:00Z",
		"2025-12-15T09:00:00Z", "2025-12-31T21:00:00Z", "2025-11-30T21:00:00Z", "2026-01-15T21:00:00Z",
		"2026-01-13T21:00:00Z",
	},
}

// TestSpans_EndWhereClocksSayTheSame: at midnight, where a month is shorter, where the clock skips midnight, and where
// it is put back.
func TestSpans_EndWhereClocksSayTheSame(t *testing.T) {
	t.Parallel()
	for name, c := range spanCases {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		s := spansOf(now, zone)
		for what, pair := range map[string][2]string{
			"today":              {c.today, s.today.From.UTC().Format(time.RFC3339)},
			"until":              {c.tomorrow, s.today.Until.UTC().Format(time.RFC3339)},
			"yesterday":          {c.yesterdayAll, s.yesterday.From.UTC().Format(time.RFC3339)},
			"yesterday, so far":  {c.yesterdaySoFar, s.yesterdaySoFar.Until.UTC().Format(time.RFC3339)},
			"month":              {c.month, s.month.From.UTC().Format(time.RFC3339)},
			"last month":         {c.lastMonth, s.lastMonth.From.UTC().Format(time.RFC3339)},
			"last month, so far": {c.lastMonthSoFar, s.lastMonthSoFar.Until.UTC().Format(time.RFC3339)},
		} {
			if pair[0] != pair[1] {
				t.Errorf("%s: %s is %s, want %s", name, what, pair[1], pair[0])
			}
		}
		if s.yesterday.Until != s.today.From || s.lastMonth.Until != s.month.From || s.month.Until != s.today.Until {
			t.Errorf("%s: a time has a gap: %+v", name, s)
		}
	}
}
