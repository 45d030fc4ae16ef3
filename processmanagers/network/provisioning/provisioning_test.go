package provisioning_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/network/provisioning"
)

// The ids and events of one service.
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

// applied reports success for a generation.
func applied(generation int) events.ServiceApplied {
	return events.ServiceApplied{ServiceID: service, DeviceID: device, Generation: generation, At: now}
}

// failed reports a failure for a generation; refused means that the router rejected it.
func failed(generation int, refused bool) events.ServiceApplyFailed {
	return events.ServiceApplyFailed{
		ServiceID: service, DeviceID: device, Generation: generation, Refused: refused, At: now,
	}
}

// person is the request of a person to reconcile the service; each number is another request.
func person(number int) events.ServiceReconcileRequested {
	return events.ServiceReconcileRequested{
		ServiceID: service, DeviceID: device, RunID: id.Derive[id.Run]("test", fmt.Sprint(number)),
		Phase: events.PhaseApply, Generation: 1, At: now,
	}
}

// dueAt is the instant at which the timers of these tests come due.
var dueAt = now.Add(5 * time.Minute)

// after begins an example in which events have happened.
func after(t *testing.T, list ...events.Event) processtest.Scenario[provisioning.State] {
	t.Helper()
	return processtest.For(t, provisioning.Process(), now).Given(list...)
}

// runOf is the id of the run that an event starts.
func runOf(e events.Event) id.Run {
	return id.Derive[id.Run]("provisioning", service.String(), processtest.EventID(e).String())
}

// runDue is the id of the run that the timer at dueAt starts.
func runDue() id.Run {
	return id.Derive[id.Run]("provisioning", service.String(), dueAt.Format(time.RFC3339Nano))
}

// asks is an output of a job and of the timer that asks for it again.
func asks(job commands.Job) processmanagers.Output {
	return processmanagers.Output{Jobs: []commands.Job{job}, Timers: retry(now.Add(5 * time.Minute))}
}

// retry arms the timer at an instant; the zero time disarms it.
func retry(at time.Time) []processmanagers.Timer {
	return []processmanagers.Timer{{Name: "retry", At: at}}
}

// apply is the job that applies a generation, before a try has failed; position is 0 after a timer.
func apply(run id.Run, generation int, position uint64) commands.ApplyService {
	return commands.ApplyService{
		ServiceID: service, DeviceID: device, RunID: run, Generation: generation, Position: position,
		Asked: request(generation, events.PhaseApply),
	}
}

// request names the request of a phase before a try has failed.
func request(generation int, phase string) string {
	return fmt.Sprintf("%s %d %s 0", service, generation, phase)
}

// remove is the job that removes the service, for good or to build it again; position is 0 after a timer.
func remove(run id.Run, generation int, recreate bool, position uint64) commands.RemoveService {
	phase := events.PhaseRemoval
	if recreate {
		phase = events.PhaseTeardown
	}
	return commands.RemoveService{
		ServiceID: service, DeviceID: device, RunID: run, Generation: generation, Recreate: recreate,
		Position: position, Asked: request(generation, phase),
	}
}

func TestRequestAndChange_AreApplied(t *testing.T) {
	t.Parallel()
	after(t, allocated).When(requested).Then(asks(apply(runOf(requested), 1, processtest.Position)))
	after(t, allocated, requested).When(applied(1)).Then(processmanagers.Output{Timers: retry(time.Time{})})
	s := after(t, allocated, requested, applied(1))
	s.WhenDue("retry", dueAt).ThenNothing()
	s.When(moved).Then(asks(apply(runOf(moved), 2, processtest.Position)))
	s = after(t, allocated, requested, applied(1), moved)
	// A report from before the change: the former subnet is still on the router.
	s.When(applied(1)).ThenNothing()
	settle := commands.SettleAddresses{OrgID: org, ServiceID: service, Binding: binding, Subnet: plan2.Subnet}
	s.When(applied(2)).Then(processmanagers.Output{
		Timers: retry(time.Time{}), Commands: []commands.Command{settle},
	})
	after(t, requested, moved, applied(2)).When(applied(2)).Then(processmanagers.Output{
		Timers: retry(time.Time{}),
	})
}

func TestRecreation_SurvivesAKillBetweenRemovalAndCreation(t *testing.T) {
	t.Parallel()
	s := after(t, requested, applied(1))
	s.When(recreation).Then(asks(remove(runOf(recreation), 2, true, processtest.Position)))
	s = after(t, requested, applied(1), recreation)
	s.WhenDue("retry", dueAt).Then(asks(remove(runDue(), 2, true, 0))) // killed before the removal was reported
	garden := events.ServiceWalledGardenChanged{ServiceID: service, DeviceID: device, Generation: 3, At: now}
	s.When(garden).Then(asks(remove(runOf(garden), 3, true, processtest.Position))) // the removal still comes first
	s.When(tornDown).Then(asks(apply(runOf(tornDown), 2, processtest.Position)))
	s = after(t, requested, applied(1), recreation, tornDown)
	s.WhenDue("retry", dueAt).Then(asks(apply(runDue(), 2, 0))) // killed between removal and creation
	settle := commands.SettleAddresses{OrgID: org, ServiceID: service, Binding: vlan, Subnet: plan2.Subnet}
	s.When(applied(2)).Then(processmanagers.Output{
		Timers: retry(time.Time{}), Commands: []commands.Command{settle},
	})
}

// left says that the service's first subnet stays until an instant.
func left(until time.Time) events.ServiceSubnetLeft {
	return events.ServiceSubnetLeft{
		ServiceID: service, DeviceID: device, At: now,
		Former: events.FormerSubnet{Subnet: plan.Subnet, Until: until},
	}
}

// Reports about former subnets: the router has none any more, or devices still have leases there.
var (
	retired = events.ServiceSubnetsRetired{ServiceID: service, DeviceID: device, At: now}
	kept    = events.ServiceSubnetsKept{ServiceID: service, DeviceID: device, Until: now.Add(3 * time.Hour), At: now}
)

// leasesAt arms the timer of the former subnets; the zero time disarms it.
func leasesAt(at time.Time) []processmanagers.Timer {
	return []processmanagers.Timer{{Name: "leases", At: at}}
}

// The devices of a hotspot keep their addresses until their leases run out. So long the former subnet is neither
// removed nor given to another service, also when it takes longer than expected.
func TestSubnet_OfAServiceWithLeasesIsKeptUntilTheyRanOut(t *testing.T) {
	t.Parallel()
	over := now.Add(time.Hour)
	settle := commands.SettleAddresses{OrgID: org, ServiceID: service, Binding: binding, Subnet: plan2.Subnet}
	after(t, requested, applied(1)).When(left(over)).Then(processmanagers.Output{Timers: leasesAt(over)})
	after(t, requested, applied(1), left(over)).When(moved).Then(asks(apply(runOf(moved), 2, processtest.Position)))
	s := after(t, requested, applied(1), left(over), moved)
	s.When(applied(2)).Then(processmanagers.Output{Timers: retry(time.Time{})})
	list := []events.Event{requested, applied(1), left(over), moved, applied(2)}
	look := apply(id.Derive[id.Run]("provisioning", service.String(), over.UTC().Format(time.RFC3339Nano)), 2, 0)
	look.LeasesOver, look.Asked = true, service.String()+" leases "+over.Format(time.RFC3339Nano)
	s = after(t, list...)
	s.WhenDue("leases", over).Then(processmanagers.Output{
		Jobs: []commands.Job{look}, Timers: leasesAt(now.Add(time.Hour)), // without a report it looks again
	})
	s = after(t, list...)
	s.When(kept).Then(processmanagers.Output{Timers: leasesAt(kept.Until)})
	s = after(t, append(list, kept)...)
	s.When(retired).Then(processmanagers.Output{
		Timers: leasesAt(time.Time{}), Commands: []commands.Command{settle},
	}).When(retired).Then(processmanagers.Output{Timers: leasesAt(time.Time{})}) // it went back once
	s = after(t, append(list, retired)...)
	s.WhenDue("leases", over).ThenNothing()
}

// Work that is open when the leases ran out gives the former subnet back at its own end.
func TestSubnet_OfWorkThatIsOpenWhenItsLeasesRanOutGoesBackAtTheEnd(t *testing.T) {
	t.Parallel()
	over := now.Add(25 * time.Hour)
	s := after(t, requested, applied(1), left(over), moved)
	s.WhenDue("leases", over).Then(processmanagers.Output{Timers: leasesAt(now.Add(time.Hour))})
	s = after(t, requested, applied(1), left(over), moved)
	s.When(retired).Then(processmanagers.Output{Timers: leasesAt(time.Time{})}).
		When(applied(2)).Then(processmanagers.Output{
		Timers: retry(time.Time{}),
		Commands: []commands.Command{commands.SettleAddresses{
			OrgID: org, ServiceID: service, Binding: binding, Subnet: plan2.Subnet,
		}},
	})
}

func TestFailure_OfAFormerGenerationLeavesThePresentJobItsTime(t *testing.T) {
	t.Parallel()
	after(t, requested, applied(1), moved).When(failed(1, true)).
		Then(processmanagers.Output{Timers: retry(now.Add(5 * time.Minute))})
}

func TestAllocation_OfAServiceThatIsBeingRemovedWaitsForItsRelease(t *testing.T) {
	t.Parallel()
	after(t, allocated, requested, applied(1), removal).WhenDue("abandoned", dueAt).ThenNothing().ThenGoesOn()
}

func TestRemoval_ReleasesTheAddressesAtTheEnd(t *testing.T) {
	t.Parallel()
	removed := events.ServiceRemoved{ServiceID: service, OrgID: org, DeviceID: device, At: now}
	s := after(t, requested, applied(1))
	s.When(removal).Then(asks(remove(runOf(removal), 3, false, processtest.Position)))
	s = after(t, requested, applied(1), removal)
	s.WhenDue("retry", dueAt).Then(asks(remove(runDue(), 3, false, 0)))
	s.When(removed).Then(processmanagers.Output{
		Commands: []commands.Command{commands.ReleaseAddresses{OrgID: org, ServiceID: service}},
		Timers:   []processmanagers.Timer{{Name: "retry"}, {Name: "abandoned"}, {Name: "leases"}},
	})
	after(t, requested, removal).When(removed).ThenEnded()
	s.WhenRefused(commands.ReleaseAddresses{OrgID: org, ServiceID: service}, "x").ThenNothing()
}

func TestFailure_OfAnUnreachableRouterIsTriedAgainAndARefusalIsNot(t *testing.T) {
	t.Parallel()
	list := []events.Event{requested}
	for _, wait := range []time.Duration{
		30 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, 15 * time.Minute,
	} {
		after(t, list...).When(failed(1, false)).Then(processmanagers.Output{Timers: retry(now.Add(wait))})
		list = append(list, failed(1, false))
	}
	after(t, list...).When(failed(1, true)).Then(processmanagers.Output{Timers: retry(time.Time{})})
	again := events.ServiceReconcileRequested{
		ServiceID: service, DeviceID: device, RunID: asked, Phase: events.PhaseApply, Generation: 1, At: now,
	}
	after(t, requested, failed(1, true)).When(again).Then(asks(commands.ApplyService{
		ServiceID: service, DeviceID: device, RunID: asked, Generation: 1, Position: processtest.Position,
		Asked: request(1, events.PhaseApply) + " " + asked.String(),
	}))
	again.Phase = events.PhaseTeardown
	after(t, requested, recreation, failed(2, true)).When(again).Then(asks(commands.RemoveService{
		ServiceID: service, DeviceID: device, RunID: asked, Generation: 1, Recreate: true,
		Position: processtest.Position, Asked: request(1, events.PhaseTeardown) + " " + asked.String(),
	}))
}

// While the routers' queue is full of slow ones, or no program works it, a service's job waits for longer than the
// process waits for its report. What is asked for meanwhile, also by a person, is the same request, which the queue
// keeps once. A try that
// failed is over, and a change asks for something else.
func TestRetry_OfAJobThatWaitsIsTheSameRequest(t *testing.T) {
	t.Parallel()
	requests := func(list ...events.Event) map[string]int {
		var state provisioning.State
		seen := map[string]int{}
		take := func(in processmanagers.Input) {
			out, err := provisioning.Decide(state, in, now)
			if err != nil {
				t.Fatal(err)
			}
			state = provisioning.Evolve(state, in)
			for _, job := range out.Jobs {
				seen[job.(commands.Asked).Request()]++
			}
		}
		for _, e := range list {
			take(processmanagers.Input{Event: &events.Envelope{ID: processtest.EventID(e), Position: 7, Event: e}})
			for hour := range 12 {
				for _, name := range []string{"retry", "leases"} {
					due := now.Add(time.Duration(hour+1) * time.Hour)
					take(processmanagers.Input{Timeout: &processmanagers.Timeout{Name: name, Due: due}})
				}
			}
		}
		return seen
	}
	for name, c := range map[string]struct {
		story []events.Event
		want  int
	}{
		"a new service":                 {[]events.Event{requested}, 1},
		"a failed try":                  {[]events.Event{requested, failed(1, false)}, 2},
		"a change":                      {[]events.Event{requested, moved}, 2},
		"a re-creation":                 {[]events.Event{requested, recreation, tornDown}, 3},
		"a removal":                     {[]events.Event{requested, removal}, 2},
		"a person, again and again":     {[]events.Event{requested, applied(1), person(1), person(2), person(3)}, 2},
		"a person before the first job": {[]events.Event{requested, person(1), person(2)}, 1},
		"a person after a failed try": {
			[]events.Event{requested, failed(1, false), person(1), person(2)}, 3,
		},
		"a person after the last one's job": {
			[]events.Event{requested, applied(1), person(1), applied(1), person(2)}, 3,
		},
		"leases of former subnets": {[]events.Event{requested, applied(1), left(now)}, 2},
		"leases that last longer":  {[]events.Event{requested, applied(1), left(now), kept}, 3},
	} {
		if got := requests(c.story...); len(got) != c.want {
			t.Errorf("%s: asked for are %v, want %d requests", name, got, c.want)
		}
	}
}

func TestAllocation_WithoutAServiceGoesBack(t *testing.T) {
	t.Parallel()
	s := after(t)
	s.When(allocated).Then(processmanagers.Output{
		Timers: []processmanagers.Timer{{Name: "abandoned", At: now.Add(5 * time.Minute)}},
	})
	s = after(t, allocated)
	s.WhenDue("abandoned", dueAt).Then(processmanagers.Output{
		Commands: []commands.Command{commands.ReleaseAddresses{OrgID: org, ServiceID: service}},
	}).ThenEnded()
	second := allocated
	second.Addressing = plan2
	s = after(t, allocated, requested, applied(1), second)
	s.WhenDue("abandoned", dueAt).Then(processmanagers.Output{Commands: []commands.Command{commands.SettleAddresses{
		OrgID: org, ServiceID: service, Binding: binding, Subnet: plan.Subnet, AbandonedBefore: now.Add(time.Second),
	}}})
	after(t, allocated, requested, applied(1), second, moved).WhenDue("abandoned", dueAt).ThenNothing()
}

func TestProcess_EveryHandledEventBelongsToTheService(t *testing.T) {
	t.Parallel()
	processtest.CheckKeys(t, provisioning.Process(), service.String(), allocated, requested, moved, recreation,
		tornDown, removal, applied(1), failed(1, true), events.ServiceWalledGardenChanged{ServiceID: service},
		events.ServiceReconcileRequested{ServiceID: service}, events.ServiceRemoved{ServiceID: service},
		left(now), kept, retired)
}
