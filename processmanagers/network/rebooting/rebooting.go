// Package rebooting reboots a router once and finds out by its uptime whether it did. A connection that drops after the
// command is no failure; neither is a crash: the command is never sent twice. Source: docs/facts/routeros.md#reboot.
//
//	requested ──► job RebootDevice ──► started ──► accepted ──┬──► confirmed
//	                                        └── a crash ──────┤
//	timer verify: 30 s, then every 30 s ──► job VerifyReboot ─┘──► after 10 min the last one: failed
//	never started within 2 min ──► FailReboot: it was not sent and will not be
package rebooting

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// timerVerify asks for the uptime.
const timerVerify = "verify"

// Waits.
const (
	startWithin = 2 * time.Minute
	verifyEvery = 30 * time.Second
	backWithin  = 10 * time.Minute
)

// State is what is known of the last reboot of one router.
type State struct {
	DeviceID  id.Device `json:"deviceId"`
	RunID     id.Run    `json:"runId"`
	StartedAt time.Time `json:"startedAt,omitzero"`
	Over      bool      `json:"over,omitempty"`
}

// Process is the definition for the engine.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "rebooting",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.DeviceRebootRequested) string { return e.DeviceID.String() }),
			processmanagers.On(func(e events.DeviceRebootStarted) string { return e.DeviceID.String() }),
			processmanagers.On(func(e events.DeviceRebootConfirmed) string { return e.DeviceID.String() }),
			processmanagers.On(func(e events.DeviceRebootFailed) string { return e.DeviceID.String() }),
			processmanagers.On(func(e events.DeviceDecommissioned) string { return e.DeviceID.String() }),
		},
		Decide: Decide, Evolve: Evolve,
		Ended: func(s State) bool { return s.Over || s.RunID.IsZero() },
	}
}

// Evolve is the state after an input.
func Evolve(s State, in processmanagers.Input) State {
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.DeviceRebootRequested:
		return State{DeviceID: e.DeviceID, RunID: e.RunID}
	case events.DeviceRebootStarted:
		s.StartedAt = e.At
	default:
		s.Over = true
	}
	return s
}

// Decide says what to do about an input.
func Decide(s State, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
	switch {
	case in.Timeout != nil:
		return onTimeout(s, now), nil
	case in.Event == nil:
		return processmanagers.Output{}, nil
	}
	verify := processmanagers.Timer{Name: timerVerify}
	out := processmanagers.Output{}
	switch e := in.Event.Event.(type) {
	case events.DeviceRebootRequested:
		out.Jobs = []commands.Job{
			commands.RebootDevice{DeviceID: e.DeviceID, RunID: e.RunID, Position: in.Event.Position},
		}
		verify.At = e.At.Add(startWithin)
	case events.DeviceRebootStarted:
		verify.At = e.At.Add(verifyEvery)
	}
	out.Timers = []processmanagers.Timer{verify}
	return out, nil
}

// onTimeout asks the router again, or gives up.
func onTimeout(s State, now time.Time) processmanagers.Output {
	if s.RunID.IsZero() || s.Over {
		return processmanagers.Output{}
	}
	if s.StartedAt.IsZero() {
		return processmanagers.Output{Commands: []commands.Command{commands.FailReboot{
			DeviceID: s.DeviceID, RunID: s.RunID, Message: "The command was not sent within two minutes.",
		}}}
	}
	final := !now.Before(s.StartedAt.Add(backWithin))
	next := now.Add(verifyEvery)
	if final {
		next = now.Add(startWithin) // in case this job, too, is lost
	}
	return processmanagers.Output{
		Jobs:   []commands.Job{commands.VerifyReboot{DeviceID: s.DeviceID, RunID: s.RunID, Final: final}},
		Timers: []processmanagers.Timer{{Name: timerVerify, At: next}},
	}
}
