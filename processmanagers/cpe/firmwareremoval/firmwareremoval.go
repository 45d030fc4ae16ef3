// Package firmwareremoval takes a file of firmware from the CPE server that a person took back. What is lost on the way
// is asked for again, until the server does not have the file.
//
//	removed ──► timer look
//	timer look: job DeleteCpeFirmware, and the next look ──► deleted
//
// Source: docs/rules/cpe.md#firmware.
package firmwareremoval

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// timerLook says when the job is asked for.
const timerLook = "look"

// Times of a removal. A deployment that was asked for in the moment of the removal is in the log after the first.
const (
	first = time.Minute
	pause = 10 * time.Minute
)

// State is one file on its way out. The zero value is none.
type State struct {
	Job commands.DeleteCpeFirmware `json:"job"`
}

// Process has an instance for each file that is taken back.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "cpe_firmware_removal",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.CpeFirmwareRemoved) string { return e.FirmwareID.String() }),
			processmanagers.Follow(func(e events.CpeFirmwareDeleted) string { return e.FirmwareID.String() }),
		},
		Decide: decide, Evolve: evolve,
		Ended: func(s State) bool { return s.Job.FirmwareID.IsZero() },
	}
}

// evolve follows the file until the server does not have it.
func evolve(s State, in processmanagers.Input) State {
	if in.Event == nil {
		return s
	}
	if e, begins := in.Event.Event.(events.CpeFirmwareRemoved); begins {
		return State{Job: commands.DeleteCpeFirmware{
			FirmwareID: e.FirmwareID, OrgID: e.OrgID, StoredAs: e.StoredAs, Position: in.Event.Position,
		}}
	}
	return State{} // it is deleted
}

// decide asks for the job when it is time.
func decide(s State, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
	if in.Event != nil {
		look := processmanagers.Timer{Name: timerLook}
		if _, begins := in.Event.Event.(events.CpeFirmwareRemoved); begins {
			look.At = now.Add(first)
		}
		return processmanagers.Output{Timers: []processmanagers.Timer{look}}, nil
	}
	if s.Job.FirmwareID.IsZero() {
		return processmanagers.Output{}, nil
	}
	return processmanagers.Output{
		Jobs: []commands.Job{s.Job}, Timers: []processmanagers.Timer{{Name: timerLook, At: now.Add(pause)}},
	}, nil
}
