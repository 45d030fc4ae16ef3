// Package enforcement has the network do what customers are entitled to:
//
//	event that can change it ──► job EnforceAccess: the subscriber's sessions are brought to the present entitlement
//	SessionChangeAnnounced ──► timer "settle:<session>" ──► the same job, which finds the outcome
//	SessionChanged         ──► the timer is disarmed
//	DeviceDecommissioned   ──► job LeaveRouter: the sessions of the router are ended
//	ServiceRemoved, ServiceTornDown ──► job TellServiceEnded: the ends of its sessions are recorded
//
// The process compares nothing and remembers no entitlement. An event says only that something may have changed, and
// the job looks at what is true when it runs, so events may come twice, late or in any number
// (docs/rules/access-enforcement.md#level). What it remembers are announcements without an outcome: the program may
// have died between a call to a router and the record of it.
//
// One instance serves all subscriptions of a subscriber, because a block is of the subscriber. A router that is
// decommissioned and a service that is removed leave no instance.
package enforcement

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// Waits before the outcome of an announcement is looked for, and until it is looked for again. The job that announced
// it may still be trying.
const (
	firstLook = 2 * time.Minute
	nextLook  = 10 * time.Minute
)

// timerPrefix begins the name of a session's timer.
const timerPrefix = "settle:"

// State has the announcements that a subscriber's instance waits for.
type State struct {
	Subscriber id.Subscriber      `json:"subscriber"`
	Announced  map[id.Online]bool `json:"announced,omitempty"` // without an outcome
}

// Process has one instance for each subscriber, as long as an announcement has no outcome.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "enforcement", On: handled(), Decide: decide, Evolve: evolve,
		Ended: func(s State) bool { return len(s.Announced) == 0 },
	}
}

// handled lists the events after which a session may have something else than it should: those that can change access
// (catalog.Access), but for those that cannot change a session that is there.
func handled() []processmanagers.Handled {
	return []processmanagers.Handled{
		processmanagers.Follow(activated),
		processmanagers.Follow(func(e events.SubscriptionExtended) string { return e.SubscriberID.String() }),
		processmanagers.Follow(func(e events.PeriodWithdrawn) string { return e.SubscriberID.String() }),
		processmanagers.Follow(func(e events.PeriodCancelled) string { return e.SubscriberID.String() }),
		processmanagers.Follow(func(e events.SubscriptionPlanChanged) string { return e.SubscriberID.String() }),
		processmanagers.Follow(func(e events.SubscriptionPaused) string { return e.SubscriberID.String() }),
		processmanagers.Follow(func(e events.SubscriptionResumed) string { return e.SubscriberID.String() }),
		processmanagers.Follow(func(e events.SubscriptionCompensated) string { return e.SubscriberID.String() }),
		processmanagers.Follow(func(e events.CompensationTakenBack) string { return e.SubscriberID.String() }),
		processmanagers.Follow(func(e events.SubscriptionEnded) string { return e.SubscriberID.String() }),
		processmanagers.Follow(func(e events.SubscriptionAddressesAssigned) string { return e.SubscriberID.String() }),
		processmanagers.Follow(func(e events.SubscriptionCredentialsSet) string { return e.SubscriberID.String() }),
		processmanagers.Follow(func(e events.SubscriberBlocked) string { return e.SubscriberID.String() }),
		processmanagers.Follow(func(e events.SubscriberUnblocked) string { return e.SubscriberID.String() }),
		processmanagers.Follow(func(e events.SubscriberForgotten) string { return e.SubscriberID.String() }),
		processmanagers.Follow(began),
		processmanagers.Follow(func(e events.WalledGardenEntered) string { return e.SubscriberID.String() }),
		processmanagers.Follow(func(e events.ServiceSuspended) string { return e.SubscriberID.String() }),
		processmanagers.Follow(func(e events.WriteOffProposed) string { return e.SubscriberID.String() }),
		processmanagers.Follow(func(e events.DunningEnded) string { return e.SubscriberID.String() }),
		processmanagers.Follow(func(e events.CapReached) string { return e.SubscriberID.String() }),
		processmanagers.Follow(func(e events.CapReset) string { return e.SubscriberID.String() }),
		processmanagers.Follow(func(e events.CapPeriodMoved) string { return e.SubscriberID.String() }),
		// A voucher stands in the place of its subscriber (docs/rules/access-vouchers.md#sessions).
		processmanagers.Follow(func(e events.VoucherBeganEarlier) string { return e.VoucherID.String() }),
		processmanagers.Follow(func(e events.VoucherMoved) string { return e.VoucherID.String() }),
		processmanagers.Follow(func(e events.VoucherVoided) string { return e.VoucherID.String() }),
		processmanagers.Follow(func(e events.DeviceDecommissioned) string { return e.DeviceID.String() }),
		processmanagers.Follow(func(e events.ServiceRemoved) string { return e.ServiceID.String() }),
		processmanagers.Follow(func(e events.ServiceTornDown) string { return e.ServiceID.String() }),
		processmanagers.On(func(e events.SessionChangeAnnounced) string { return e.SubscriberID.String() }),
		processmanagers.Follow(func(e events.SessionChanged) string { return e.SubscriberID.String() }),
	}
}

// activated is the subscriber of a subscription that begins; none where no session can be open yet, since a file of
// thousands of customers would ask for as many jobs.
func activated(e events.SubscriptionActivated) string {
	if e.Carried {
		return ""
	}
	return e.SubscriberID.String()
}

// began is the subscriber of a dunning that begins; none where it begins before the due instant from no cut: who is
// reminded of a payment to come keeps what he has, and each month that is everybody.
func began(e events.DunningBegan) string {
	if !e.Before.Cut() && e.At.Before(e.DueAt) {
		return ""
	}
	return e.SubscriberID.String()
}

// decide asks for the job, and watches announcements.
func decide(s State, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
	switch {
	case in.Timeout != nil:
		return s.look(now), nil
	case in.Event == nil:
		return processmanagers.Output{}, nil
	}
	switch e := in.Event.Event.(type) {
	case events.SessionChangeAnnounced:
		return processmanagers.Output{Timers: []processmanagers.Timer{timer(e.SessionID, now.Add(firstLook))}}, nil
	case events.SessionChanged:
		return processmanagers.Output{Timers: []processmanagers.Timer{timer(e.SessionID, time.Time{})}}, nil
	case events.DeviceDecommissioned:
		return processmanagers.Output{Jobs: []commands.Job{
			commands.LeaveRouter{DeviceID: e.DeviceID, OrgID: e.OrgID, Position: in.Event.Position},
		}}, nil
	case events.ServiceRemoved:
		if e.Abandoned { // its router was not reached, and its sessions go on
			return processmanagers.Output{}, nil
		}
		return processmanagers.Output{Jobs: []commands.Job{
			commands.TellServiceEnded{ServiceID: e.ServiceID, DeviceID: e.DeviceID, At: e.At},
		}}, nil
	case events.ServiceTornDown:
		return processmanagers.Output{Jobs: []commands.Job{
			commands.TellServiceEnded{ServiceID: e.ServiceID, DeviceID: e.DeviceID, At: e.At},
		}}, nil
	}
	subscriber, err := id.Parse[id.Subscriber](Process().Key(*in.Event))
	if err != nil {
		return processmanagers.Output{}, err
	}
	return processmanagers.Output{Jobs: []commands.Job{
		commands.EnforceAccess{SubscriberID: subscriber, Position: in.Event.Position},
	}}, nil
}

// look asks for the outcomes of all announcements, and waits for them again.
func (s State) look(now time.Time) processmanagers.Output {
	if len(s.Announced) == 0 {
		return processmanagers.Output{}
	}
	job := commands.EnforceAccess{SubscriberID: s.Subscriber}
	var out processmanagers.Output
	for _, session := range slices.SortedFunc(maps.Keys(s.Announced), func(a, b id.Online) int {
		return strings.Compare(a.String(), b.String())
	}) {
		job.Sessions = append(job.Sessions, session)
		out.Timers = append(out.Timers, timer(session, now.Add(nextLook)))
	}
	out.Jobs = []commands.Job{job}
	return out
}

// evolve remembers announcements until their outcome.
func evolve(s State, in processmanagers.Input) State {
	if in.Event == nil {
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.SessionChangeAnnounced:
		s.Subscriber = e.SubscriberID
		s.Announced = maps.Clone(s.Announced)
		if s.Announced == nil {
			s.Announced = map[id.Online]bool{}
		}
		s.Announced[e.SessionID] = true
	case events.SessionChanged:
		s.Announced = maps.Clone(s.Announced)
		delete(s.Announced, e.SessionID)
	}
	return s
}

// timer is the timer of a session; a zero instant disarms it.
func timer(session id.Online, at time.Time) processmanagers.Timer {
	return processmanagers.Timer{Name: timerPrefix + session.String(), At: at}
}
