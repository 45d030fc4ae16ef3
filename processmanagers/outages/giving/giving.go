// Package giving has a compensation given in parts:
//
//	CompensationApplied ──► GiveCompensationPart, one job for each part
//
// It remembers nothing: each job reports the end of its part to the compensation, and a repeat of a part gives nothing
// again, because each subscription knows the compensations that it had.
package giving

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// State is empty.
type State struct{}

// Process has an instance for each compensation, which ends at once.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "compensation",
		On: []processmanagers.Handled{
			processmanagers.Follow(func(e events.CompensationApplied) string { return e.CompensationID.String() }),
		},
		Decide: func(_ State, in processmanagers.Input, _ time.Time) (processmanagers.Output, error) {
			var out processmanagers.Output
			if in.Event == nil {
				return out, nil
			}
			if e, ok := in.Event.Event.(events.CompensationApplied); ok {
				for part := range e.Parts {
					out.Jobs = append(out.Jobs, commands.GiveCompensationPart{
						OrgID: e.OrgID, CompensationID: e.CompensationID, Part: part,
					})
				}
			}
			return out, nil
		},
		Evolve: func(s State, _ processmanagers.Input) State { return s },
		Ended:  func(State) bool { return true },
	}
}
