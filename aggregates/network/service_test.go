package network_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
)

// Bindings, events and commands that the tests below share.
var (
	pppoe   = events.ServiceBinding{Type: events.ServicePPPoE, ParentInterface: "ether5"}
	vlan    = events.ServiceBinding{Type: events.ServicePPPoE, ParentInterface: "ether5", VlanID: 100}
	hotspot = events.ServiceBinding{Type: events.ServiceHotspot, ParentInterface: "ether5"}
	plan    = events.ServiceAddressing{
		Subnet: "10.50.0.0/24", Gateway: "10.50.0.1", PoolStart: "10.50.0.2", PoolEnd: "10.50.0.254",
	}
	plan2 = events.ServiceAddressing{
		Subnet: "10.50.1.0/24", Gateway: "10.50.1.1", PoolStart: "10.50.1.2", PoolEnd: "10.50.1.254",
	}
	garden  = events.WalledGarden{Domains: []string{"*.example.com"}, Addresses: []string{"192.0.2.0/24"}}
	request = commands.RequestService{
		ServiceID: service, OrgID: org, DeviceID: device, Binding: pppoe, Addressing: plan,
	}
	asked = events.ServiceRequested{
		ServiceID: service, OrgID: org, DeviceID: device, Binding: pppoe, Addressing: plan, Generation: 1, At: now,
	}
	applied = events.ServiceApplied{ServiceID: service, DeviceID: device, RunID: run, Generation: 1, At: now}
	drift   = []events.DriftedResource{
		{Path: "ip/pool", Kind: "missing", Name: "pool-svc-1", Expected: map[string]string{"ranges": "a"}},
	}
)

// report says that the desired state of a generation was applied.
func report(generation int) commands.ReportApplied {
	return commands.ReportApplied{ServiceID: service, RunID: run, Generation: generation}
}

// active begins a scenario about an applied service.
func active(t *testing.T) *decidertest.Scenario[network.Service, commands.ServiceCommand, events.ServiceEvent] {
	return decidertest.For(t, services, now).Given(asked, applied)
}

// stands compares the standing of the service.
func stands(
	t *testing.T, s *decidertest.Scenario[network.Service, commands.ServiceCommand, events.ServiceEvent],
	want network.Standing,
) {
	t.Helper()
	if got := s.State().Standing; got != want {
		t.Fatalf("stands %s, want %s", got, want)
	}
	survives(t, s)
}

func TestService_IsPendingThenActive(t *testing.T) {
	t.Parallel()
	s := decidertest.For(t, services, now).
		When(report(1)).ThenFails("service_not_found").
		When(request).Then(asked).When(request).ThenFails("service_exists")
	stands(t, s, network.StandingPending)
	s.When(report(0)).ThenNothing().When(report(1)).Then(applied).When(report(1)).ThenNothing()
	stands(t, s, network.StandingActive)
}

func TestServiceFailure_RefusedWaitsForSomebodyAndTheRestDoesNot(t *testing.T) {
	t.Parallel()
	fail := func(refused bool) commands.ReportServiceFailure {
		return commands.ReportServiceFailure{
			ServiceID: service, RunID: run, Generation: 1, Phase: events.PhaseApply, Path: "ip/pool",
			Operation: commands.OperationAdd, Message: "failure: pool with such name exists", Refused: refused,
		}
	}
	failed := func(refused bool) events.ServiceApplyFailed {
		return events.ServiceApplyFailed{
			ServiceID: service, DeviceID: device, RunID: run, Phase: events.PhaseApply, Path: "ip/pool",
			Operation: commands.OperationAdd, Message: "failure: pool with such name exists", Refused: refused,
			Generation: 1, At: now,
		}
	}
	s := decidertest.For(t, services, now).Given(asked).When(fail(false)).Then(failed(false))
	stands(t, s, network.StandingPending)
	s.When(fail(true)).Then(failed(true))
	stands(t, s, network.StandingFailed)
	s.When(commands.ReconcileService{ServiceID: service, RunID: run2}).
		Then(events.ServiceReconcileRequested{ServiceID: service, DeviceID: device, RunID: run2,
			Phase: events.PhaseApply, Generation: 1, At: now}).
		When(report(1)).Then(applied).
		When(fail(true)).ThenNothing()
	stands(t, s, network.StandingActive)
}

func TestServiceReconcile_OfAnActiveOneIsReported(t *testing.T) {
	t.Parallel()
	active(t).When(commands.ReconcileService{ServiceID: service, RunID: run2}).
		Then(events.ServiceReconcileRequested{ServiceID: service, DeviceID: device, RunID: run2,
			Phase: events.PhaseApply, Generation: 1, At: now}).
		When(report(1)).Then(applied).When(report(1)).ThenNothing()
}

func TestServiceChange_OfAddressesAndWalledGardenKeepsSessions(t *testing.T) {
	t.Parallel()
	spot := asked
	spot.Binding, spot.WalledGarden = hotspot, garden
	change := commands.ChangeNasService{ServiceID: service, Binding: hotspot, Addressing: plan2, AffectedSessions: 40}
	s := decidertest.For(t, services, now).Given(spot, applied).
		When(commands.ChangeNasService{ServiceID: service, Binding: hotspot, Addressing: plan,
			WalledGarden: garden}).ThenNothing().
		When(change).Then(
		left(plan.Subnet),
		events.ServiceAddressingChanged{
			ServiceID: service, DeviceID: device, Addressing: plan2, Generation: 2, At: now,
		},
		events.ServiceWalledGardenChanged{ServiceID: service, DeviceID: device, Generation: 3, At: now},
	).When(change).ThenNothing()
	stands(t, s, network.StandingActive)
	latest := applied
	latest.Generation = 3
	s.When(report(2)).ThenNothing().When(report(3)).Then(latest)
}

func TestServiceChange_OfTheBindingMustBeConfirmed(t *testing.T) {
	t.Parallel()
	change := commands.ChangeNasService{ServiceID: service, Binding: vlan, Addressing: plan}
	s := active(t).When(change).ThenFails("confirmation_required")
	confirm := commands.ConfirmNasServiceChange(change)
	confirm.AffectedSessions = 12
	s.When(confirm).Then(events.ServiceRecreationConfirmed{
		ServiceID: service, DeviceID: device, From: pppoe, To: vlan, Addressing: plan, AffectedSessions: 12,
		Generation: 2, At: now,
	})
	stands(t, s, network.StandingPending)
	gone := commands.ReportTornDown{ServiceID: service, RunID: run, Generation: 2}
	stale := gone
	stale.Generation = 1
	second := applied
	second.Generation = 2
	s.When(confirm).ThenNothing().When(change).ThenNothing().
		When(report(2)).ThenNothing().When(stale).ThenNothing().
		When(commands.ReconcileService{ServiceID: service, RunID: run2}).
		Then(events.ServiceReconcileRequested{ServiceID: service, DeviceID: device, RunID: run2,
			Phase: events.PhaseTeardown, Generation: 2, At: now}).
		When(gone).Then(events.ServiceTornDown{ServiceID: service, DeviceID: device, RunID: run, Generation: 2,
		At: now}).
		When(gone).ThenNothing().
		When(report(2)).Then(second)
	stands(t, s, network.StandingActive)
}

func TestServiceChange_ConfirmedButOfAddressesOnlyKeepsSessions(t *testing.T) {
	t.Parallel()
	active(t).When(commands.ConfirmNasServiceChange{ServiceID: service, Binding: pppoe, Addressing: plan2}).
		Then(leftBySessions(), events.ServiceAddressingChanged{
			ServiceID: service, DeviceID: device, Addressing: plan2, Generation: 2, At: now,
		})
}

func TestServiceChange_DuringTearDownIsAppliedAfterIt(t *testing.T) {
	t.Parallel()
	s := active(t).Given(events.ServiceRecreationConfirmed{ServiceID: service, DeviceID: device, From: pppoe, To: vlan,
		Addressing: plan, Generation: 2, At: now}).
		When(commands.ChangeNasService{ServiceID: service, Binding: vlan, Addressing: plan2}).
		Then(leftBySessions(), events.ServiceAddressingChanged{
			ServiceID: service, DeviceID: device, Addressing: plan2, Generation: 3, At: now,
		})
	if s.State().Open != events.PhaseTeardown {
		t.Errorf("the tear-down was forgotten: %+v", s.State())
	}
}

func TestDrift_IsOneEventForEachHash(t *testing.T) {
	t.Parallel()
	see := func(hash string) commands.ReportDrift {
		return commands.ReportDrift{ServiceID: service, Generation: 1, Hash: hash, Resources: drift}
	}
	detected := func(hash string) events.ServiceDriftDetected {
		return events.ServiceDriftDetected{
			ServiceID: service, OrgID: org, DeviceID: device, FirstSeenAt: now, Hash: hash, Resources: drift, At: now,
		}
	}
	none := commands.ReportDrift{ServiceID: service, Generation: 1}
	s := active(t).When(none).ThenNothing().When(see("a")).Then(detected("a")).When(see("a")).ThenNothing()
	stands(t, s, network.StandingDegraded)
	later := now.Add(15 * 60e9)
	second := detected("b")
	second.At = later // FirstSeenAt stays, because the service was never in sync in between
	s.At(later).When(see("b")).Then(second)
	s.When(none).Then(events.ServiceDriftCleared{ServiceID: service, DeviceID: device, At: later})
	stands(t, s, network.StandingDegraded)
	s.When(none).ThenNothing()
	confirmed, repaired := applied, applied
	confirmed.At, repaired.Repaired, repaired.At = later, true, later
	s.When(report(1)).Then(confirmed)
	stands(t, s, network.StandingActive)
	s.Given(detected("a")).When(report(1)).Then(repaired)
}

func TestDrift_OfAServiceThatIsWorkedOnIsNone(t *testing.T) {
	t.Parallel()
	see := commands.ReportDrift{ServiceID: service, Generation: 1, Hash: "a", Resources: drift}
	decidertest.For(t, services, now).Given(asked).When(see).ThenNothing()
	old := see
	old.Generation = 0
	active(t).When(old).ThenNothing().
		Given(events.ServiceRemovalRequested{ServiceID: service, DeviceID: device, Generation: 1,
			At: now}).When(see).ThenNothing()
}

func TestServiceRemoval_MustBeConfirmedWhileSessionsAreUp(t *testing.T) {
	t.Parallel()
	remove := commands.RequestRemoval{ServiceID: service, AffectedSessions: 3}
	requested := events.ServiceRemovalRequested{ServiceID: service, DeviceID: device, Generation: 2, At: now}
	done := commands.ReportRemoved{ServiceID: service, RunID: run}
	removed := events.ServiceRemoved{ServiceID: service, OrgID: org, DeviceID: device, RunID: run, At: now}
	active(t).When(remove).ThenFails("confirmation_required").
		When(commands.RequestRemoval{ServiceID: service}).Then(requested)
	remove.Confirmed = true
	requested.AffectedSessions = 3
	s := active(t).When(done).ThenFails("removal_not_requested").
		When(remove).Then(requested).When(remove).ThenNothing().
		When(commands.ChangeNasService{ServiceID: service, Binding: pppoe,
			Addressing: plan2}).ThenFails("service_removing").
		When(commands.ConfirmNasServiceChange{ServiceID: service, Binding: vlan,
			Addressing: plan2}).ThenFails("service_removing").
		When(report(1)).ThenNothing().When(report(2)).ThenNothing()
	stands(t, s, network.StandingActive)
	s.When(done).Then(removed).When(done).ThenNothing().
		When(remove).ThenFails("service_not_found").
		When(commands.ReconcileService{ServiceID: service, RunID: run2}).ThenFails("service_not_found")
}

func TestServiceRemoval_ThatTheRouterRefusedIsTriedAgainWhenAsked(t *testing.T) {
	t.Parallel()
	active(t).Given(
		events.ServiceRemovalRequested{ServiceID: service, DeviceID: device, Generation: 2, At: now},
		events.ServiceApplyFailed{
			ServiceID: service, DeviceID: device, Phase: events.PhaseRemoval, Refused: true, Generation: 2, At: now,
		},
	).When(commands.RequestRemoval{ServiceID: service}).
		Then(events.ServiceRemovalRequested{ServiceID: service, DeviceID: device, Generation: 3, At: now}).
		When(commands.ReconcileService{ServiceID: service, RunID: run2}).
		Then(events.ServiceReconcileRequested{ServiceID: service, DeviceID: device, RunID: run2,
			Phase: events.PhaseRemoval, Generation: 3, At: now}).
		When(commands.ReportRemoved{ServiceID: service, Abandoned: true}).
		Then(events.ServiceRemoved{ServiceID: service, OrgID: org, DeviceID: device, Abandoned: true, At: now})
}

func TestService_KeepsTheWalledGardenThatItWasGiven(t *testing.T) {
	t.Parallel()
	given := request
	given.Binding, given.WalledGarden = hotspot, garden
	created := asked
	created.Binding, created.WalledGarden = hotspot, garden
	s := decidertest.For(t, services, now).When(given).Then(created)
	change := commands.ChangeNasService{ServiceID: service, Binding: hotspot, Addressing: plan, WalledGarden: garden}
	s.When(change).ThenNothing()
	for _, wider := range []events.WalledGarden{
		{Domains: []string{"*.example.com", "example.org"}, Addresses: garden.Addresses},
		{Domains: garden.Domains, Addresses: []string{"192.0.2.0/24", "198.51.100.1"}},
	} {
		change.WalledGarden = wider
		decidertest.For(t, services, now).Given(created).When(change).Then(events.ServiceWalledGardenChanged{
			ServiceID: service, DeviceID: device, WalledGarden: wider, Generation: 2, At: now,
		})
	}
}

func TestDrift_OfAFormerStateOrAFailedServiceIsNone(t *testing.T) {
	t.Parallel()
	report := commands.ReportDrift{ServiceID: service, Generation: 2, Hash: "a", Resources: drift}
	active(t).When(report).ThenNothing()
	failed := events.ServiceApplyFailed{ServiceID: service, DeviceID: device, Generation: 1, Refused: true, At: now}
	report.Generation = 1
	decidertest.For(t, services, now).Given(asked, failed).When(report).ThenNothing()
}

func TestServiceFailure_OfAFormerStateIsNotRecorded(t *testing.T) {
	t.Parallel()
	decidertest.For(t, services, now).Given(asked).When(commands.ReportServiceFailure{
		ServiceID: service, RunID: run, Phase: events.PhaseApply, Message: "x", Generation: 2,
	}).ThenNothing()
}
