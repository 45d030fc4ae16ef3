package messagingcases

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
)

// daysAhead bounds the search for an hour in which messages go: quiet hours that cover the message hours of every day
// have none.
const daysAhead = 3

// opens is the first instant at or after one at which messages go: within the message hours of the day and not in the
// quiet hours, if any. It is zero when there is none.
func opens(at time.Time, zone *time.Location, hours events.MessageHours, quiet *events.QuietHours) time.Time {
	day := calendar.On(at, zone)
	for range daysAhead {
		start, end := day.At(hours.From, zone), day.At(hours.To, zone)
		if start.Before(at) {
			start = at
		}
		if quiet != nil {
			start = after(*quiet, start, zone)
		}
		if start.Before(end) {
			return start
		}
		day = day.AddDays(1)
	}
	return time.Time{}
}

// after is the instant itself, or the end of the quiet hours in which it lies.
func after(q events.QuietHours, at time.Time, zone *time.Location) time.Time {
	if from, to := calendar.Hours(q).Window(at, zone); !from.IsZero() && !at.Before(from) {
		return to
	}
	return at
}
