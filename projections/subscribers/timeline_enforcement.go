package subscribersviews

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ofEnforcement describes what was done with a customer's session. A session whose subscriber is not known has no row.
func ofEnforcement(e events.EnforcementEvent) happening {
	s := events.EnforcedOf(e)
	about := func(summary, reason string) happening {
		return happening{
			subscriber: s.SubscriberID, summary: summary + spoken(reason) + ".", causeType: "session",
			cause: id.Any(s.SessionID),
		}
	}
	switch v := e.(type) {
	case events.SessionChangeAnnounced: // its outcome has a row
	case events.SessionChanged:
		if v.Action == events.ChangeRate {
			return about("The speed of a session was changed: ", v.Reason)
		}
		return about("A session was ended: ", v.Reason)
	case events.SessionChangeRefused:
		return about("The router refused to change a session: ", v.Reason)
	}
	return happening{}
}
