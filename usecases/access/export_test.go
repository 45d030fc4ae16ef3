package accesscases

import (
	"context"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// Round makes a meter that was not started do once what it does when it runs.
func (m *Meter) Round(ctx context.Context) bool { return m.round(ctx) }

// Served is served, for tests of the rule alone.
var Served = served

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
