// Package reconciliations has a statement compared when it was uploaded, and its missing receipts taken in when
// somebody asks for it. Source: docs/rules/money.md#reconciliation.
//
//	started ──► job CompareStatement ──► compared, or failed
//	adoption started ──► job AdoptStatement ──► adopted, or failed
package reconciliations

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// State is empty: each event has all that its job needs.
type State struct{}

// Process has one instance for each reconciliation, which ends at once.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "reconciliations",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.ReconciliationStarted) string { return e.ReconciliationID.String() }),
			processmanagers.On(func(e events.ReconciliationAdoptionStarted) string {
				return e.ReconciliationID.String()
			}),
		},
		Decide: Decide,
		Evolve: func(s State, _ processmanagers.Input) State { return s },
		Ended:  func(State) bool { return true },
	}
}

// Decide asks for the work.
func Decide(_ State, in processmanagers.Input, _ time.Time) (processmanagers.Output, error) {
	var out processmanagers.Output
	if in.Event == nil {
		return out, nil
	}
	switch e := in.Event.Event.(type) {
	case events.ReconciliationStarted:
		out.Jobs = []commands.Job{
			commands.CompareStatement{ReconciliationID: e.ReconciliationID, Position: in.Event.Position},
		}
	case events.ReconciliationAdoptionStarted:
		out.Jobs = []commands.Job{
			commands.AdoptStatement{ReconciliationID: e.ReconciliationID, Position: in.Event.Position},
		}
	}
	return out, nil
}
