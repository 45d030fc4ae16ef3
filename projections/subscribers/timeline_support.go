package subscribersviews

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ofSupport describes what happened to a support request; what was written is read there.
func ofSupport(e events.SupportEvent) happening {
	about := func(s events.SupportSubject, told Sentence) happening {
		return happening{
			subscriber: s.SubscriberID, says: told, causeType: "support_request",
			cause: id.Any(s.RequestID),
		}
	}
	switch v := e.(type) {
	case events.SupportRequestOpened:
		if v.ByCustomer {
			return about(v.SupportSubject, says("support_asked", Facts{}))
		}
		return about(v.SupportSubject, says("support_written_down", Facts{}))
	case events.SupportRequestContinued:
		if v.Reopen {
			return about(v.SupportSubject, says("support_reopened", Facts{}))
		}
		return about(v.SupportSubject, says("support_continued", Facts{}))
	case events.SupportRequestAnswered:
		return about(v.SupportSubject, says("support_answered", Facts{}))
	case events.SupportRequestNoted:
		return about(v.SupportSubject, says("support_noted", Facts{}))
	case events.SupportRequestAssigned:
		if v.UserID.IsZero() {
			return about(v.SupportSubject, says("support_unassigned", Facts{}))
		}
		return about(v.SupportSubject, says("support_assigned", Facts{}))
	case events.SupportRequestClosed:
		return about(v.SupportSubject, says("support_closed", Facts{}))
	}
	return happening{}
}
