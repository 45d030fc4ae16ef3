package subscribersviews

import (
	"strconv"
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
			return owing(v.DunningStep, s, "The cut was ended. Still owed: ", ".")
		}
		return owing(v.DunningStep, s, "The customer is reminded from now on. Owed: ", ".")
	case events.DunningReminded:
		return about("", "A reminder to pay was due.")
	case events.WalledGardenEntered:
		return owing(v.DunningStep, s, "Not paid in time: ", ". The customer reaches only the payment page.")
	case events.ServiceSuspended:
		if v.Before == events.DunningWrittenOff {
			return owing(v.DunningStep, s, "No write-off is proposed any more. Still not paid: ",
				". The customer has no access.")
		}
		return owing(v.DunningStep, s, "Still not paid: ", ". The customer has no access any more.")
	case events.WriteOffProposed:
		after := "."
		if !v.Before.Off() {
			after = ". The customer has no access any more."
		}
		return owing(v.DunningStep, s, "A debt so old that it was proposed for a write-off: ", after)
	case events.DunningEnded:
		if v.Before.Cut() {
			return about("", "Nothing is overdue any more: the cut was ended.")
		}
		return about("", "Nothing is overdue any more.")
	case events.HoldPlaced:
		return about(v.Reason.Reveal(), "The clock of dunning was stopped by hand until "+instant(v.Until)+".")
	case events.HoldLifted:
		return about("", "The hold was ended: the clock of dunning goes on.")
	case events.DunningClockStopped:
		return about("", "The clock of dunning stands still since "+instant(v.From)+": "+spoken(v.Cause)+".")
	case events.DunningClockStarted:
		if !v.From.Before(v.Until) {
			return about("", "The clock of dunning has run on after all: its stop since "+instant(v.From)+" ("+
				spoken(v.Cause)+") was taken back.")
		}
		return about("", "The clock of dunning stood still from "+instant(v.From)+" to "+instant(v.Until)+": "+
			spoken(v.Cause)+".")
	case events.DunningReviewed, events.DunningReviewAsked, events.DunningPeriodClosed: // bookkeeping, no row
	}
	return happening{}
}

// owing describes a step with what was owed, between two parts of a sentence. Its cause is the invoice that is due
// longest, and the subscription when there is none, because only paid time is over.
func owing(step events.DunningStep, s events.DunningSubject, before, after string) happening {
	if len(step.InvoiceIDs) == 0 {
		what := "the next period"
		if step.Due.Minor > 0 {
			what = step.Due.String()
		}
		return happening{
			subscriber: s.SubscriberID, summary: before + what + after, causeType: "subscription",
			cause: id.Any(s.SubscriptionID),
		}
	}
	what := anInvoice
	switch others := len(step.InvoiceIDs) - 1; {
	case others == 1:
		what += " and 1 other"
	case others > 1:
		what += " and " + strconv.Itoa(others) + " others"
	}
	if step.Due.Minor > 0 {
		what = step.Due.String() + " of " + what
	}
	return ofInvoice(s.SubscriberID, step.InvoiceIDs[0], "", before+what+after)
}

// spoken makes a code readable: "no_line:…" becomes "no line". What follows a colon tells faults apart.
func spoken(code string) string {
	code, _, _ = strings.Cut(code, ":")
	return strings.ReplaceAll(code, "_", " ")
}
