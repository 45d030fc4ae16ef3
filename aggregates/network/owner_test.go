package network_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// folded is the state after events.
func folded[S any, C commands.Command, E events.Event](def aggregates.Definition[S, C, E], list ...E) S {
	var state S
	for _, e := range list {
		state = def.Evolve(state, e)
	}
	return state
}

// The bus refuses a command of another organization by these answers.
func TestOwner_IsTheOrganizationOfTheFirstEventAndStaysItAfterClosing(t *testing.T) {
	t.Parallel()
	router := folded(devices, events.DeviceEvent(registered))
	there := folded(services, events.ServiceEvent(asked))
	plan := folded(plans, events.AddressingEvent(allocated(service, device, pppoe, plan)))
	requested := folded(runs, events.ReconcileEvent(events.ReconcileRequested{RunID: run, OrgID: org}))
	started := folded(runs, events.ReconcileEvent(events.ReconcileStarted{RunID: run, OrgID: org}))
	for name, owner := range map[string]id.Organization{
		"router": devices.Owner(router), "service": services.Owner(there), "addresses": plans.Owner(plan),
		"requested run": runs.Owner(requested), "run": runs.Owner(started),
		"router, later":    devices.Owner(folded(devices, devices.Close(router))),
		"service, later":   services.Owner(folded(services, services.Close(there))),
		"addresses, later": plans.Owner(folded(plans, plans.Close(plan))),
		"run, later":       runs.Owner(folded(runs, runs.Close(started))),
	} {
		if owner != org {
			t.Errorf("the %s belongs to %q", name, owner)
		}
	}
	if owner := devices.Owner(network.Device{}); !owner.IsZero() {
		t.Errorf("a router that does not exist belongs to %s", owner)
	}
}

func TestMissing_IsToldByTheNameOfTheThing(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]string{
		devices.Missing(): "device_not_found", services.Missing(): "service_not_found", plans.Missing(): "not_found",
		runs.Missing(): "run_not_found",
	} {
		if got := failure.CodeOf(err); got != want || failure.KindOf(err) != failure.NotFound {
			t.Errorf("told as %s, want %s", got, want)
		}
	}
}

func TestGone_IsADecommissionedRouterAndARemovedService(t *testing.T) {
	t.Parallel()
	var away events.DeviceEvent = events.DeviceDecommissioned{DeviceID: device, OrgID: org, At: now}
	var removed events.ServiceEvent = events.ServiceRemoved{ServiceID: service, OrgID: org, DeviceID: device, At: now}
	if devices.Gone(folded(devices, events.DeviceEvent(registered))) ||
		!devices.Gone(folded(devices, events.DeviceEvent(registered), away)) {
		t.Error("a router is gone when it is decommissioned, and not before")
	}
	if services.Gone(folded(services, events.ServiceEvent(asked))) ||
		!services.Gone(folded(services, events.ServiceEvent(asked), removed)) {
		t.Error("a service is gone when it is removed, and not before")
	}
}

func TestClosing_NamesWhatWasClosed(t *testing.T) {
	t.Parallel()
	for name, closed := range map[string]bool{
		"router": devices.Close(folded(devices, events.DeviceEvent(registered))).(events.DevicePeriodClosed).
			DeviceID == device,
		"service": services.Close(folded(services, events.ServiceEvent(asked))).(events.ServicePeriodClosed).
			ServiceID == service,
		"run": runs.Close(folded(runs, events.ReconcileEvent(events.ReconcileStarted{RunID: run}))).(events.
			ReconcilePeriodClosed).RunID == run,
	} {
		if !closed {
			t.Errorf("the last event of a period of the %s names another one", name)
		}
	}
}
