// Package portal takes away what customers of the portal see of a subscriber who is gone: forgotten, or removed with
// the import that made it. Source: docs/rules/identity.md#portal-users.
//
//	seen ──SubscriberForgotten──► EndPortalAccess of each user ──► gone ──an hour──► ended
//	                                        access that was given meanwhile ──► EndPortalAccess
//
// A wish for access that was read before the subscriber went may be written after it: so it waits for the hour.
package portal

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// lateFor is longer than any request takes.
const lateFor = time.Hour

// timerOver comes due when no access can be given any more.
const timerOver = "over"

// State has those who see one subscriber. The zero value is nobody.
type State struct {
	Users []id.User `json:"users,omitempty"` // in the order in which they came
	Gone  bool      `json:"gone,omitempty"`  // the subscriber
	Over  bool      `json:"over,omitempty"`  // the hour after it
}

// Process has one instance for each subscriber whom somebody sees.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "portal_access",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.PortalAccessGiven) string { return e.SubscriberID.String() }),
			processmanagers.Follow(func(e events.PortalAccessEnded) string { return e.SubscriberID.String() }),
			processmanagers.On(func(e events.SubscriberForgotten) string { return e.SubscriberID.String() }),
		},
		Decide: decide, Evolve: evolve,
		Ended: func(s State) bool { return s.Over || !s.Gone && len(s.Users) == 0 },
	}
}

// decide ends the access to a subscriber who goes, or has gone.
func decide(s State, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
	var out processmanagers.Output
	if in.Event == nil {
		return out, nil // a timer, or the refusal for a user who is gone, too
	}
	switch e := in.Event.Event.(type) {
	case events.PortalAccessGiven:
		if s.Gone {
			out.Commands = []commands.Command{end(e.UserID, in.Event.Meta.OrgID, e.SubscriberID)}
		}
	case events.SubscriberForgotten:
		for _, user := range s.Users {
			out.Commands = append(out.Commands, end(user, in.Event.Meta.OrgID, e.SubscriberID))
		}
		out.Timers = []processmanagers.Timer{{Name: timerOver, At: now.Add(lateFor)}}
	}
	return out, nil
}

// end takes the subscriber away, and a user of whom nothing else is left with it.
func end(user id.User, org id.Organization, subscriber id.Subscriber) commands.Command {
	return commands.EndPortalAccess{UserID: user, OrgID: org, SubscriberID: subscriber, Forget: true}
}

// evolve follows who sees the subscriber.
func evolve(s State, in processmanagers.Input) State {
	if in.Event == nil {
		s.Over = s.Over || in.Timeout != nil
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.PortalAccessGiven:
		s.Users = append(without(s.Users, e.UserID), e.UserID)
	case events.PortalAccessEnded:
		s.Users = without(s.Users, e.UserID)
	case events.SubscriberForgotten:
		s.Gone = true
	}
	return s
}

// without gives the others in a new list: states share what they have.
func without(users []id.User, user id.User) []id.User {
	return slices.DeleteFunc(slices.Clone(users), func(u id.User) bool { return u == user })
}
