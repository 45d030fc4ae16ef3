package subscribersviews

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ofDifference describes what the auditor saw. A difference of nobody who is known has no row.
func ofDifference(e events.DifferenceEvent) happening {
	d := events.DifferenceOf(e)
	about := func(told Sentence) happening {
		return happening{
			subscriber: d.SubscriberID, says: told, causeType: "access_difference", cause: id.Any(d.DifferenceID),
		}
	}
	kind := Facts{Difference: Difference(d.Kind)}
	switch e.(type) {
	case events.AccessDifferenceOpened:
		return about(says("difference_opened", kind))
	case events.AccessDifferenceClosed:
		return about(says("difference_closed", kind))
	case events.AccessRepairAsked:
		return about(says("repair_asked", kind))
	case events.AccessRepairWritten: // the audit log has the write
	case events.AccessDifferencePeriodClosed: // bookkeeping, no row
	}
	return happening{}
}
