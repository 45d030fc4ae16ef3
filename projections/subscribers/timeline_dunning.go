package subscribersviews

import (
	"strings"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ofDunning describes the steps of dunning and the times in which its clock stood still.
func ofDunning(e events.DunningEvent) happening {
	s := events.SubjectOf(e)
	about := func(reason, summary string) happening {
		return happening{
			subscriber: s.SubscriberID, summary: summary, reason: reason, causeType: "subscription",
			cause: id.Any(s.SubscriptionID),
		}
	}
	switch v := e.(type) {
	case events.DunningBegan:
		if v.Before.Cut() {
			return about("", "Access was given back, and the customer is reminded of what is still owed.")
		}
		return about("", "The customer is reminded to pay from now on.")
	case events.DunningReminded:
		return about("", "A reminder to pay was due.")
	case events.WalledGardenEntered:
		return about("", "The customer did not pay in time and reaches only the payment page.")
	case events.ServiceSuspended:
		return about("", "The customer did not pay in time and has no access any more.")
	case events.WriteOffProposed:
		return about("", "The debt is so old that it was proposed for a write-off.")
	case events.DunningEnded:
		if v.Before.Cut() {
			return about("", "Nothing is overdue any more: access was given back.")
		}
		return about("", "Nothing is overdue any more.")
	case events.HoldPlaced:
		return about(v.Reason.Reveal(), "The clock of dunning was stopped by hand until "+
			v.Until.UTC().Format("2006-01-02 15:04")+" UTC.")
	case events.HoldLifted:
		return about("", "The hold was ended: the clock of dunning goes on.")
	case events.DunningClockStopped:
		return about("", "The clock of dunning stands still since "+v.From.UTC().Format("2006-01-02 15:04")+
			" UTC: "+spoken(v.Cause)+".")
	case events.DunningClockStarted:
		return about("", "The clock of dunning stood still from "+v.From.UTC().Format("2006-01-02 15:04")+" to "+
			v.Until.UTC().Format("2006-01-02 15:04")+" UTC: "+spoken(v.Cause)+".")
	case events.DunningReviewed, events.DunningReviewAsked, events.DunningPeriodClosed: // bookkeeping, no row
	}
	return happening{}
}

// spoken makes a code readable: "no_line" becomes "no line".
func spoken(code string) string { return strings.ReplaceAll(code, "_", " ") }
