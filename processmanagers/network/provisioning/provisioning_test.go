package provisioning_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/network/provisioning"
)

// The service of these tests.
var (
	now     = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	org     = id.Derive[id.Organization]("test", "org")
	device  = id.Derive[id.Device]("test", "device")
	service = id.Derive[id.Service]("test", "service")
	asked   = id.Derive[id.Run]("test", "asked by somebody")
	binding = events.ServiceBinding{Type: events.ServicePPPoE, ParentInterface: "ether5"}
	vlan    = events.ServiceBinding{Type: events.ServicePPPoE, ParentInterface: "ether5", VlanID: 9}
	plan    = events.ServiceAddressing{Subnet: "10.50.0.0/24"}
	plan2   = events.ServiceAddressing{Subnet: "10.50.1.0/24"}

	allocated = events.AddressesAllocated{
		OrgID: org, ServiceID: service, DeviceID: device, Binding: binding, Addressing: plan, At: now,
	}
	requested = events.ServiceRequested{
		ServiceID: service, OrgID: org, DeviceID: device, Binding: binding, Addressing: plan, Generation: 1, At: now,
	}
	moved = events.ServiceAddressingChanged{
		ServiceID: service, DeviceID: device, Addressing: plan2, Generation: 2, At: now,
	}
	recreation = events.ServiceRecreationConfirmed{
		ServiceID: service, DeviceID: device, From: binding, To: vlan, Addressing: plan2, Generation: 2, At: now,
	}
	tornDown = events.ServiceTornDown{ServiceID: service, DeviceID: device, Generation: 2, At: now}
	removal  = events.ServiceRemovalRequested{ServiceID: service, DeviceID: device, Generation: 3, At: now}
)

// applied is the report of a generation.
func applied(generation int) events.ServiceApplied {
	return events.ServiceApplied{ServiceID: service, DeviceID: device, Generation: generation, At: now}
}

// failed is a failure of a generation.
func failed(generation int, refused bool) events.ServiceApplyFailed {
	return events.ServiceApplyFailed{
		ServiceID: service, DeviceID: device, Generation: generation, Refused: refused, At: now,
	}
}

// of wraps an event.
func of(e events.Event) processmanagers.Input {
	return processmanagers.Input{
		Event: &events.Envelope{
			ID: id.Derive[id.Event]("test", e.EventType()), Type: e.EventType(), Position: 42, Event: e,
		},
	}
}

// due is a timer.
func due(name string) processmanagers.Input {
	return processmanagers.Input{Timeout: &processmanagers.Timeout{Name: name, Due: now.Add(5 * time.Minute)}}
}

// after is the state after events, each time through the row that a restart finds.
func after(t *testing.T, list ...events.Event) provisioning.State {
	t.Helper()
	var s provisioning.State
	for _, e := range list {
		body, err := json.Marshal(provisioning.Evolve(s, of(e)))
		if err != nil {
			t.Fatal(err)
		}
		s = provisioning.State{}
		if err := json.Unmarshal(body, &s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// run is the name of the run that an input asks for.
func run(in processmanagers.Input) id.Run {
	cause := ""
	if in.Event != nil {
		cause = in.Event.ID.String()
	} else {
		cause = in.Timeout.Due.UTC().Format(time.RFC3339Nano)
	}
	return id.Derive[id.Run]("provisioning", service.String(), cause)
}

// expect compares what an input leads to. A timer at the zero time is a disarmed one.
func expect(t *testing.T, s provisioning.State, in processmanagers.Input, want processmanagers.Output) {
	t.Helper()
	got, err := provisioning.Decide(s, in, now)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

// asks is a job, and the timer that asks again.
func asks(job commands.Job) processmanagers.Output {
	return processmanagers.Output{Jobs: []commands.Job{job}, Timers: retry(now.Add(5 * time.Minute))}
}

// retry is the timer at an instant.
func retry(at time.Time) []processmanagers.Timer {
	return []processmanagers.Timer{{Name: "retry", At: at}}
}

// apply is the job that applies a generation.
func apply(in processmanagers.Input, generation int, position uint64) commands.ApplyService {
	return commands.ApplyService{
		ServiceID: service, DeviceID: device, RunID: run(in), Generation: generation, Position: position,
	}
}

// remove is the job that removes.
func remove(in processmanagers.Input, generation int, recreate bool, position uint64) commands.RemoveService {
	return commands.RemoveService{
		ServiceID: service, DeviceID: device, RunID: run(in), Generation: generation, Recreate: recreate,
		Position: position,
	}
}

func TestRequestAndChange_AreApplied(t *testing.T) {
	t.Parallel()
	expect(t, after(t, allocated), of(requested), asks(apply(of(requested), 1, 42)))
	expect(t, after(t, allocated, requested), of(applied(1)), processmanagers.Output{Timers: retry(time.Time{})})
	s := after(t, allocated, requested, applied(1))
	expect(t, s, due("retry"), processmanagers.Output{})
	expect(t, s, of(moved), asks(apply(of(moved), 2, 42)))
	s = after(t, allocated, requested, applied(1), moved)
	// of before the change: the router still has the former subnet
	expect(t, s, of(applied(1)), processmanagers.Output{})
	settle := commands.SettleAddresses{OrgID: org, ServiceID: service, Binding: binding, Subnet: plan2.Subnet}
	expect(t, s, of(applied(2)), processmanagers.Output{
		Timers: retry(time.Time{}), Commands: []commands.Command{settle},
	})
	expect(t, after(t, requested, moved, applied(2)), of(applied(2)), processmanagers.Output{
		Timers: retry(time.Time{}),
	})
}

func TestRecreation_SurvivesAKillBetweenRemovalAndCreation(t *testing.T) {
	t.Parallel()
	s := after(t, requested, applied(1))
	expect(t, s, of(recreation), asks(remove(of(recreation), 2, true, 42)))
	s = after(t, requested, applied(1), recreation)
	expect(t, s, due("retry"), asks(remove(due("retry"), 2, true, 0))) // killed before the removal was reported
	garden := events.ServiceWalledGardenChanged{ServiceID: service, DeviceID: device, Generation: 3, At: now}
	expect(t, s, of(garden), asks(remove(of(garden), 3, true, 42))) // the removal still comes first
	expect(t, s, of(tornDown), asks(apply(of(tornDown), 2, 42)))
	s = after(t, requested, applied(1), recreation, tornDown)
	expect(t, s, due("retry"), asks(apply(due("retry"), 2, 0))) // killed between removal and creation
	settle := commands.SettleAddresses{OrgID: org, ServiceID: service, Binding: vlan, Subnet: plan2.Subnet}
	expect(t, s, of(applied(2)), processmanagers.Output{
		Timers: retry(time.Time{}), Commands: []commands.Command{settle},
	})
}

func TestRemoval_ReleasesTheAddressesAtTheEnd(t *testing.T) {
	t.Parallel()
	removed := events.ServiceRemoved{ServiceID: service, OrgID: org, DeviceID: device, At: now}
	s := after(t, requested, applied(1))
	expect(t, s, of(removal), asks(remove(of(removal), 3, false, 42)))
	s = after(t, requested, applied(1), removal)
	expect(t, s, due("retry"), asks(remove(due("retry"), 3, false, 0)))
	expect(t, s, of(removed), processmanagers.Output{
		Commands: []commands.Command{commands.ReleaseAddresses{OrgID: org, ServiceID: service}},
		Timers:   []processmanagers.Timer{{Name: "retry"}, {Name: "abandoned"}},
	})
	if over := after(t, requested, removal, removed); !provisioning.Process().Ended(over) {
		t.Error("the process goes on after the end")
	}
	expect(t, s, processmanagers.Input{Refusal: &processmanagers.Refusal{Code: "x"}}, processmanagers.Output{})
}

func TestFailure_OfAnUnreachableRouterIsTriedAgainAndARefusalIsNot(t *testing.T) {
	t.Parallel()
	list := []events.Event{requested}
	for _, wait := range []time.Duration{
		30 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, 15 * time.Minute,
	} {
		expect(t, after(t, list...), of(failed(1, false)), processmanagers.Output{Timers: retry(now.Add(wait))})
		list = append(list, failed(1, false))
	}
	expect(t, after(t, list...), of(failed(1, true)), processmanagers.Output{Timers: retry(time.Time{})})
	again := events.ServiceReconcileRequested{
		ServiceID: service, DeviceID: device, RunID: asked, Phase: events.PhaseApply, Generation: 1, At: now,
	}
	expect(t, after(t, requested, failed(1, true)), of(again), asks(commands.ApplyService{
		ServiceID: service, DeviceID: device, RunID: asked, Generation: 1, Position: 42,
	}))
	again.Phase = events.PhaseTeardown
	expect(t, after(t, requested, recreation, failed(2, true)), of(again), asks(commands.RemoveService{
		ServiceID: service, DeviceID: device, RunID: asked, Generation: 1, Recreate: true, Position: 42,
	}))
}

func TestAllocation_WithoutAServiceGoesBack(t *testing.T) {
	t.Parallel()
	s := after(t)
	expect(t, s, of(allocated), processmanagers.Output{
		Timers: []processmanagers.Timer{{Name: "abandoned", At: now.Add(5 * time.Minute)}},
	})
	s = after(t, allocated)
	expect(t, s, due("abandoned"), processmanagers.Output{
		Commands: []commands.Command{commands.ReleaseAddresses{OrgID: org, ServiceID: service}},
	})
	if !provisioning.Process().Ended(provisioning.Evolve(s, due("abandoned"))) {
		t.Error("an abandoned allocation is not over")
	}
	second := allocated
	second.Addressing = plan2
	s = after(t, allocated, requested, applied(1), second)
	expect(t, s, due("abandoned"), processmanagers.Output{Commands: []commands.Command{commands.SettleAddresses{
		OrgID: org, ServiceID: service, Binding: binding, Subnet: plan.Subnet, AbandonedBefore: now.Add(time.Second),
	}}})
	expect(t, after(t, allocated, requested, applied(1), second, moved), due("abandoned"), processmanagers.Output{})
}

func TestEveryHandledEvent_HasAKey(t *testing.T) {
	t.Parallel()
	p := provisioning.Process()
	for _, e := range []events.Event{
		allocated, requested, moved, recreation, tornDown, removal, applied(1), failed(1, true),
		events.ServiceWalledGardenChanged{ServiceID: service}, events.ServiceReconcileRequested{ServiceID: service},
		events.ServiceRemoved{ServiceID: service},
	} {
		if p.Key(*of(e).Event) != service.String() {
			t.Errorf("%s has key %q", e.EventType(), p.Key(*of(e).Event))
		}
	}
}
