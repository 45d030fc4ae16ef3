package subscribersviews

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// sessionReasons are the codes of changes of sessions as people say them, behind a colon.
var sessionReasons = map[string]string{
	"paid":             "the service is paid",
	"postpaid":         "the service is paid later, by invoice",
	"grace":            "the days of grace run",
	"schedule":         "the plan has another speed at this hour",
	"cap_throttled":    "the traffic of the plan is used up",
	"cap_stopped":      "the traffic of the plan is used up",
	"overdue":          "it was not paid in time, and only the payment page is left",
	"suspended":        "it was not paid, and the service is suspended",
	"expired":          "the paid time is over",
	"awaiting_payment": "the first period is not paid",
	"not_started":      "the service has not begun",
	"paused":           "the service is paused",
	"ended":            "the subscription has ended",
	"blocked":          "the customer is blocked",
	"wrong_mac":        "its device is none of those that may be used",
	"changed":          "the login or the address is another one",
	"operator":         "a person wanted it",
	"session_limit":    "a newer session took its place",
	"device_removed":   "its router was removed",
	"service":          "its service was removed or made anew",
	"rate":             "the plan or the hour gives another speed",
}

// ofEnforcement describes what was done with a customer's session. A session whose subscriber is not known has no row.
func ofEnforcement(e events.EnforcementEvent) happening {
	s := events.EnforcedOf(e)
	about := func(summary string, step events.EnforcementStep) happening {
		reason := step.Reason
		words, known := sessionReasons[reason]
		if !known {
			words = spoken(reason)
		}
		return happening{
			subscriber: s.SubscriberID, summary: summary + words + ".", causeType: "session",
			cause: id.Any(step.Of(s)),
		}
	}
	switch v := e.(type) {
	case events.SessionChangeAnnounced: // its outcome has a row
	case events.SessionChanged:
		if v.Lapsed { // for more than one cause; a refusal of the router has a row of its own
			return about("A change of a session came to nothing: ", v.EnforcementStep)
		}
		if v.Via == events.ViaUnverified {
			return about("The router acknowledged another speed of a session, which could not be read back: ",
				v.EnforcementStep)
		}
		if v.Action == events.ChangeRate {
			return about("The speed of a session was changed: ", v.EnforcementStep)
		}
		if v.After.Access != "none" && v.After != v.Before {
			return about("A session was ended, and the next one gets other access: ", v.EnforcementStep)
		}
		return about("A session was ended: ", v.EnforcementStep)
	case events.SessionChangeRefused:
		return about("The router refused to change a session: ", v.EnforcementStep)
	case events.EnforcementPeriodClosed: // bookkeeping, no row
	}
	return happening{}
}
