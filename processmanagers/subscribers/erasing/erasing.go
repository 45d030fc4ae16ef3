// Package erasing goes on with forgetting a person whose account was closed for it, whatever becomes of the request
// that asked. Source: docs/rules/subscribers.md#forgetting.
//
//	AccountClosed{Forget} ──a minute──► ForgetSubscriber, unless the request did it
//	SubscriberForgotten ──► job ErasePerson ──an hour──► job ErasePerson ──► ended
//
// The second job removes what was on its way when the first one looked: an answer that was not stored yet, a callback
// that was not handled.
package erasing

import (
	"errors"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// How long the process waits.
const (
	GoesOnAfter = time.Minute // longer than a request that lives takes to go on itself
	AgainAfter  = time.Hour   // longer than anything about the person is on its way
)

// Names of the timers.
const (
	timerGoOn  = "go on"
	timerAgain = "again"
)

// Reason stands in the event when the process, and no request, forgets the person.
const Reason = "the request that closed the account for it was broken off"

// State is how far the forgetting of one person has come.
type State struct {
	OrgID        id.Organization `json:"orgId,omitzero"`
	SubscriberID id.Subscriber   `json:"subscriberId,omitzero"`
	Gone         bool            `json:"gone,omitempty"` // SubscriberForgotten was recorded
	Over         bool            `json:"over,omitempty"` // after the second job; or there is nothing to forget
}

// Process has one instance for each person who is forgotten. One who is removed with an import has none: their key
// stays until somebody wants it destroyed.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "subscribers_erasing",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.AccountClosed) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.SubscriberForgotten) string { return e.SubscriberID.String() }),
		},
		Decide: decide, Evolve: evolve,
		Ended: func(s State) bool { return s.Over || s.SubscriberID.IsZero() },
	}
}

// errNoOrganization stops an instance: without the organization nothing would be found.
var errNoOrganization = errors.New("a person is forgotten, and the event does not name the organization")

// decide asks for the next step.
func decide(s State, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
	var out processmanagers.Output
	if in.Timeout != nil {
		switch {
		case in.Timeout.Name == timerAgain && s.Gone:
			out.Jobs = []commands.Job{commands.ErasePerson{OrgID: s.OrgID, SubscriberID: s.SubscriberID}}
		case in.Timeout.Name == timerGoOn && !s.Gone && !s.SubscriberID.IsZero():
			out.Commands = []commands.Command{commands.ForgetSubscriber{SubscriberID: s.SubscriberID, Reason: Reason}}
		}
		return out, nil
	}
	if in.Event == nil {
		return out, nil
	}
	switch e := in.Event.Event.(type) {
	case events.AccountClosed:
		if e.Forget && !s.Gone {
			out.Timers = []processmanagers.Timer{{Name: timerGoOn, At: now.Add(GoesOnAfter)}}
		}
	case events.SubscriberForgotten:
		switch {
		case e.Undone:
			return out, nil
		case in.Event.Meta.OrgID.IsZero():
			return out, errNoOrganization
		}
		out.Jobs = []commands.Job{commands.ErasePerson{
			OrgID: in.Event.Meta.OrgID, SubscriberID: e.SubscriberID, Position: in.Event.Position,
		}}
		out.Timers = []processmanagers.Timer{{Name: timerAgain, At: now.Add(AgainAfter)}}
	}
	return out, nil
}

// evolve follows the person.
func evolve(s State, in processmanagers.Input) State {
	if in.Event == nil {
		s.Over = s.Over || in.Timeout != nil && in.Timeout.Name == timerAgain
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.AccountClosed:
		if e.Forget {
			s.OrgID, s.SubscriberID = e.OrgID, e.SubscriberID
		}
	case events.SubscriberForgotten:
		if e.Undone {
			return State{}
		}
		s.OrgID, s.SubscriberID, s.Gone = in.Event.Meta.OrgID, e.SubscriberID, true
	}
	return s
}
