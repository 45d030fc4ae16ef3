package subscribersviews

import (
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// toldLate is how much later than something happened a row may be whose sentence does not say when it happened.
const toldLate = time.Minute

// ofUsage describes the first use of a subscription, and how far its cap was.
func ofUsage(e events.UsageEvent) happening {
	s := events.UsageSubjectOf(e)
	if s.OfVoucher() { // there is no subscriber
		return happening{}
	}
	about := func(reason string, told Sentence) happening {
		return happening{
			subscriber: s.SubscriberID, says: told, reason: reason, causeType: "subscription",
			cause: id.Any(s.SubscriptionID),
		}
	}
	switch v := e.(type) {
	case events.FirstSessionBegan:
		if v.At.Sub(v.BeganAt).Abs() > toldLate {
			return about("", says("first_used_late", Facts{From: v.BeganAt}))
		}
		return about("", says("first_used", Facts{}))
	case events.CapWarned:
		return about("", says("cap_warned", Facts{Period: v.Period, Used: v.Used, Allowed: v.Allowed}))
	case events.CapReached:
		facts := Facts{Period: v.Period, Used: v.Used, Allowed: v.Allowed, Until: v.ResetsAt}
		if v.Then == events.CapStop {
			return about("", says("cap_reached_stopped", facts))
		}
		return about("", says("cap_reached_slow", facts))
	case events.CapReset:
		switch v.Reason {
		case events.ResetTopUp:
			return about("", says("cap_topped_up", Facts{Bytes: v.Allowed - v.Used}))
		case events.ResetPlanChanged:
			return about("", says("cap_changed", Facts{}))
		case events.ResetPeriodOver:
		}
		return about("", says("cap_period_over", Facts{Period: v.Period}))
	case events.TopUpOrdered:
		return about(v.Reason.Reveal(), says("top_up_ordered", Facts{Bytes: v.Bytes}))
	case events.TopUpAdded:
		return about(v.Reason.Reveal(), says("top_up_added", Facts{Bytes: v.Bytes, Until: v.ResetsAt}))
	case events.CapPeriodMoved, events.UsagePeriodClosed: // bookkeeping, no row
	}
	return happening{}
}
