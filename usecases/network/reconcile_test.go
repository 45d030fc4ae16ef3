package networkcases_test

import (
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

func TestReconcile_ARepeatWaitsForTheSameRun(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	asked := p.asked()
	first, err := p.runs.Reconcile(t.Context(), asked, p.device, events.ReconcileDevice)
	if err != nil || first.Ended == nil || first.Ended.Kind != string(events.ReconcileDevice) {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := p.runs.Reconcile(t.Context(), asked, p.device, events.ReconcileDevice)
	if err != nil || again.Run != first.Run || again.Ended == nil {
		t.Errorf("repeat: %+v, %v", again, err)
	}
	if names := p.actions(commands.ReconcileCategory, id.Any(first.Run)); len(names) != 3 {
		t.Errorf("recorded %v, want one request, one start, one end", names)
	}
	stranger := coretest.Keyed(id.New[id.Organization]())
	_, err = p.runs.Reconcile(t.Context(), stranger, p.device, events.ReconcileDevice)
	coretest.Refused(t, "another organization", err, "device_not_found")
	_, err = p.runs.Reboot(t.Context(), stranger, p.device)
	coretest.Refused(t, "another organization reboots", err, "device_not_found")
}

func TestReconcile_TellsWhyARunStopped(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	_, err := p.runs.Reconcile(t.Context(), p.asked(), p.device, events.ReconcileFirewall)
	coretest.Refused(t, "a router without its tunnel", err, "router_refused")
	if told := told(err); !strings.Contains(told.Message, "in-interface") {
		t.Errorf("not in the router's words: %+v", told)
	}
	p.router.SetFaults(router.Faults{Refuse: true})
	_, err = p.runs.Reconcile(t.Context(), p.asked(), p.device, events.ReconcileFirewall)
	coretest.Refused(t, "without power", err, "device_unreachable")
}

func TestReboot_AnswersWhenTheRouterTakesIt(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	out, err := p.runs.Reboot(t.Context(), p.asked(), p.device)
	if err != nil || out.Device == nil || out.Device.Reboot.RunID != out.Run {
		t.Fatalf("%+v, %v", out, err)
	}
	stage := out.Device.Reboot.Stage
	if stage != networkviews.RebootAccepted && stage != networkviews.RebootConfirmed {
		t.Errorf("answered while the reboot is %s", stage)
	}
}

func TestReboot_OneAtATimeAndNeverOfASilentRouter(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	p.router.SetFaults(router.Faults{Refuse: true})
	_, err := p.runs.Reboot(t.Context(), p.asked(), p.device)
	coretest.Refused(t, "without power", err, "device_unreachable")
	if run := p.kit.device(p.device).Reboot.RunID; !run.IsZero() {
		t.Error("a reboot is asked for all the same")
	}
	p.router.SetFaults(router.Faults{DenyWrites: true})
	_, err = p.runs.Reboot(t.Context(), p.asked(), p.device)
	coretest.Refused(t, "not permitted", err, "router_refused")
	p.router.SetFaults(router.Faults{})
	other := commands.RequestReboot{DeviceID: p.device, RunID: id.New[id.Run]()}
	if _, err := p.Bus.Execute(t.Context(), other, p.asked().Meta); err != nil {
		t.Fatal(err)
	}
	_, err = p.runs.Reboot(t.Context(), p.asked(), p.device)
	if err == nil || p.kit.device(p.device).Reboot.RunID != other.RunID {
		t.Errorf("two reboots at once: %v", err)
	}
}

func TestReconcile_ARunWhoseJobWasDiscardedEnds(t *testing.T) {
	t.Parallel()
	p := newPlant(t)
	run := id.New[id.Run]()
	p.Run(t, p.asked().Step("start"), commands.StartReconcile{ // no process knows it
		RunID: run, OrgID: p.org, DeviceID: p.device, Kind: events.ReconcileDevice,
	})
	cause := jobs.Cause{OrgID: p.org, JobID: id.New[id.Any](), Attempt: 1000, Last: true}
	for range 2 {
		if err := p.workers.RunLost(t.Context(), run, cause, "device_unreachable"); err != nil {
			t.Fatal(err)
		}
	}
	if names := p.actions(commands.ReconcileCategory, id.Any(run)); len(names) != 2 {
		t.Errorf("recorded %v, want the start and one end", names)
	}
}
