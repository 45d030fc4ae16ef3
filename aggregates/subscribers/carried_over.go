package subscribers

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
)

// servedElsewhere marks the beginning of a subscription that begins anew here, though it was served in another system:
// that of a postpaid one whose paid time was over there.
func servedElsewhere(made []events.SubscriptionEvent, elsewhere bool) []events.SubscriptionEvent {
	for i, e := range made {
		if activated, begins := e.(events.SubscriptionActivated); begins {
			activated.Carried = elsewhere
			made[i] = activated
		}
	}
	return made
}

// elsewhere is the base of a subscription that was paid in another system.
func elsewhere(e events.PaidTimeCarriedOver) Base {
	return Base{From: e.From, End: e.PaidUntil, Anchor: e.Anchor, Begun: e.PaidUntil, PaidUntil: e.PaidUntil}
}

// carriedOver makes the events of a new subscription whose customer has paid in another system; nil when nothing of it
// counts. The subscription is active, since its customer had service before. The next period continues the paid time.
// A prepaid one is due at once when the paid time is over, or ends so soon that its invoice would be there already; a
// postpaid one when the paid time ends. Of a postpaid subscription that is paid up to a moment in the past the debt is
// in the balance, so that its periods begin here. Source: docs/rules/subscribers-import.md#paid-time.
func carriedOver(s Subscription, paidUntil, now time.Time) []events.SubscriptionEvent {
	prepaid := s.Terms.Mode == events.Prepaid
	if paidUntil.IsZero() || !prepaid && !paidUntil.After(now) {
		return nil
	}
	carried := events.PaidTimeCarriedOver{
		SubscriptionID: s.ID, SubscriberID: s.SubscriberID, From: now, PaidUntil: paidUntil,
		Anchor: paidUntil.In(s.zone()).Day(), At: now,
	}
	activated := events.SubscriptionActivated{
		SubscriptionID: s.ID, SubscriberID: s.SubscriberID, At: now, Carried: true,
	}
	made := []events.SubscriptionEvent{activated, carried}
	if !prepaid || paidUntil.After(now.Add(events.InvoicedAhead(s.Terms.Period))) {
		return made
	}
	return append(made, due(evolveSubscription(evolveSubscription(s, activated), carried), now)...)
}
