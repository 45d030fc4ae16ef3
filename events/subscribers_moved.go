package events

import "github.com/lastmile-isp/lastmile/internal/id"

// moving are the events that Moved knows, each one with a list of moved periods.
var moving = []SubscriptionEvent{
	SubscriptionExtended{}, PeriodWithdrawn{}, PeriodCancelled{}, SubscriptionResumed{}, BillingResumed{},
	SubscriptionCompensated{}, CompensationTakenBack{},
}

// MovingTypes names the events that can move periods of a subscription.
func MovingTypes() []string {
	var names []string
	for _, e := range moving {
		names = append(names, e.EventType())
	}
	return names
}

// Moved tells where periods of a subscription lie since an event that moved them; nothing for other events. Where the
// period lies that a SubscriptionExtended is about, the event says itself.
func Moved(e Event) (of id.Subscription, periods []PeriodPlace) {
	switch e := e.(type) {
	case SubscriptionExtended:
		return e.SubscriptionID, e.Moved
	case PeriodWithdrawn:
		return e.SubscriptionID, e.Moved
	case PeriodCancelled:
		return e.SubscriptionID, e.Moved
	case SubscriptionResumed:
		return e.SubscriptionID, e.Moved
	case BillingResumed:
		return e.SubscriptionID, e.Moved
	case SubscriptionCompensated:
		return e.SubscriptionID, e.Moved
	case CompensationTakenBack:
		return e.SubscriptionID, e.Moved
	}
	return id.Subscription{}, nil
}
