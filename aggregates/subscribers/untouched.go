package subscribers

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Untouched reports whether a subscription is as an import has left it, by its history: beside what the import and its
// undo do there is only what time, money and billing runs do by themselves. It lists what may be there, so that an
// event that is new, or that a person causes, keeps the customer. Source: docs/rules/billing.md#undo.
func Untouched(history []events.Envelope, batch id.Batch) bool {
	for _, e := range history {
		if e.Meta.CorrelationID != batch.String() && !byItself(e) {
			return false
		}
	}
	return true
}

// byItself reports whether an event comes without a person who changes the customer. Whoever looks at a password, or
// asks for a billing run or for its undo, changes none.
func byItself(e events.Envelope) bool {
	switch of := e.Event.(type) {
	case events.PeriodDue, events.SubscriptionActivated, events.SubscriptionExtended, events.BillingSuspended,
		events.BillingResumed, events.SubscriptionCredentialsShown, events.UndoneWaitEnded:
		return true
	case events.SubscriptionEnded: // it was never paid, and expired
		return !e.Meta.Actor.Answers()
	case events.PeriodCancelled:
		return !of.UndoneRun.IsZero() || !e.Meta.Actor.Answers()
	}
	return false
}
