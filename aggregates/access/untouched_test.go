package access_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/events"
)

func TestUntouched_AHoldWasPlacedByAPerson(t *testing.T) {
	t.Parallel()
	history := func(list ...events.Event) (all []events.Envelope) {
		for _, e := range list {
			all = append(all, events.Envelope{Event: e})
		}
		return all
	}
	alone := history(events.DunningBegan{}, events.DunningReminded{}, events.DunningClockStopped{},
		events.DunningClockStarted{}, events.DunningReviewed{}, events.WalledGardenEntered{}, events.ServiceSuspended{},
		events.WriteOffProposed{}, events.DunningPeriodClosed{}, events.DunningReviewAsked{}, events.DunningEnded{})
	if !access.Untouched(alone) {
		t.Error("dunning without a person counts as touched")
	}
	for _, e := range []events.Event{events.HoldPlaced{}, events.HoldLifted{}} {
		if access.Untouched(append(alone, history(e)...)) {
			t.Errorf("%T counts for nothing", e)
		}
	}
}
