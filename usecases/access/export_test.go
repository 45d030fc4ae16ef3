package accesscases

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// Round makes a meter that was not started do once what it does when it runs.
func (m *Meter) Round(ctx context.Context) bool { return m.round(ctx) }

// Served is served, for tests of the rule alone.
var Served = served

// DaysOf tells how days were, by events and by the times in which the router could not be reached, until an instant.
func DaysOf(
	list []events.Envelope, in DaysInput, zone *time.Location, away []events.TimeSpan, now time.Time,
) []Day {
	asked := events.TimeSpan{From: in.From.Start(zone).Add(-1), To: sooner(in.To.AddDays(1).Start(zone), now)}
	stood := standings(list, asked)
	return byDay(in, zone, withOutages(stood, away), changes(stood), nil)
}

// UsedDays tells how days with use were, by events, until an instant.
func UsedDays(list []events.Envelope, zone *time.Location, used []telemetry.UsageRow, now time.Time) []Day {
	in := DaysInput{From: used[0].Starts, To: used[len(used)-1].Starts}
	asked := events.TimeSpan{From: in.From.Start(zone).Add(-1), To: sooner(in.To.AddDays(1).Start(zone), now)}
	return byDay(in, zone, standings(list, asked), nil, used)
}

// Befell keeps of what happened at routers what a customer felt.
func Befell(
	begun []telemetry.Begun, rows []networkviews.Happening, in events.TimeSpan,
) ([]events.TimeSpan, []Mark) {
	out := befell(begun, rows, in)
	return out.away, out.marks
}

// Next takes the subscription whose turn it is.
func (m *Meter) Next() id.Subscription {
	line, _, _ := m.next()
	return line.subject.SubscriptionID
}

// ShownForTest corrects an explanation of a subscriber, who has open sessions, by what routers show.
func (x Explanations) ShownForTest(
	ctx context.Context, out *Explanation, who subscribersviews.SubscriberRow, open []telemetry.Session,
) {
	x.shown(ctx, out, who, open)
}

// Lines is the number of subscriptions and vouchers that the meter follows.
func (m *Meter) Lines() int { return len(m.lines) }

// Batches is the number of batches of vouchers of which the meter knows the cap.
func (m *Meter) Batches() int { return len(m.caps) }
