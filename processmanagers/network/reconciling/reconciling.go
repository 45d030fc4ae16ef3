// Package reconciling runs a requested reconcile of a whole device, of its setup or of its firewall, and asks again
// when the job is lost.
//
//	requested ──► job ReconcileDevice, ReconcileSetup or ReconcileFirewall ──► finished, over
//	no end within 10 min (timer retry), twice ──► the same job again, which continues the run
package reconciling

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// timerRetry comes due when a run has not ended in time; the job may be lost.
const timerRetry = "retry"

// A run gets finishWithin for each try; after maxTries without an end the process gives up.
const (
	finishWithin = 10 * time.Minute
	maxTries     = 3
)

// State is one run. Tries counts the time-outs.
type State struct {
	RunID    id.Run               `json:"runId"`
	DeviceID id.Device            `json:"deviceId"`
	Kind     events.ReconcileKind `json:"kind,omitempty"`
	Tries    int                  `json:"tries,omitempty"`
	Over     bool                 `json:"over,omitempty"`
}

// Process has one instance for each run; the instance ends with the run.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "reconciling",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.ReconcileRequested) string { return e.RunID.String() }),
			processmanagers.On(func(e events.ReconcileFinished) string { return e.RunID.String() }),
		},
		Decide: Decide, Evolve: Evolve,
		Ended: func(s State) bool { return s.Over || s.RunID.IsZero() },
	}
}

// Evolve counts time-outs and ends with the run's last event.
func Evolve(s State, in processmanagers.Input) State {
	if in.Timeout != nil {
		s.Tries++
		s.Over = s.Tries >= maxTries
	}
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.ReconcileRequested:
		return State{RunID: e.RunID, DeviceID: e.DeviceID, Kind: e.Kind}
	case events.ReconcileFinished:
		s.Over = true
	}
	return s
}

// Decide asks for the job at the request and at each time-out before the last.
func Decide(s State, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
	next := Evolve(s, in)
	switch {
	case in.Timeout != nil && !next.Over && !s.RunID.IsZero():
		return next.ask(0, now), nil
	case in.Event == nil:
		return processmanagers.Output{}, nil
	}
	if _, is := in.Event.Event.(events.ReconcileRequested); is {
		return next.ask(in.Event.Position, now), nil
	}
	return processmanagers.Output{Timers: []processmanagers.Timer{{Name: timerRetry}}}, nil
}

// ask returns the job of the run, with a timer that asks again when the job does not end.
func (s State) ask(position uint64, now time.Time) processmanagers.Output {
	var job commands.Job = commands.ReconcileDevice{DeviceID: s.DeviceID, RunID: s.RunID, Position: position}
	switch s.Kind {
	case events.ReconcileFirewall:
		job = commands.ReconcileFirewall{DeviceID: s.DeviceID, RunID: s.RunID, Position: position}
	case events.ReconcileSetup:
		job = commands.ReconcileSetup{DeviceID: s.DeviceID, RunID: s.RunID, Position: position}
	case events.ReconcileDevice, events.ReconcileApply, events.ReconcileRemove, events.ReconcileRecreate:
	}
	return processmanagers.Output{
		Jobs: []commands.Job{job}, Timers: []processmanagers.Timer{{Name: timerRetry, At: now.Add(finishWithin)}},
	}
}
