package subscribers

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Ending lists the invoices of the periods that an end of the subscription at an instant would cancel, the oldest
// first. It asks the decision itself, so that a preview cannot differ from what the command does.
func (s Subscription) Ending(at time.Time) []id.Invoice {
	var never []id.Invoice
	for _, e := range decideEnd(s, commands.EndSubscription{SubscriptionID: s.ID}, at) {
		if dropped, ok := e.(events.PeriodCancelled); ok {
			never = append(never, dropped.InvoiceID)
		}
	}
	return never
}
