package renewal

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// unservedReason stands on credit notes over days on which a postpaid customer was cut off, and over those that were
// paused before their period became due.
const unservedReason = "days without service"

// step is an event of dunning that changes what a customer has.
type step struct {
	about events.DunningSubject
	cut   bool
	at    time.Time
}

// stepOf is the step that an event tells; false for other events.
func stepOf(e events.Event) (step, bool) {
	switch e := e.(type) {
	case events.DunningBegan:
		return step{e.DunningSubject, false, e.At}, true
	case events.DunningEnded:
		return step{e.DunningSubject, false, e.At}, true
	case events.WalledGardenEntered:
		return step{e.DunningSubject, true, e.At}, true
	case events.ServiceSuspended:
		return step{e.DunningSubject, true, e.At}, true
	case events.WriteOffProposed:
		return step{e.DunningSubject, true, e.At}, true
	}
	return step{}, false
}

// ofDunning follows who is cut off, and what is not billed for that.
func (s State) ofDunning(e events.Event) State {
	switch e := e.(type) {
	case events.BillingSuspended:
		return s.change(e.SubscriptionID, func(sub *Subscription) { sub.Unbilled = true })
	case events.BillingResumed:
		return s.change(e.SubscriptionID, func(sub *Subscription) {
			sub.Unbilled, sub.PaidUntil, sub.NextFrom = false, e.PaidUntil, e.NextFrom
			sub.Dropped = time.Time{}
		})
	}
	told, is := stepOf(e)
	sub, known := s.Subscriptions[told.about.SubscriptionID]
	if !is || !known || sub.Mode != events.Postpaid || sub.Cut == told.cut {
		return s
	}
	return s.change(told.about.SubscriptionID, func(sub *Subscription) { sub.Cut = told.cut })
}

// billing tells a postpaid subscription that its customer is cut off, or is served again; s is the state before the
// event. The subscription knows the terms.
func (s State) billing(e events.Event) []commands.Command {
	told, is := stepOf(e)
	sub, known := s.Subscriptions[told.about.SubscriptionID]
	switch {
	case !is || !known || sub.Mode != events.Postpaid || sub.Cut == told.cut:
		return nil
	case told.cut:
		return []commands.Command{commands.SuspendBilling{SubscriptionID: told.about.SubscriptionID, At: told.at}}
	}
	return []commands.Command{commands.ResumeBilling{SubscriptionID: told.about.SubscriptionID, At: told.at}}
}

// cutAgain tells a subscription after a pause that its customer is still cut off.
func (s State) cutAgain(out processmanagers.Output, e events.SubscriptionResumed) processmanagers.Output {
	if s.Subscriptions[e.SubscriptionID].Cut {
		out.Commands = append(out.Commands, commands.SuspendBilling{SubscriptionID: e.SubscriptionID, At: e.At})
	}
	return out
}

// billed lets no period become due while its customer is cut off and not billed, and the next one when that is over; s
// is the state after the event.
func (s State) billed(out processmanagers.Output, e events.Event, now time.Time) processmanagers.Output {
	switch e := e.(type) {
	case events.BillingSuspended:
		return disarm(e.SubscriptionID)
	case events.BillingResumed:
		return crediting(s.next(e.SubscriptionID, now), e.SubscriberID, e.Credits, e.At, unservedReason)
	}
	return out
}
