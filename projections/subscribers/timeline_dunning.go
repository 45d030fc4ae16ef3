package subscribersviews

import (
	"strings"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ofDunning describes the steps of dunning and the times in which its clock stood still.
func ofDunning(e events.DunningEvent) happening {
	s := events.SubjectOf(e)
	about := func(reason string, told Sentence) happening {
		return happening{
			subscriber: s.SubscriberID, says: told, reason: reason, causeType: "subscription",
			cause: id.Any(s.SubscriptionID),
		}
	}
	switch v := e.(type) {
	case events.DunningBegan, events.WalledGardenEntered, events.ServiceSuspended, events.WriteOffProposed:
		return ofStep(v, s)
	case events.DunningReminded:
		return about("", says("dunning_reminded", Facts{}))
	case events.DunningEnded:
		if v.Before.Cut() {
			return about("", says("dunning_ended_with_cut", Facts{}))
		}
		return about("", says("dunning_ended", Facts{}))
	case events.HoldPlaced:
		return about(v.Reason.Reveal(), says("hold_placed", Facts{Until: v.Until}))
	case events.HoldLifted:
		return about("", says("hold_lifted", Facts{}))
	case events.DunningClockStopped:
		return about("", says("clock_stopped", Facts{From: v.From, Cause: causeOf(v.Cause)}))
	case events.DunningClockStarted:
		facts := Facts{From: v.From, Until: v.Until, Cause: causeOf(v.Cause)}
		if !v.From.Before(v.Until) {
			return about("", says("clock_ran_on", facts))
		}
		return about("", says("clock_stood_still", facts))
	case events.DunningReviewed, events.DunningReviewAsked, events.DunningPeriodClosed: // bookkeeping, no row
	}
	return happening{}
}

// ofStep describes a step that has to do with what is owed.
func ofStep(e events.DunningEvent, s events.DunningSubject) happening {
	switch v := e.(type) {
	case events.DunningBegan:
		if v.Before.Cut() {
			return owing(v.DunningStep, s, says("cut_ended", owed(v.DunningStep)))
		}
		return owing(v.DunningStep, s, says("dunning_began", owed(v.DunningStep)))
	case events.WalledGardenEntered:
		return owing(v.DunningStep, s, says("walled_garden_entered", owed(v.DunningStep)))
	case events.ServiceSuspended:
		if v.Before == events.DunningWrittenOff {
			return owing(v.DunningStep, s, says("write_off_withdrawn", owed(v.DunningStep)))
		}
		return owing(v.DunningStep, s, says("service_suspended", owed(v.DunningStep)))
	case events.WriteOffProposed:
		if v.Before.Off() {
			return owing(v.DunningStep, s, says("write_off_proposed", owed(v.DunningStep)))
		}
		return owing(v.DunningStep, s, says("write_off_proposed_with_cut", owed(v.DunningStep)))
	default: // the other events of ofDunning
		return happening{}
	}
}

// owing describes a step whose cause is the invoice that is due longest, and the subscription when there is none,
// because only paid time is over.
func owing(step events.DunningStep, s events.DunningSubject, told Sentence) happening {
	if len(step.InvoiceIDs) == 0 {
		return happening{
			subscriber: s.SubscriberID, says: told, causeType: "subscription", cause: id.Any(s.SubscriptionID),
		}
	}
	return ofInvoice(s.SubscriberID, step.InvoiceIDs[0], "", told)
}

// owed has the facts of what was owed at a step. The number of the first invoice follows when it is known.
func owed(step events.DunningStep) Facts {
	var f Facts
	if step.Due.Positive() {
		f = sum(step.Due)
	}
	f.Invoices = len(step.InvoiceIDs)
	return f
}

// causeOf cuts off what tells faults apart: "no_line:…" becomes "no_line".
func causeOf(code string) string {
	code, _, _ = strings.Cut(code, ":")
	return code
}
