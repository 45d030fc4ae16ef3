package planchange_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/subscribers/planchange"
)

// One subscription, whose paid time ends in 20 days.
var (
	start = time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	ends  = start.AddDate(0, 0, 20)
	line  = id.Derive[id.Subscription]("test", "line")
)

// planned is a change that comes at an instant.
func planned(at time.Time) events.Event {
	return events.PlanChangePlanned{SubscriptionID: line, EffectiveAt: at}
}

// waits arms the timer; the zero time disarms it.
func waits(at time.Time) processmanagers.Output {
	return processmanagers.Output{Timers: []processmanagers.Timer{{Name: "change", At: at}}}
}

// asks asks for the change.
func asks() processmanagers.Output {
	return processmanagers.Output{
		Commands: []commands.Command{commands.ApplyPlanChange{SubscriptionID: line}},
	}
}

func TestPlanChange_IsAskedForWhenItsTimeHasComeOrMayHaveMoved(t *testing.T) {
	t.Parallel()
	s := processtest.For(t, planchange.Process(), start)
	s.When(planned(ends)).Then(waits(ends))
	s = s.Given(planned(ends))
	s.WhenDue("change", ends).Then(asks())
	moved := events.PlanChangeMoved{SubscriptionID: line, EffectiveAt: ends.AddDate(0, 0, 3)}
	s.When(moved).Then(waits(ends.AddDate(0, 0, 3)))
	for _, e := range []events.Event{
		events.SubscriptionExtended{SubscriptionID: line}, events.SubscriptionResumed{SubscriptionID: line},
		events.PeriodWithdrawn{SubscriptionID: line}, events.PeriodCancelled{SubscriptionID: line},
		events.BillingResumed{SubscriptionID: line}, events.PeriodDue{SubscriptionID: line},
		events.CompensationTakenBack{SubscriptionID: line, Days: 5},
	} {
		s.When(e).Then(asks())
	}
	s.WhenRefused(commands.ApplyPlanChange{SubscriptionID: line}, "concurrent_change").
		Then(waits(start.Add(time.Minute)))
	for _, e := range []events.Event{
		events.PlanChangeDropped{SubscriptionID: line}, events.SubscriptionPlanChanged{SubscriptionID: line},
		events.SubscriptionEnded{SubscriptionID: line},
	} {
		s.When(e).Then(waits(time.Time{}))
	}
}

func TestPlanChange_WithoutOneNothingIsAsked(t *testing.T) {
	t.Parallel()
	s := processtest.For(t, planchange.Process(), start)
	s.When(events.SubscriptionExtended{SubscriptionID: line}).Then(waits(time.Time{}))
	processtest.CheckKeys(t, planchange.Process(), line.String(), planned(ends),
		events.PlanChangeMoved{SubscriptionID: line}, events.PlanChangeDropped{SubscriptionID: line},
		events.SubscriptionPlanChanged{SubscriptionID: line}, events.SubscriptionExtended{SubscriptionID: line},
		events.SubscriptionResumed{SubscriptionID: line}, events.BillingResumed{SubscriptionID: line},
		events.PeriodWithdrawn{SubscriptionID: line}, events.PeriodDue{SubscriptionID: line},
		events.PeriodCancelled{SubscriptionID: line}, events.SubscriptionEnded{SubscriptionID: line},
		events.CompensationTakenBack{SubscriptionID: line})
}
