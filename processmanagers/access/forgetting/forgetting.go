// Package forgetting clears what the network has told about a person who is forgotten.
//
//	waiting --an hour--> ended
//
// The sessions and the use of the person are deleted at once, and again after the hour: a program that has not heard of
// it yet may have recorded a report meanwhile.
package forgetting

import (
	"errors"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// againAfter is longer than any program is behind the log while it records reports.
const againAfter = time.Hour

// again is the name of the timer.
const again = "again"

// State names the person whom an instance waits for.
type State struct {
	OrgID        id.Organization `json:"orgId,omitzero"`
	SubscriberID id.Subscriber   `json:"subscriberId,omitzero"`
	Ended        bool            `json:"ended,omitempty"`
}

// Process has one instance for each person who is forgotten.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "access_forgetting",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.SubscriberForgotten) string { return e.SubscriberID.String() }),
		},
		Decide: decide, Evolve: evolve, Ended: func(s State) bool { return s.Ended },
	}
}

// errNoOrganization stops an instance: without the organization nothing would be found.
var errNoOrganization = errors.New("a person is forgotten, and the event does not name the organization")

// decide asks for the deletion, now and after the hour.
func decide(s State, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
	after := evolve(s, in)
	job := commands.ForgetTelemetry{OrgID: after.OrgID, SubscriberID: after.SubscriberID}
	if in.Event != nil {
		job.Position = in.Event.Position
	}
	out := processmanagers.Output{Jobs: []commands.Job{job}}
	switch {
	case after.OrgID.IsZero():
		return processmanagers.Output{}, errNoOrganization
	case in.Event != nil:
		out.Timers = []processmanagers.Timer{{Name: again, At: now.Add(againAfter)}}
	case in.Timeout == nil:
		return processmanagers.Output{}, nil
	}
	return out, nil
}

// evolve keeps who is forgotten, until the timer is due.
func evolve(s State, in processmanagers.Input) State {
	if in.Event != nil {
		if e, ok := in.Event.Event.(events.SubscriberForgotten); ok {
			return State{OrgID: in.Event.Meta.OrgID, SubscriberID: e.SubscriberID}
		}
	}
	s.Ended = s.Ended || in.Timeout != nil
	return s
}
