// Package importing takes the parts of an import in one after the other:
//
//	ImportAsked ──► job RunImportPart ──► ImportPartDone ──► the next job ──► ImportFinished
//
// A job makes customers with the commands that everybody uses, under ids that follow from the row, so a part that is
// begun again after a crash makes nothing twice. The queue repeats a job until it has recorded its part. A job whose
// rows are gone ends the import, and ImportBegunAgain goes through all of its parts once more.
package importing

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// State is one import.
type State struct {
	ImportID id.Import       `json:"importId"`
	OrgID    id.Organization `json:"orgId"`
	Parts    int             `json:"parts"`
	Round    int             `json:"round,omitempty"`
	Over     bool            `json:"over,omitempty"`
}

// Process has one instance for each import; it ends with the import.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "importing",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.ImportAsked) string { return e.ImportID.String() }),
			processmanagers.On(func(e events.ImportBegunAgain) string { return e.ImportID.String() }),
			processmanagers.On(func(e events.ImportPartDone) string { return e.ImportID.String() }),
			processmanagers.On(func(e events.ImportFinished) string { return e.ImportID.String() }),
		},
		Decide: decide, Evolve: evolve,
		Ended: func(s State) bool { return s.Over || s.ImportID.IsZero() },
	}
}

// evolve follows the import.
func evolve(s State, in processmanagers.Input) State {
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.ImportAsked:
		return State{ImportID: e.ImportID, OrgID: e.OrgID, Parts: e.Parts}
	case events.ImportBegunAgain:
		return State{ImportID: e.ImportID, OrgID: e.OrgID, Parts: e.Parts, Round: e.Round}
	case events.ImportFinished:
		s.Over = true
	}
	return s
}

// decide asks for the next part.
func decide(s State, in processmanagers.Input, _ time.Time) (processmanagers.Output, error) {
	if in.Event == nil {
		return processmanagers.Output{}, nil
	}
	after, next := evolve(s, in), 0
	switch e := in.Event.Event.(type) {
	case events.ImportAsked, events.ImportBegunAgain:
	case events.ImportPartDone:
		next = e.Part + 1
	default:
		return processmanagers.Output{}, nil
	}
	if next >= after.Parts {
		return processmanagers.Output{}, nil
	}
	return processmanagers.Output{Jobs: []commands.Job{commands.RunImportPart{
		OrgID: after.OrgID, ImportID: after.ImportID, Part: next, Round: after.Round,
	}}}, nil
}
