package subscribersviews

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ofApproval describes what became of an act that needs a second person. What the act does has rows of its own.
func ofApproval(e events.ApprovalEvent) happening {
	about := func(s events.ApprovalSubject, reason string, told Sentence) happening {
		return happening{
			subscriber: s.SubscriberID, says: told, reason: reason, causeType: "approval", cause: id.Any(s.ApprovalID),
		}
	}
	of := func(s events.ApprovalSubject) Facts {
		facts := sum(s.Amount)
		facts.Act = Act(s.Kind)
		return facts
	}
	switch v := e.(type) {
	case events.ApprovalRequested:
		return about(v.ApprovalSubject, v.Reason.Reveal(), says("approval_requested", of(v.ApprovalSubject)))
	case events.ApprovalGranted:
		return about(v.ApprovalSubject, "", says("approval_granted", of(v.ApprovalSubject)))
	case events.ApprovalRefused:
		return about(v.ApprovalSubject, v.Reason.Reveal(), says("approval_refused", of(v.ApprovalSubject)))
	case events.ApprovalWithdrawn:
		return about(v.ApprovalSubject, "", says("approval_withdrawn", of(v.ApprovalSubject)))
	case events.ApprovalExpired:
		return about(v.ApprovalSubject, "", says("approval_expired", of(v.ApprovalSubject)))
	case events.ApprovalFailed:
		return about(v.ApprovalSubject, "", says("approval_failed", of(v.ApprovalSubject)))
	case events.ApprovalCarriedOut: // the act itself is told
	}
	return happening{}
}
