package subscribersviews

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// seenAs says what the auditor saw at a customer's router, without personal data.
var seenAs = map[events.AccessDifferenceKind]string{
	events.PaidButOffline:  "the customer has paid, and a sign-in was refused or came to nothing",
	events.PaidButWalledIn: "the customer has paid, and is in the walled garden",
	events.UnpaidButOnline: "the customer is online with more than is paid",
	events.WrongRate:       "the session has another speed than it should",
	events.UnknownSession:  "the router has a session of this customer that was not reported",
	events.StaleSession:    "a session that was reported is not on the router",
	events.LocalBypass:     "the customer is online by a login of the router itself",
	events.PortBelowPlan:   "the port is slower than the plan",
}

// ofDifference describes what the auditor saw. A difference of nobody who is known has no row.
func ofDifference(e events.DifferenceEvent) happening {
	d := events.DifferenceOf(e)
	about := func(summary string) happening {
		return happening{
			subscriber: d.SubscriberID, summary: summary + seenAs[d.Kind] + ".", causeType: "access_difference",
			cause: id.Any(d.DifferenceID),
		}
	}
	switch e.(type) {
	case events.AccessDifferenceOpened:
		return about("The auditor found: ")
	case events.AccessDifferenceClosed:
		return about("The auditor does not find any more: ")
	case events.AccessRepairAsked:
		return about("A repair was asked for: ")
	case events.AccessRepairWritten: // the audit log has the write
	case events.AccessDifferencePeriodClosed: // bookkeeping, no row
	}
	return happening{}
}
