package subscribersviews

import (
	"cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
)

// ofEnforcement describes what was done with a customer's session. A session whose subscriber is not known has no row.
func ofEnforcement(e events.EnforcementEvent) happening {
	s := events.EnforcedOf(e)
	about := func(summary string, step events.EnforcementStep) happening {
		words := cmp.Or(events.EnforcedWords(step.Reason), entitlement.Code(step.Reason).Words(), spoken(step.Reason))
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
