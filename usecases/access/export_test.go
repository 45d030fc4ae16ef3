package accesscases

import (
	"context"

	"github.com/lastmile-isp/lastmile/internal/id"
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
