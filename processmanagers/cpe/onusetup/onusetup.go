// Package onusetup takes the set-up of an ONU through its steps, and takes an ONU out of its terminal. What is lost on
// the way is asked for again: every step may be done twice.
//
//	asked ──► job PlaceCpeOnu, with growing pauses ──► ready, failed, expired
//	timer look: the job is asked for again    timer expiry ──► ExpireCpeOnu
//	failed, because the CPE is not the organization's ──► RemoveCpeOnu
//	leaving ──► job TakeOutCpeOnu, with growing pauses ──► taken out
//
// Source: docs/rules/cpe.md#optical-ends.
package onusetup

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// Timers of an instance.
const (
	timerLook   = "look"   // when the job is asked for again
	timerExpiry = "expiry" // when the time of the set-up is over
)

// Pauses between two looks: as long as the work has lasted, within these bounds.
const (
	shortestPause = 15 * time.Second
	longestPause  = 10 * time.Minute
)

// State is one ONU on its way in or out. The zero value is none.
type State struct {
	Work    commands.CpeOnuWork `json:"work"`
	Leaving bool                `json:"leaving,omitempty"`
	Since   time.Time           `json:"since"`
}

// Process has an instance for each ONU that is on its way.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "cpe_onu_setup",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.CpeOnuAsked) string { return e.OnuID.String() }),
			processmanagers.On(func(e events.CpeOnuLeaving) string { return e.OnuID.String() }),
			processmanagers.Follow(func(e events.CpeOnuReady) string { return e.OnuID.String() }),
			processmanagers.Follow(func(e events.CpeOnuFailed) string { return e.OnuID.String() }),
			processmanagers.Follow(func(e events.CpeOnuExpired) string { return e.OnuID.String() }),
			processmanagers.Follow(func(e events.CpeOnuTakenOut) string { return e.OnuID.String() }),
		},
		Decide: decide, Evolve: evolve,
		Ended: func(s State) bool { return s.Work.OnuID.IsZero() },
	}
}

// evolve follows the ONU.
func evolve(s State, in processmanagers.Input) State {
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.CpeOnuAsked:
		return State{Work: workOf(e.CpeOnuSubject, e.Place, e.Steps), Since: e.At}
	case events.CpeOnuLeaving:
		return State{Work: workOf(e.CpeOnuSubject, e.Place, nil), Leaving: true, Since: e.At}
	}
	return State{}
}

// workOf has the arguments of the jobs.
func workOf(of events.CpeOnuSubject, place events.CpeOnuPlace, steps []string) commands.CpeOnuWork {
	return commands.CpeOnuWork{
		OnuID: of.OnuID, CpeID: of.CpeID, OrgID: of.OrgID, OperationID: of.OperationID, Place: place, Steps: steps,
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
	case events.CpeOnuAsked:
		out := asks(evolve(s, in), now, shortestPause)
		out.Timers = append(out.Timers, processmanagers.Timer{Name: timerExpiry, At: e.ExpiresAt})
		return out, nil
	case events.CpeOnuLeaving:
		out := asks(evolve(s, in), now, shortestPause)
		out.Timers = append(out.Timers, processmanagers.Timer{Name: timerExpiry})
		return out, nil
	case events.CpeOnuFailed:
		out := rests()
		if e.Code == commands.CpeOnuReleased {
			out.Commands = []commands.Command{commands.RemoveCpeOnu{OnuID: e.OnuID, CpeID: e.CpeID}}
		}
		return out, nil
	}
	return rests(), nil
}

// rests disarms the timers.
func rests() processmanagers.Output {
	return processmanagers.Output{Timers: []processmanagers.Timer{{Name: timerLook}, {Name: timerExpiry}}}
}

// asks asks for the job, and for the next look after a pause.
func asks(s State, now time.Time, pause time.Duration) processmanagers.Output {
	var job commands.Job = commands.PlaceCpeOnu{CpeOnuWork: s.Work}
	if s.Leaving {
		job = commands.TakeOutCpeOnu{CpeOnuWork: s.Work}
	}
	return processmanagers.Output{
		Jobs: []commands.Job{job}, Timers: []processmanagers.Timer{{Name: timerLook, At: now.Add(pause)}},
	}
}

// onTimeout asks for the job again, or ends what is not to be done any more. The timer of the end stays armed until the
// end is recorded.
func onTimeout(s State, due processmanagers.Timeout, now time.Time) processmanagers.Output {
	if s.Work.OnuID.IsZero() {
		return processmanagers.Output{}
	}
	if due.Name == timerExpiry {
		return processmanagers.Output{
			Commands: []commands.Command{commands.ExpireCpeOnu{OnuID: s.Work.OnuID, OperationID: s.Work.OperationID}},
			Timers:   []processmanagers.Timer{{Name: timerExpiry, At: now.Add(longestPause)}},
		}
	}
	return asks(s, now, min(max(now.Sub(s.Since), shortestPause), longestPause))
}
