// Package provisioning applies each service to its router, through re-creation and removal, and continues after
// crashes. Each step is an event, so a crash between removal and creation loses nothing. Source:
// docs/rules/network.md#service-states.
//
//	requested, changed ──────────────► job ApplyService ──► applied ──► SettleAddresses (the former subnet is free)
//	re-creation confirmed ──► job RemoveService (recreate) ──► torn down ──► job ApplyService ──► applied
//	removal requested ──────► job RemoveService ──► removed ──► ReleaseAddresses, over
//	reconcile requested ──► the job of the unfinished work
//	failed, not refused ──► timer retry: 30 s, 1, 5, 15 min, then every 15 min ──► the same job again
//	failed, refused ──► nothing until a person asks
//	a job without report for 5 min (timer retry) ──► the same request again; a job of it that waits stays alone
//	another subnet ──► the former one stays until nobody should use it (timer leases) ──► job ApplyService, which
//	  removes it ──► retired ──► SettleAddresses; while leases or sessions have addresses of it: kept (timer leases)
//	allocated, but no service or change recorded in 5 min (timer abandoned): a crash in between ──► addresses go back
package provisioning

import (
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// Names of the timers; each service has one of each. The last one comes due when nobody should use a former subnet any
// more.
const (
	timerRetry     = "retry"
	timerAbandoned = "abandoned"
	timerLeases    = "leases"
)

// How long the process waits before it asks again or gives up.
const (
	reportWithin   = 5 * time.Minute // a job without a report by then is asked for again
	leasesAgain    = time.Hour       // former subnets without a report by then are looked at again
	abandonedAfter = 5 * time.Minute // allocated addresses without a service or change by then go back
)

// waits are the times between tries while a router does not answer; the last one is repeated.
var waits = []time.Duration{30 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute}

// State is the part of one service's history that the next step depends on.
type State struct {
	ServiceID  id.Service               `json:"serviceId"`
	OrgID      id.Organization          `json:"orgId"`
	DeviceID   id.Device                `json:"deviceId"`
	Known      bool                     `json:"known,omitempty"` // the service was requested, not only its addresses
	Binding    events.ServiceBinding    `json:"binding"`
	Addressing events.ServiceAddressing `json:"addressing"`
	Generation int                      `json:"generation,omitempty"`
	Open       string                   `json:"open,omitempty"`   // phase of the unfinished work, "" = none
	Tries      int                      `json:"tries,omitempty"`  // failed tries of the open work
	Person     id.Run                   `json:"person,omitzero"`  // see ask
	Settle     bool                     `json:"settle,omitempty"` // a former subnet must be given back
	Leases     bool                     `json:"leases,omitempty"` // devices may have addresses of a former subnet
	Until      time.Time                `json:"until,omitzero"`   // so long they may, as reported last
	Over       bool                     `json:"over,omitempty"`
}

// Process has one instance for each service; the instance ends when the service is removed.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "provisioning",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.AddressesAllocated) string { return e.ServiceID.String() }),
			processmanagers.On(func(e events.ServiceRequested) string { return e.ServiceID.String() }),
			processmanagers.On(func(e events.ServiceAddressingChanged) string { return e.ServiceID.String() }),
			processmanagers.On(func(e events.ServiceSubnetLeft) string { return e.ServiceID.String() }),
			processmanagers.On(func(e events.ServiceSubnetsKept) string { return e.ServiceID.String() }),
			processmanagers.On(func(e events.ServiceSubnetsRetired) string { return e.ServiceID.String() }),
			processmanagers.On(func(e events.ServiceWalledGardenChanged) string { return e.ServiceID.String() }),
			processmanagers.On(func(e events.ServiceRecreationConfirmed) string { return e.ServiceID.String() }),
			processmanagers.On(func(e events.ServiceTornDown) string { return e.ServiceID.String() }),
			processmanagers.On(func(e events.ServiceReconcileRequested) string { return e.ServiceID.String() }),
			processmanagers.On(func(e events.ServiceApplied) string { return e.ServiceID.String() }),
			processmanagers.On(func(e events.ServiceApplyFailed) string { return e.ServiceID.String() }),
			processmanagers.On(func(e events.ServiceRemovalRequested) string { return e.ServiceID.String() }),
			processmanagers.On(func(e events.ServiceRemoved) string { return e.ServiceID.String() }),
		},
		Decide: Decide, Evolve: Evolve,
		Ended: func(s State) bool { return s.Over || s.ServiceID.IsZero() },
	}
}

// Evolve follows the desired state of the service and the work that is open.
func Evolve(s State, in processmanagers.Input) State {
	switch {
	case in.Timeout != nil:
		s.Over = s.Over || in.Timeout.Name == timerAbandoned && !s.Known
		return s
	case in.Event == nil:
		return s
	}
	switch e := in.Event.Event.(type) {
	case events.AddressesAllocated:
		s.ServiceID, s.OrgID, s.DeviceID = e.ServiceID, e.OrgID, e.DeviceID
	case events.ServiceRequested:
		s = State{
			ServiceID: e.ServiceID, OrgID: e.OrgID, DeviceID: e.DeviceID, Known: true, Binding: e.Binding,
			Addressing: e.Addressing,
		}
		return s.asking(events.PhaseApply, e.Generation)
	case events.ServiceAddressingChanged:
		s.Addressing, s.Settle = e.Addressing, true
		return s.changing(e.Generation)
	case events.ServiceSubnetLeft:
		s.Leases, s.Until = true, e.Former.Until
	case events.ServiceSubnetsKept:
		s.Until = e.Until
	case events.ServiceSubnetsRetired:
		s.Leases, s.Settle = false, s.Settle && s.Open != ""
	case events.ServiceWalledGardenChanged:
		return s.changing(e.Generation)
	case events.ServiceRecreationConfirmed:
		s.Binding, s.Addressing, s.Settle, s.Leases = e.To, e.Addressing, true, false
		return s.asking(events.PhaseTeardown, e.Generation)
	case events.ServiceTornDown:
		return s.asking(events.PhaseApply, e.Generation)
	case events.ServiceReconcileRequested:
		if s.Open == "" || s.Tries > 0 {
			s.Person = e.RunID
		}
		return s.asking(e.Phase, e.Generation)
	case events.ServiceRemovalRequested:
		return s.asking(events.PhaseRemoval, e.Generation)
	case events.ServiceApplied:
		if e.Generation == s.Generation {
			s.Open, s.Tries, s.Settle = "", 0, s.Leases // the former subnet is still on the router
		}
	case events.ServiceApplyFailed:
		s.Tries++
	case events.ServiceRemoved:
		s.Over = true
	}
	return s
}

// asking returns the state with a phase open for a generation, and no failed tries.
func (s State) asking(phase string, generation int) State {
	s.Open, s.Generation, s.Tries = phase, generation, 0
	return s
}

// changing returns the state after a change that disconnects no customer. A tear-down or removal that is open comes
// first.
func (s State) changing(generation int) State {
	phase := s.Open
	if phase == "" {
		phase = events.PhaseApply
	}
	return s.asking(phase, generation)
}

// Decide returns jobs for the router, and commands that settle or release the service's addresses.
func Decide(s State, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
	next := Evolve(s, in)
	switch {
	case in.Timeout != nil && in.Timeout.Name == timerAbandoned:
		return abandoned(s, in.Timeout.Due), nil
	case in.Timeout != nil && in.Timeout.Name == timerLeases:
		return leasesOver(s, in.Timeout.Due, now), nil
	case in.Timeout != nil:
		if s.Open == "" {
			return processmanagers.Output{}, nil
		}
		return next.ask(next.run(in.Timeout.Due.UTC().Format(time.RFC3339Nano)), 0, now), nil
	case in.Event == nil:
		return processmanagers.Output{}, nil // a refused release or settlement needs nothing more
	}
	position := in.Event.Position
	switch e := in.Event.Event.(type) {
	case events.AddressesAllocated:
		return processmanagers.Output{Timers: []processmanagers.Timer{{Name: timerAbandoned,
			At: e.At.Add(abandonedAfter)}}}, nil
	case events.ServiceReconcileRequested:
		return next.ask(e.RunID, position, now), nil
	case events.ServiceSubnetLeft:
		return processmanagers.Output{Timers: []processmanagers.Timer{{Name: timerLeases, At: e.Former.Until}}}, nil
	case events.ServiceSubnetsKept:
		return processmanagers.Output{Timers: []processmanagers.Timer{{Name: timerLeases, At: e.Until}}}, nil
	case events.ServiceSubnetsRetired:
		return retired(s), nil
	case events.ServiceRequested, events.ServiceAddressingChanged, events.ServiceWalledGardenChanged,
		events.ServiceRecreationConfirmed, events.ServiceTornDown, events.ServiceRemovalRequested:
		return next.ask(next.run(in.Event.ID.String()), position, now), nil
	case events.ServiceApplyFailed:
		return processmanagers.Output{Timers: []processmanagers.Timer{{Name: timerRetry, At: retryAt(s, e)}}}, nil
	case events.ServiceApplied:
		return applied(s, e), nil
	case events.ServiceRemoved:
		return processmanagers.Output{
			Commands: []commands.Command{commands.ReleaseAddresses{OrgID: e.OrgID, ServiceID: e.ServiceID}},
			Timers:   []processmanagers.Timer{{Name: timerRetry}, {Name: timerAbandoned}, {Name: timerLeases}},
		}, nil
	}
	return processmanagers.Output{}, nil
}

// run derives the id of a run from its cause: deciding twice gives the same id, and each new request another one.
func (s State) run(cause string) id.Run {
	return id.Derive[id.Run]("provisioning", s.ServiceID.String(), cause)
}

// ask returns the job of the open phase, with a timer that asks again when no report comes. Asking again names the same
// request until a try has failed, so that the queue keeps one job of it, however long that waits. A person's request is
// one of its own when nothing was open, or a try had failed: the former job may be about to end. Otherwise the job that
// is open does it.
func (s State) ask(run id.Run, position uint64, now time.Time) processmanagers.Output {
	request := fmt.Sprintf("%s %d %s %d", s.ServiceID, s.Generation, s.Open, s.Tries)
	if !s.Person.IsZero() {
		request += " " + s.Person.String()
	}
	return processmanagers.Output{
		Jobs:   []commands.Job{s.job(run, position, request)},
		Timers: []processmanagers.Timer{{Name: timerRetry, At: now.Add(reportWithin)}},
	}
}

// job is the job of the open phase.
func (s State) job(run id.Run, position uint64, asked string) commands.Job {
	if s.Open != events.PhaseApply {
		return commands.RemoveService{
			ServiceID: s.ServiceID, DeviceID: s.DeviceID, RunID: run, Generation: s.Generation,
			Recreate: s.Open == events.PhaseTeardown, Position: position, Asked: asked,
		}
	}
	return commands.ApplyService{
		ServiceID: s.ServiceID, DeviceID: s.DeviceID, RunID: run, Generation: s.Generation, Position: position,
		Asked: asked,
	}
}

// retryAt is the time at which a failed job is asked for again. After a refusal it is zero, which disarms the timer. A
// report about another generation leaves the present job its full time.
func retryAt(s State, e events.ServiceApplyFailed) time.Time {
	switch {
	case e.Generation != s.Generation:
		return e.At.Add(reportWithin)
	case e.Refused:
		return time.Time{}
	}
	return e.At.Add(waits[min(s.Tries, len(waits)-1)])
}

// applied disarms the timer, and gives the former subnet back, which the router no longer has. It ignores reports about
// another generation.
func applied(s State, e events.ServiceApplied) processmanagers.Output {
	if e.Generation != s.Generation {
		return processmanagers.Output{}
	}
	out := processmanagers.Output{Timers: []processmanagers.Timer{{Name: timerRetry}}}
	if s.Settle && !s.Leases {
		out.Commands = []commands.Command{s.settle(time.Time{})}
	}
	return out
}

// leasesOver has the router looked at: what is left of former subnets is removed from it unless devices still use
// them. Work that is open does the same at its end. Without a report it is asked again.
func leasesOver(s State, due, now time.Time) processmanagers.Output {
	if !s.Leases {
		return processmanagers.Output{}
	}
	out := processmanagers.Output{Timers: []processmanagers.Timer{{Name: timerLeases, At: now.Add(leasesAgain)}}}
	if s.Open == "" {
		out.Jobs = []commands.Job{commands.ApplyService{
			ServiceID: s.ServiceID, DeviceID: s.DeviceID, RunID: s.run(due.UTC().Format(time.RFC3339Nano)),
			Generation: s.Generation, LeasesOver: true,
			Asked: fmt.Sprintf("%s leases %s", s.ServiceID, s.Until.UTC().Format(time.RFC3339Nano)),
		}}
	}
	return out
}

// retired gives former subnets back, which the router no longer has. Work that is open does it at its end.
func retired(s State) processmanagers.Output {
	out := processmanagers.Output{Timers: []processmanagers.Timer{{Name: timerLeases}}}
	if s.Settle && s.Open == "" {
		out.Commands = []commands.Command{s.settle(time.Time{})}
	}
	return out
}

// settle lets the service keep its present subnet. Addresses that were allocated after that belong to a change that is
// still to be recorded, unless they are older than abandonedBefore.
func (s State) settle(abandonedBefore time.Time) commands.Command {
	return commands.SettleAddresses{
		OrgID: s.OrgID, ServiceID: s.ServiceID, Binding: s.Binding, Subnet: s.Addressing.Subnet,
		AbandonedBefore: abandonedBefore,
	}
}

// abandoned gives back addresses that were allocated for a service or a change that was never recorded. While a change
// is being applied the former subnet is still on the router, so giving it back waits until the change is applied.
func abandoned(s State, due time.Time) processmanagers.Output {
	switch {
	case !s.Known:
		return processmanagers.Output{
			Commands: []commands.Command{commands.ReleaseAddresses{OrgID: s.OrgID, ServiceID: s.ServiceID}},
		}
	case s.Settle || s.Open == events.PhaseRemoval:
		return processmanagers.Output{}
	}
	return processmanagers.Output{Commands: []commands.Command{s.settle(due.Add(time.Second - abandonedAfter))}}
}
