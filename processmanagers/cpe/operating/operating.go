// Package operating takes a write to a CPE from its request to its outcome, and deletes its values then. What is lost
// on the way is asked for again; the job itself sends nothing twice that must not be.
//
//	queued ──► job SendCpeOperation ──► sent ──► job CheckCpeOperation, with growing pauses ──► confirmed, failed
//	timer look: the job is asked for again    timer expiry ──► ExpireCpeOperation
//	confirmed, failed, expired ──► job DropCpeValues
//
// Source: docs/rules/cpe.md#operations.
package operating

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// Timers of an instance.
const (
	timerLook   = "look"   // when the next job is asked for
	timerExpiry = "expiry" // when the time of the operation is over
)

// Pauses between two looks: as long as the operation is sent, within these bounds. A setting of a device that has
// answered the call is looked for at once, because the device writes it at this moment. Firmware is looked for more
// often, because the next device waits for its place.
const (
	calledPause   = time.Second
	shortestPause = 15 * time.Second
	longestPause  = 10 * time.Minute
	firmwarePause = time.Minute
)

// State is one operation on its way. The zero value is none.
type State struct {
	Work      commands.CpeWork `json:"work"`
	AskedAt   time.Time        `json:"askedAt"`
	SentAt    time.Time        `json:"sentAt,omitzero"` // zero = the server does not have it, as far as is known
	ExpiresAt time.Time        `json:"expiresAt"`
	Called    bool             `json:"called,omitempty"` // the device has answered the call, and is writing
}

// Process has an instance for each operation; the instance ends with it.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "cpe_operating",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.CpeOperationQueued) string { return e.OperationID.String() }),
			processmanagers.Follow(func(e events.CpeOperationSent) string { return e.OperationID.String() }),
			processmanagers.Follow(func(e events.CpeOperationConfirmed) string { return e.OperationID.String() }),
			processmanagers.Follow(func(e events.CpeOperationFailed) string { return e.OperationID.String() }),
			processmanagers.Follow(func(e events.CpeOperationExpired) string { return e.OperationID.String() }),
		},
		Decide: decide, Evolve: evolve,
		Ended: func(s State) bool { return s.Work.OperationID.IsZero() },
	}
}

// evolve follows the operation to its end.
func evolve(s State, in processmanagers.Input) State {
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.CpeOperationQueued:
		return State{Work: workOf(e), AskedAt: e.At, ExpiresAt: e.ExpiresAt}
	case events.CpeOperationSent:
		s.SentAt, s.Called = e.At, answersAtOnce(s.Work.Operation, e.Call)
		return s
	}
	return State{}
}

// answersAtOnce reports whether a device that was called answers within seconds. Restarts, tests and firmware take
// longer, whatever the call.
func answersAtOnce(kind events.CpeOperationKind, call string) bool {
	return call == "ok" && (kind == events.CpeWifi || kind == events.CpeLogin || kind == events.CpeParameters)
}

// workOf has the arguments of the jobs of an operation.
func workOf(e events.CpeOperationQueued) commands.CpeWork {
	return commands.CpeWork{
		OperationID: e.OperationID, CpeID: e.CpeID, OrgID: e.OrgID, SubscriberID: e.SubscriberID, Operation: e.Kind,
		ValuesRef: e.ValuesRef, CallNow: e.CallNow, ExpiresAt: e.ExpiresAt, Deployed: e.Deployed,
	}
}

// decide asks for the next step.
func decide(s State, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
	switch {
	case in.Timeout != nil:
		return onTimeout(s, *in.Timeout, now), nil
	case in.Event == nil:
		return processmanagers.Output{}, nil
	}
	switch e := in.Event.Event.(type) {
	case events.CpeOperationQueued:
		return processmanagers.Output{
			Jobs: []commands.Job{commands.SendCpeOperation{CpeWork: workOf(e)}},
			Timers: []processmanagers.Timer{
				{Name: timerLook, At: e.At.Add(shortestPause)}, {Name: timerExpiry, At: e.ExpiresAt},
			},
		}, nil
	case events.CpeOperationSent:
		if s.Work.OperationID.IsZero() {
			return processmanagers.Output{}, nil
		}
		first := shortestPause
		if answersAtOnce(s.Work.Operation, e.Call) {
			first = calledPause
		}
		return processmanagers.Output{Timers: []processmanagers.Timer{{Name: timerLook, At: e.At.Add(first)}}}, nil
	}
	return drop(s), nil
}

// drop asks for the deletion of the values.
func drop(s State) processmanagers.Output {
	out := processmanagers.Output{Timers: []processmanagers.Timer{{Name: timerLook}, {Name: timerExpiry}}}
	if s.Work.ValuesRef != (id.Secret{}) {
		out.Jobs = []commands.Job{commands.DropCpeValues{
			OperationID: s.Work.OperationID, ValuesRef: s.Work.ValuesRef,
		}}
	}
	return out
}

// onTimeout asks for the job again, or ends what is not to be done any more. The timer of the end stays armed until the
// end is recorded.
func onTimeout(s State, due processmanagers.Timeout, now time.Time) processmanagers.Output {
	if s.Work.OperationID.IsZero() {
		return processmanagers.Output{}
	}
	if due.Name == timerExpiry {
		return processmanagers.Output{
			Commands: []commands.Command{commands.ExpireCpeOperation{OperationID: s.Work.OperationID}},
			Timers:   []processmanagers.Timer{{Name: timerExpiry, At: now.Add(longestPause)}},
		}
	}
	var job commands.Job = commands.SendCpeOperation{CpeWork: s.Work}
	since := s.AskedAt
	if !s.SentAt.IsZero() {
		job, since = commands.CheckCpeOperation{CpeWork: s.Work}, s.SentAt
	}
	longest := longestPause
	if s.Work.Operation == events.CpeFirmware {
		longest = firmwarePause
	}
	pause := min(max(now.Sub(since), shortestPause), longest)
	if s.Called && now.Sub(since) < shortestPause {
		pause = max(now.Sub(since)/2, calledPause)
	}
	return processmanagers.Output{
		Jobs: []commands.Job{job}, Timers: []processmanagers.Timer{{Name: timerLook, At: now.Add(pause)}},
	}
}
