package subscribersviews

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// toldLate is how much later than something happened a row may be whose summary does not say when it happened.
const toldLate = time.Minute

// ofUsage describes the first use of a subscription, and how far its cap was.
func ofUsage(e events.UsageEvent) happening {
	s := events.UsageSubjectOf(e)
	if s.OfVoucher() { // there is no subscriber
		return happening{}
	}
	about := func(reason, summary string) happening {
		return happening{
			subscriber: s.SubscriberID, summary: summary, reason: reason, causeType: "subscription",
			cause: id.Any(s.SubscriptionID),
		}
	}
	switch v := e.(type) {
	case events.FirstSessionBegan:
		if v.At.Sub(v.BeganAt).Abs() > toldLate {
			return about("", "The subscription was used for the first time, from "+instant(v.BeganAt)+" on.")
		}
		return about("", "The subscription was used for the first time.")
	case events.CapWarned:
		return about("", "80 % of the traffic of the "+v.Period+" were used: "+events.Volume(v.Used)+" of "+
			events.Volume(v.Allowed)+".")
	case events.CapReached:
		return about("", "The traffic of the "+v.Period+" was used up: "+events.Volume(v.Used)+" of "+
			events.Volume(v.Allowed)+
			". "+actOf(v.Then)+" until "+instant(v.ResetsAt)+".")
	case events.CapReset:
		switch v.Reason {
		case events.ResetTopUp:
			return about("", "The cap does not act any more after a top-up: "+events.Volume(v.Allowed-v.Used)+
				" are left.")
		case events.ResetPlanChanged:
			return about("", "The cap of the plan has changed and does not act any more.")
		case events.ResetPeriodOver:
		}
		return about("", "A new "+v.Period+" began: the cap does not act any more.")
	case events.TopUpOrdered:
		return about(v.Reason.Reveal(),
			events.Volume(v.Bytes)+" were ordered. They are added when their invoice is paid.")
	case events.TopUpAdded:
		return about(v.Reason.Reveal(), events.Volume(v.Bytes)+" were added until "+instant(v.ResetsAt)+".")
	case events.CapPeriodMoved, events.UsagePeriodClosed: // bookkeeping, no row
	}
	return happening{}
}

// actOf says what a cap does.
func actOf(then events.CapAct) string {
	if then == events.CapStop {
		return "There is no access"
	}
	return "Access is slow"
}
