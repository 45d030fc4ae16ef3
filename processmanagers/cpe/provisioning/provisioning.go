// Package provisioning brings an organization's provision to the CPE server, or takes it away there. What is lost on
// the way is asked for again, until the server is as the latest version wants it, or does not take it.
//
//	written, removed ──► job InstallCpeProvision ──► installed, uninstalled, refused
//	timer look: the job is asked for again
//
// Source: docs/rules/cpe.md#custom-provisions.
package provisioning

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// timerLook says when the job is asked for again.
const timerLook = "look"

// pause is the time between two jobs for one version.
const pause = 10 * time.Minute

// State is one provision on its way. The zero value is none.
type State struct {
	Job commands.InstallCpeProvision `json:"job"`
}

// Process has an instance for each provision that is on its way.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "cpe_provisioning",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.CpeProvisionWritten) string { return e.ProvisionID.String() }),
			processmanagers.On(func(e events.CpeProvisionRemoved) string { return e.ProvisionID.String() }),
			processmanagers.Follow(func(e events.CpeProvisionInstalled) string { return e.ProvisionID.String() }),
			processmanagers.Follow(func(e events.CpeProvisionUninstalled) string { return e.ProvisionID.String() }),
			processmanagers.Follow(func(e events.CpeProvisionRefused) string { return e.ProvisionID.String() }),
		},
		Decide: decide, Evolve: evolve,
		Ended: func(s State) bool { return s.Job.ProvisionID.IsZero() },
	}
}

// evolve follows the provision until the server has settled it.
func evolve(s State, in processmanagers.Input) State {
	if in.Event == nil {
		return s
	}
	if job, begins := jobOf(in.Event.Event); begins {
		return State{Job: job}
	}
	return State{}
}

// jobOf is the job that an event asks for; false for one that ends the wait.
func jobOf(e events.Event) (commands.InstallCpeProvision, bool) {
	switch e := e.(type) {
	case events.CpeProvisionWritten:
		return commands.InstallCpeProvision{ProvisionID: e.ProvisionID, OrgID: e.OrgID, Version: e.Version}, true
	case events.CpeProvisionRemoved:
		return commands.InstallCpeProvision{ProvisionID: e.ProvisionID, OrgID: e.OrgID, Version: e.Version}, true
	default: // an outcome
		return commands.InstallCpeProvision{}, false
	}
}

// decide asks for the job, and for a look at what became of it.
func decide(s State, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
	job := s.Job
	if in.Event != nil {
		var begins bool
		if job, begins = jobOf(in.Event.Event); !begins {
			return processmanagers.Output{Timers: []processmanagers.Timer{{Name: timerLook}}}, nil
		}
	}
	if job.ProvisionID.IsZero() {
		return processmanagers.Output{}, nil
	}
	return processmanagers.Output{
		Jobs: []commands.Job{job}, Timers: []processmanagers.Timer{{Name: timerLook, At: now.Add(pause)}},
	}, nil
}
