package subscribers

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Ending lists the invoices of the periods that an end of the subscription at an instant would cancel, the oldest
// first, the days of other periods that it would give back, and the charges that it would invoice. It asks the decision
// itself, so that a preview cannot differ from what the command does.
func (s Subscription) Ending(
	at time.Time,
) (never []id.Invoice, unused []events.DaysCredit, charges []events.PeriodExtra) {
	for _, e := range decideEnd(s, "", at) {
		switch e := e.(type) {
		case events.PeriodCancelled:
			never = append(never, e.InvoiceID)
		case events.SubscriptionEnded:
			unused = e.Credits
		case events.ChargesDue:
			charges = e.Charges
		default: // an end makes no other event
		}
	}
	return never, unused, charges
}
