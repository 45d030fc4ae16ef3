// Package usererasing has the key of a user destroyed who is forgotten, because nothing is left that the sign-in saw.
// Source: docs/rules/identity.md#portal-users.
//
//	UserForgotten ──► job EraseUser; the instance ends
package usererasing

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// State is empty: each instance ends with the event that began it.
type State struct{}

// Process has one instance for each user who is forgotten.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "identity_erasing",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.UserForgotten) string { return e.UserID.String() }),
		},
		Decide: decide, Evolve: func(s State, _ processmanagers.Input) State { return s },
		Ended: func(State) bool { return true },
	}
}

// decide asks for the job.
func decide(_ State, in processmanagers.Input, _ time.Time) (processmanagers.Output, error) {
	var out processmanagers.Output
	if in.Event != nil {
		if e, forgotten := in.Event.Event.(events.UserForgotten); forgotten {
			out.Jobs = []commands.Job{commands.EraseUser{UserID: e.UserID}}
		}
	}
	return out, nil
}
