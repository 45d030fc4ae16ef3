// Package following lets the CPE server follow whose a CPE is and which login it uses, and keeps no state: each event
// leads to one or two jobs, which look at what is so by then.
//
//	claimed, assigned, given, taken, released ──► job TagCpe
//	signs in anew ──► job TagCpe, and it asks for its new password
//	released ──► job LeaveCpe, which takes back what waits for it
//	claimed, assigned, or given to somebody who waits, with a login ──► job FollowCpeLine, which has the login written
//	login changed ──► job FollowCpeLine, for all CPEs that use it
//	plan changed, ended ──► job FollowCpeLine, for their tags alone
//
// A CPE that gets a login also asks for it at its next call, whatever becomes of a write.
//
// Source: docs/rules/cpe.md#push.
package following

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// State is none: every instance has ended when its event was handled.
type State struct{}

// Process has an instance for each event, by the CPE or the subscription that it is about.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "cpe_following",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.CpeClaimed) string { return e.CpeID.String() }),
			processmanagers.On(func(e events.CpeAssigned) string { return e.CpeID.String() }),
			processmanagers.On(func(e events.CpeSubscriberAssigned) string { return e.CpeID.String() }),
			processmanagers.On(func(e events.CpeSubscriberRemoved) string { return e.CpeID.String() }),
			processmanagers.On(func(e events.CpeReleased) string { return e.CpeID.String() }),
			processmanagers.On(func(e events.CpeSignInEnded) string { return e.CpeID.String() }),
			processmanagers.On(func(e events.SubscriptionCredentialsSet) string { return e.SubscriptionID.String() }),
			processmanagers.On(func(e events.SubscriptionPlanChanged) string { return e.SubscriptionID.String() }),
			processmanagers.On(func(e events.SubscriptionEnded) string { return e.SubscriptionID.String() }),
		},
		Decide: decide, Evolve: func(State, processmanagers.Input) State { return State{} },
		Ended: func(State) bool { return true },
	}
}

// decide asks for the jobs of an event.
func decide(_ State, in processmanagers.Input, _ time.Time) (processmanagers.Output, error) {
	if in.Event == nil {
		return processmanagers.Output{}, nil
	}
	at := in.Event.Position
	tag := func(cpe id.CPE) []commands.Job { return []commands.Job{commands.TagCpe{CpeID: cpe, Position: at}} }
	line := func(l commands.FollowCpeLine) []commands.Job {
		l.Position = at
		return []commands.Job{l}
	}
	// uses brings a CPE the login of a service; zero = it has none.
	uses := func(cpe id.CPE, of id.Organization, service id.Subscription, now bool) []commands.Job {
		if service.IsZero() {
			return tag(cpe)
		}
		list := []commands.Job{commands.TagCpe{CpeID: cpe, Position: at, Asks: true}}
		if now {
			list = append(list, line(commands.FollowCpeLine{
				OrgID: of, SubscriptionID: service, CpeID: cpe, Push: true,
			})...)
		}
		return list
	}
	var list []commands.Job
	switch e := in.Event.Event.(type) {
	case events.CpeClaimed:
		list = uses(e.CpeID, e.OrgID, e.SubscriptionID, true)
	case events.CpeAssigned:
		list = uses(e.CpeID, e.OrgID, e.SubscriptionID, true)
	case events.CpeSubscriberAssigned:
		list = uses(e.CpeID, e.OrgID, e.SubscriptionID, e.PushNow)
	case events.CpeSubscriberRemoved:
		list = tag(e.CpeID)
	case events.CpeReleased:
		list = append(tag(e.CpeID), commands.LeaveCpe{CpeID: e.CpeID, OrgID: e.OrgID, Position: at})
	case events.CpeSignInEnded:
		list = []commands.Job{commands.TagCpe{CpeID: e.CpeID, Position: at, Asks: true}}
	case events.SubscriptionCredentialsSet:
		list = line(commands.FollowCpeLine{OrgID: in.Event.Meta.OrgID, SubscriptionID: e.SubscriptionID, Push: true})
	case events.SubscriptionPlanChanged:
		list = line(commands.FollowCpeLine{OrgID: in.Event.Meta.OrgID, SubscriptionID: e.SubscriptionID})
	case events.SubscriptionEnded:
		list = line(commands.FollowCpeLine{OrgID: in.Event.Meta.OrgID, SubscriptionID: e.SubscriptionID})
	}
	return processmanagers.Output{Jobs: list}, nil
}
