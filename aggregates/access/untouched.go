package access

import "github.com/lastmile-isp/lastmile/events"

// Untouched reports whether time and money alone made a subscription's dunning, by its history: nobody has put
// it off by hand. It lists what may be there, so that an event that is new keeps the customer of an import. Source:
// docs/rules/billing.md#undo.
func Untouched(history []events.Envelope) bool {
	for _, e := range history {
		switch e.Event.(type) {
		case events.DunningBegan, events.DunningReminded, events.WalledGardenEntered, events.ServiceSuspended,
			events.WriteOffProposed, events.DunningEnded, events.DunningClockStopped, events.DunningClockStarted,
			events.DunningPeriodClosed, events.DunningReviewed, events.DunningReviewAsked:
		default: // a hold
			return false
		}
	}
	return true
}
