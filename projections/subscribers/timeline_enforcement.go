package subscribersviews

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ofEnforcement describes what was done with a customer's session. A session whose subscriber is not known has no row.
func ofEnforcement(e events.EnforcementEvent) happening {
	s := events.EnforcedOf(e)
	about := func(step events.EnforcementStep, told Sentence) happening {
		return happening{
			subscriber: s.SubscriberID, says: told, causeType: "session", cause: id.Any(step.Of(s)),
		}
	}
	switch v := e.(type) {
	case events.SessionChangeAnnounced: // its outcome has a row
	case events.SessionChanged:
		why := Facts{Reason: Reason(v.Reason)}
		if v.Lapsed { // for more than one cause; a refusal of the router has a row of its own
			return about(v.EnforcementStep, says("session_change_lapsed", why))
		}
		if v.Via == events.ViaUnverified {
			return about(v.EnforcementStep, says("session_rate_unverified", why))
		}
		if v.Action == events.ChangeRate {
			return about(v.EnforcementStep, says("session_rate_changed", why))
		}
		if v.After.Access != "none" && v.After != v.Before {
			return about(v.EnforcementStep, says("session_ended_for_other", why))
		}
		return about(v.EnforcementStep, says("session_ended", why))
	case events.SessionChangeRefused:
		return about(v.EnforcementStep, says("session_change_refused", Facts{Reason: Reason(v.Reason)}))
	case events.EnforcementPeriodClosed: // bookkeeping, no row
	}
	return happening{}
}
