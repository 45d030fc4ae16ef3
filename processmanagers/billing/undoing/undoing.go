// Package undoing takes a batch back part by part:
//
//	BatchUndoAsked ──► job UndoBatchPart ──► BatchUndoPartDone ──► the next job ──► BatchUndoFinished
//
// A job finds what it did before, so a part that is begun again after a crash takes nothing back twice. The queue
// repeats a job until it has recorded its part.
package undoing

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// State is empty: each event tells what comes next.
type State struct{}

// Process has an instance for each batch, which is kept by nothing.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "batch_undo",
		On: []processmanagers.Handled{
			processmanagers.Follow(func(e events.BatchUndoAsked) string { return e.BatchID.String() }),
			processmanagers.Follow(func(e events.BatchUndoPartDone) string { return e.BatchID.String() }),
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
	var job commands.UndoBatchPart
	switch e := in.Event.Event.(type) {
	case events.BatchUndoAsked:
		job = commands.UndoBatchPart{OrgID: e.OrgID, BatchID: e.BatchID, Round: e.Round}
	case events.BatchUndoPartDone:
		job = commands.UndoBatchPart{OrgID: e.OrgID, BatchID: e.BatchID, Round: e.Round, Part: e.Part + 1}
	default:
		return processmanagers.Output{}, nil
	}
	return processmanagers.Output{Jobs: []commands.Job{job}}, nil
}
