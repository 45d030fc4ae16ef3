// Package outagetelling has the customers of an outage told:
//
//	OutageBegan ──► timer "tell" ──► still there: TellOutage ──► (OutageEnded) ──► TellOutage that it is over
//	OutageEnded before the timer ──► nothing is told
//
// An outage that goes on as a part of another one is not over: nobody is told of its end. Whoever was told of the
// beginning hears of no extension.
package outagetelling

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// tell is the name of the timer.
const tell = "tell"

// State is an outage that customers are told of, or will be. The zero value is none.
type State struct {
	OrgID    id.Organization `json:"orgId"`
	OutageID id.Outage       `json:"outageId"`
	Position uint64          `json:"position"`
	Told     bool            `json:"told,omitempty"`
}

// Process has an instance for each outage that lasts.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "outage_messages",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.OutageBegan) string { return e.OutageID.String() }),
			processmanagers.Follow(func(e events.OutageEnded) string { return e.OutageID.String() }),
		},
		Decide: decide, Evolve: evolve, Ended: func(s State) bool { return s.OutageID.IsZero() },
	}
}

// evolve remembers an outage that is to be told.
func evolve(s State, in processmanagers.Input) State {
	if in.Timeout != nil {
		s.Told = true
		return s
	}
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.OutageBegan:
		if !e.TellAfter.IsZero() {
			return State{OrgID: e.OrgID, OutageID: e.OutageID, Position: in.Event.Position}
		}
	case events.OutageEnded:
		return State{}
	}
	return s
}

// decide arms the timer, and asks for the jobs.
func decide(s State, in processmanagers.Input, _ time.Time) (processmanagers.Output, error) {
	job := commands.TellOutage{OrgID: s.OrgID, OutageID: s.OutageID, Position: s.Position}
	switch {
	case in.Timeout != nil && !s.OutageID.IsZero() && !s.Told:
		return processmanagers.Output{Jobs: []commands.Job{job}}, nil
	case in.Event == nil:
		return processmanagers.Output{}, nil
	}
	switch e := in.Event.Event.(type) {
	case events.OutageBegan:
		return processmanagers.Output{Timers: []processmanagers.Timer{{Name: tell, At: e.TellAfter}}}, nil
	case events.OutageEnded:
		if s.Told && e.MergedInto.IsZero() {
			job.Over, job.Position = true, in.Event.Position
			return processmanagers.Output{Jobs: []commands.Job{job}}, nil
		}
	}
	return processmanagers.Output{}, nil
}
