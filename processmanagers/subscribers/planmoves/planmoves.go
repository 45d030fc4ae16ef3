// Package planmoves moves the customers of a plan to its newest version, part by part:
//
//	PlanMoveAsked ──► job MovePlanPart ──► PlanMovePartDone ──► the next job ──► PlanMoveFinished
//
// A subscription that has the version is not moved again, so a part that is begun again after a crash moves nobody
// twice. The queue repeats a job until it has recorded its part.
package planmoves

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// State is empty: each event tells what comes next.
type State struct{}

// Process has an instance for each move, which is kept by nothing.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "plan_moves",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.PlanMoveAsked) string { return e.MoveID.String() }),
			processmanagers.On(func(e events.PlanMovePartDone) string { return e.MoveID.String() }),
		},
		Decide: decide,
		Evolve: func(s State, _ processmanagers.Input) State { return s },
		Ended:  func(State) bool { return true },
	}
}

// decide asks for the next part.
func decide(_ State, in processmanagers.Input, _ time.Time) (processmanagers.Output, error) {
	if in.Event == nil {
		return processmanagers.Output{}, nil
	}
	var job commands.MovePlanPart
	switch e := in.Event.Event.(type) {
	case events.PlanMoveAsked:
		job = commands.MovePlanPart{OrgID: e.OrgID, MoveID: e.MoveID}
	case events.PlanMovePartDone:
		job = commands.MovePlanPart{OrgID: e.OrgID, MoveID: e.MoveID, Part: e.Part + 1}
	default:
		return processmanagers.Output{}, nil
	}
	return processmanagers.Output{Jobs: []commands.Job{job}}, nil
}
