// Package planchange changes the service of a subscription when the time before a planned change is over:
//
//	PlanChangePlanned, PlanChangeMoved ──► timer "change" ──► ApplyPlanChange ──► SubscriptionPlanChanged
//	                                                               └── it is too early ──► PlanChangeMoved
//	SubscriptionExtended, -Resumed, BillingResumed, PeriodDue, PeriodWithdrawn, PeriodCancelled,
//	CompensationTakenBack ──► ApplyPlanChange
//
// The subscription knows when its paid time ends; the process only asks, again when that may have moved.
package planchange

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// timer is due when the time before the change is over, as far as it was told; and after a refusal.
const timer = "change"

// patience is how long a refused command waits.
const patience = time.Minute

// State is the planned change of one subscription. The zero value has none.
type State struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	At             time.Time       `json:"at,omitzero"` // zero = not known yet
}

// Process has one instance for each subscription with a planned change; it ends with the change.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "plan_change",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.PlanChangePlanned) string { return e.SubscriptionID.String() }),
			processmanagers.On(func(e events.PlanChangeMoved) string { return e.SubscriptionID.String() }),
			processmanagers.On(func(e events.PlanChangeDropped) string { return e.SubscriptionID.String() }),
			processmanagers.On(func(e events.SubscriptionPlanChanged) string { return e.SubscriptionID.String() }),
			processmanagers.On(func(e events.SubscriptionExtended) string { return e.SubscriptionID.String() }),
			processmanagers.On(func(e events.SubscriptionResumed) string { return e.SubscriptionID.String() }),
			processmanagers.On(func(e events.BillingResumed) string { return e.SubscriptionID.String() }),
			processmanagers.Follow(func(e events.PeriodDue) string { return e.SubscriptionID.String() }),
			processmanagers.On(func(e events.PeriodWithdrawn) string { return e.SubscriptionID.String() }),
			processmanagers.On(func(e events.PeriodCancelled) string { return e.SubscriptionID.String() }),
			processmanagers.Follow(func(e events.CompensationTakenBack) string { return e.SubscriptionID.String() }),
			processmanagers.On(func(e events.SubscriptionEnded) string { return e.SubscriptionID.String() }),
		},
		Decide: decide, Evolve: evolve,
		Ended: func(s State) bool { return s.SubscriptionID.IsZero() },
	}
}

// evolve follows the planned change.
func evolve(s State, in processmanagers.Input) State {
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.PlanChangePlanned:
		return State{SubscriptionID: e.SubscriptionID, At: e.EffectiveAt}
	case events.PlanChangeMoved:
		return State{SubscriptionID: e.SubscriptionID, At: e.EffectiveAt}
	case events.PlanChangeDropped, events.SubscriptionPlanChanged, events.SubscriptionEnded:
		return State{}
	}
	return s
}

// decide asks for the change when its time has come or may have moved, and arms the timer for a new one.
func decide(s State, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
	after := evolve(s, in)
	wait := func(at time.Time) processmanagers.Output {
		return processmanagers.Output{Timers: []processmanagers.Timer{{Name: timer, At: at}}}
	}
	if after.SubscriptionID.IsZero() {
		return wait(time.Time{}), nil
	}
	if in.Refusal != nil {
		return wait(now.Add(patience)), nil
	}
	if in.Event != nil {
		switch in.Event.Event.(type) {
		case events.PlanChangePlanned, events.PlanChangeMoved:
			return wait(after.At), nil
		}
	}
	return processmanagers.Output{
		Commands: []commands.Command{commands.ApplyPlanChange{SubscriptionID: after.SubscriptionID}},
	}, nil
}
