package subscribersviews

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ofCpeOperation tells that a device of a customer is written to; what became of it is read there.
func ofCpeOperation(e events.CpeOperationEvent) happening {
	switch v := e.(type) {
	case events.CpeOperationQueued:
		return happening{
			subscriber: v.SubscriberID, says: says("cpe_written_to", Facts{}), causeType: "cpe", cause: id.Any(v.CpeID),
		}
	case events.CpeOperationBegan, events.CpeOperationSent, events.CpeOperationMeasured, events.CpeOperationConfirmed,
		events.CpeOperationFailed, events.CpeOperationExpired: // they name no customer
	}
	return happening{}
}

// ofCpe tells which devices a customer got and gave back.
func ofCpe(e events.CpeEvent) happening {
	given := func(s id.Subscriber, cpe id.CPE) happening {
		return happening{subscriber: s, says: says("cpe_given", Facts{}), causeType: "cpe", cause: id.Any(cpe)}
	}
	switch v := e.(type) {
	case events.CpeClaimed:
		return given(v.SubscriberID, v.CpeID)
	case events.CpeAssigned:
		return given(v.SubscriberID, v.CpeID)
	case events.CpeSubscriberAssigned:
		return given(v.SubscriberID, v.CpeID)
	case events.CpeSubscriberRemoved:
		return happening{
			subscriber: v.SubscriberID, says: says("cpe_taken", Facts{}), causeType: "cpe", cause: id.Any(v.CpeID),
		}
	case events.CpeIdentified, events.CpeDetailsLearned, events.CpeDescribed, events.CpeReleased,
		events.CpeFaultClearAsked, events.CpeSignInProven, events.CpeSignInEnded: // of no customer
	}
	return happening{}
}
