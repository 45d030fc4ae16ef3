// Package exporting has the copy made that an organization has asked for:
//
//	ExportAsked ──► job RunExport ──► ExportFinished, or ExportFailed
//
// The queue repeats the job until it has recorded its end, or its attempts are used up. A copy that was begun is made
// from its beginning again.
package exporting

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// State says whether the copy is made.
type State struct {
	Asked bool `json:"asked,omitempty"`
	Over  bool `json:"over,omitempty"`
}

// Process has one instance for each export; it ends with the export.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "exporting",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.ExportAsked) string { return e.ExportID.String() }),
			processmanagers.On(func(e events.ExportFinished) string { return e.ExportID.String() }),
			processmanagers.On(func(e events.ExportFailed) string { return e.ExportID.String() }),
		},
		Decide: decide, Evolve: evolve,
		Ended: func(s State) bool { return s.Over || !s.Asked },
	}
}

// evolve follows the export.
func evolve(s State, in processmanagers.Input) State {
	if in.Event == nil {
		return s
	}
	switch in.Event.Event.(type) {
	case events.ExportAsked:
		s.Asked = true
	case events.ExportFinished, events.ExportFailed:
		s.Over = true
	}
	return s
}

// decide asks for the copy.
func decide(_ State, in processmanagers.Input, _ time.Time) (processmanagers.Output, error) {
	if in.Event == nil {
		return processmanagers.Output{}, nil
	}
	e, ok := in.Event.Event.(events.ExportAsked)
	if !ok {
		return processmanagers.Output{}, nil
	}
	return processmanagers.Output{Jobs: []commands.Job{commands.RunExport{
		OrgID: e.OrgID, ExportID: e.ExportID, Position: in.Event.Position,
	}}}, nil
}
