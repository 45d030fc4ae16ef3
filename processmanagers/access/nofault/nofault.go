// Package nofault has the clocks of dunning stand still while customers cannot pay or have no line:
//
//	fault begins ──► FollowFault ──► timer "round" ──► FollowFault (who came to owe meanwhile) ──► ...
//	fault ends   ──► FollowFault with its end; the instance ends
//	platform was away ──► FollowFault with beginning and end, beside all faults
//
// The jobs find the customers. The process only remembers the fault.
package nofault

import (
	"strconv"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// Every is the time between two rounds while a fault lasts. A clock that begins to run meanwhile is stopped by the next
// round, from the beginning of the fault.
const Every = 5 * time.Minute

// round is the name of the timer.
const round = "round"

// State is the fault that lasts. The zero value is none.
type State struct {
	OrgID    id.Organization `json:"orgId"`
	DeviceID id.Device       `json:"deviceId"` // zero = customers cannot pay
	From     time.Time       `json:"from,omitzero"`
	Position uint64          `json:"position"` // of the event that began it
	Rounds   int             `json:"rounds,omitempty"`
}

// Process has an instance for each router that cannot be reached, and for each organization whose customers cannot pay.
// An absence of the platform begins and ends none: it is over when it is recorded.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "no_fault",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.PaymentsInterrupted) string { return e.OrgID.String() }),
			processmanagers.Follow(func(e events.PaymentsResumed) string { return e.OrgID.String() }),
			processmanagers.On(func(e events.PlatformAway) string { return e.OrgID.String() }),
			processmanagers.On(func(e events.DeviceUnreachable) string { return e.DeviceID.String() }),
			processmanagers.Follow(func(e events.DeviceRecovered) string { return e.DeviceID.String() }),
			processmanagers.Follow(func(e events.DeviceDecommissioned) string { return e.DeviceID.String() }),
		},
		Decide: decide, Evolve: evolve,
		Ended: func(s State) bool { return s.From.IsZero() },
	}
}

// evolve keeps the fault that lasts.
func evolve(s State, in processmanagers.Input) State {
	switch {
	case in.Timeout != nil && s.over(in.Timeout.At):
		return State{}
	case in.Timeout != nil:
		s.Rounds++
		return s
	case in.Event == nil:
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.PaymentsInterrupted:
		return State{OrgID: e.OrgID, From: e.From, Position: in.Event.Position}
	case events.DeviceUnreachable:
		if s.From.IsZero() {
			return State{OrgID: in.Event.Meta.OrgID, DeviceID: e.DeviceID, From: e.At, Position: in.Event.Position}
		}
	case events.PaymentsResumed, events.DeviceRecovered, events.DeviceDecommissioned:
		return State{}
	}
	return s
}

// over reports whether the fault has lasted for so long that it is none any more.
func (s State) over(at time.Time) bool { return at.Sub(s.From) >= commands.LongestFault }

// decide asks for the jobs and the next round.
func decide(s State, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
	if in.Event != nil {
		if e, ok := in.Event.Event.(events.PlatformAway); ok {
			return processmanagers.Output{Jobs: []commands.Job{absence(e, in.Event.Position)}}, nil
		}
	}
	after := evolve(s, in)
	switch {
	case s.From.IsZero() && after.From.IsZero():
		return processmanagers.Output{}, nil
	case !after.From.IsZero() && (in.Timeout != nil || s.From.IsZero()):
		return processmanagers.Output{
			Jobs:   []commands.Job{after.job()},
			Timers: []processmanagers.Timer{{Name: round, At: now.Add(Every)}},
		}, nil
	case after.From.IsZero():
		job := s.job()
		job.Until = s.end(in)
		job.Round = 0
		return processmanagers.Output{
			Jobs: []commands.Job{job}, Timers: []processmanagers.Timer{{Name: round}},
		}, nil
	}
	return processmanagers.Output{}, nil
}

// end is the instant at which the fault ended.
func (s State) end(in processmanagers.Input) time.Time {
	if in.Event == nil {
		return s.From.Add(commands.LongestFault)
	}
	switch e := in.Event.Event.(type) {
	case events.PaymentsResumed:
		return e.Until
	case events.DeviceRecovered:
		return e.At
	}
	return in.Event.Meta.At
}

// job is the work of one round of the fault.
func (s State) job() commands.FollowFault {
	cause := events.ClockNoPayment + ":"
	if !s.DeviceID.IsZero() {
		cause = events.ClockNoLine + ":" + s.DeviceID.String() + ":"
	}
	return commands.FollowFault{
		OrgID: s.OrgID, Cause: cause + strconv.FormatInt(s.From.Unix(), 10), DeviceID: s.DeviceID, From: s.From,
		Round: s.Rounds, Position: s.Position,
	}
}

// absence is the work of an absence of the platform. Its cause meets that of no outage of the provider, which has a
// number right after the colon.
func absence(e events.PlatformAway, position uint64) commands.FollowFault {
	return commands.FollowFault{
		OrgID: e.OrgID, Cause: events.ClockNoPayment + ":platform:" + strconv.FormatInt(e.From.UnixMicro(), 10),
		From: e.From, Until: e.Until, Position: position,
	}
}
