// Package following lets the CPE server follow whose a CPE is and which login it uses, and keeps no state: each event
// leads to one or two jobs, which look at what is so by then.
//
//	claimed, assigned, given, taken, released ──► job TagCpe
//	released ──► job LeaveCpe, which takes back what waits for it
//	claimed, assigned or given with a login ──► job FollowCpeLine, which has the login written to the CPE; where
//	nobody waits for it, TagCpe has the CPE ask for it at its next call
//	login changed ──► job FollowCpeLine, for all CPEs that use it
//	plan changed, ended ──► job FollowCpeLine, for their tags alone
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
		if l.Position = at; l.SubscriptionID.IsZero() {
			return nil
		}
		return []commands.Job{l}
	}
	var list []commands.Job
	switch e := in.Event.Event.(type) {
	case events.CpeClaimed:
		list = append(tag(e.CpeID), line(commands.FollowCpeLine{
			OrgID: e.OrgID, SubscriptionID: e.SubscriptionID, CpeID: e.CpeID, Push: true,
		})...)
	case events.CpeAssigned:
		list = append(tag(e.CpeID), line(commands.FollowCpeLine{
			OrgID: e.OrgID, SubscriptionID: e.SubscriptionID, CpeID: e.CpeID, Push: true,
		})...)
	case events.CpeSubscriberAssigned:
		login := !e.SubscriptionID.IsZero()
		list = []commands.Job{commands.TagCpe{CpeID: e.CpeID, Position: at, Asks: login && !e.PushNow}}
		if e.PushNow {
			list = append(list, line(commands.FollowCpeLine{
				OrgID: e.OrgID, SubscriptionID: e.SubscriptionID, CpeID: e.CpeID, Push: true,
			})...)
		}
	case events.CpeSubscriberRemoved:
		list = tag(e.CpeID)
	case events.CpeReleased:
		list = append(tag(e.CpeID), commands.LeaveCpe{CpeID: e.CpeID, OrgID: e.OrgID, Position: at})
	case events.SubscriptionCredentialsSet:
		list = line(commands.FollowCpeLine{OrgID: in.Event.Meta.OrgID, SubscriptionID: e.SubscriptionID, Push: true})
	case events.SubscriptionPlanChanged:
		list = line(commands.FollowCpeLine{OrgID: in.Event.Meta.OrgID, SubscriptionID: e.SubscriptionID})
	case events.SubscriptionEnded:
		list = line(commands.FollowCpeLine{OrgID: in.Event.Meta.OrgID, SubscriptionID: e.SubscriptionID})
	}
	return processmanagers.Output{Jobs: list}, nil
}
