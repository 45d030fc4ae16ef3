// Package rebooting reboots a router once and learns from its uptime whether it rebooted. A connection that drops after
// the command is no failure. The command is never sent twice, also not after a crash. Source:
// docs/facts/routeros.md#reboot.
//
//	requested ──► job RebootDevice ──► started ──► accepted ──┬──► confirmed
//	                                        └── a crash ──────┤
//	timer verify: 30 s, then every 30 s ──► job VerifyReboot ─┘──► after 10 min the last one: failed
//	never started within 2 min ──► FailReboot: the command was not sent and will not be
package rebooting

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// timerVerify comes due when the router's uptime is to be read, and when a reboot did not start in time.
const timerVerify = "verify"

// Waits, counted from the request and from the start of the reboot.
const (
	startWithin = 2 * time.Minute // or it counts as never sent
	verifyEvery = 30 * time.Second
	backWithin  = 10 * time.Minute // then the last check decides
)

// State is the newest reboot of one router. StartedAt is zero until the command is being sent.
type State struct {
	DeviceID  id.Device `json:"deviceId"`
	RunID     id.Run    `json:"runId"`
	StartedAt time.Time `json:"startedAt,omitzero"`
	Over      bool      `json:"over,omitempty"`
}

// Process has one instance for each router; the instance ends with the reboot.
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

// Evolve follows the newest reboot; any event other than the request and the start ends it.
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

// Decide sends the reboot once and then reads the uptime until the reboot is confirmed or failed.
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

// onTimeout reads the uptime again. A reboot that was never started fails.
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
		// The final job may be lost too, so the timer stays armed.
		next = now.Add(startWithin)
	}
	return processmanagers.Output{
		Jobs:   []commands.Job{commands.VerifyReboot{DeviceID: s.DeviceID, RunID: s.RunID, Final: final}},
		Timers: []processmanagers.Timer{{Name: timerVerify, At: next}},
	}
}
