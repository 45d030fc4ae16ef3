package network_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
)

func TestRun_AccountsForEachWriteOnce(t *testing.T) {
	t.Parallel()
	by := events.Actor{Kind: events.ActorUser, ID: "u", Role: "admin"}
	pool := events.RouterStep{
		Path: "ip/pool", Operation: "add", Name: "pool-svc-1", After: map[string]string{"ranges": "a"},
	}
	server := events.RouterStep{Path: "interface/pppoe-server/server", Operation: "add", Name: "pppoe-svc-1"}
	start := commands.StartReconcile{
		RunID: run, OrgID: org, DeviceID: device, ServiceID: service, Kind: events.ReconcileApply, By: by,
	}
	write := func(step events.RouterStep, found bool) commands.RecordWrite {
		return commands.RecordWrite{RunID: run, Step: step, Found: found}
	}
	written := func(seq int, step events.RouterStep, found bool) events.RouterWritten {
		return events.RouterWritten{
			RunID: run, OrgID: org, DeviceID: device, ServiceID: service, Seq: seq, Step: step, Found: found, By: by,
			At: now,
		}
	}
	planned := commands.PlanWrites{RunID: run, Steps: []events.RouterStep{pool, server}}
	finish := commands.FinishReconcile{RunID: run, Outcome: events.ReconcileDone}
	s := decidertest.For(t, runs, now).
		When(planned).ThenFails("run_not_found").
		When(start).Then(events.ReconcileStarted{
		RunID: run, OrgID: org, DeviceID: device, ServiceID: service, Kind: events.ReconcileApply, By: by, At: now,
	}).
		When(start).ThenNothing().
		When(planned).Then(events.ReconcilePlanned{RunID: run, Steps: planned.Steps,
		At: now}).When(planned).ThenNothing().
		When(write(pool, false)).Then(written(1, pool, false))
	survives(t, s)
	if got := s.State().Planned; len(got) != 1 || got[0].Path != server.Path {
		t.Fatalf("planned %v: after a crash the server must be looked for", got)
	}
	s.When(write(server, true)).Then(written(2, server, true)).
		When(finish).Then(events.ReconcileFinished{
		RunID: run, OrgID: org, DeviceID: device, ServiceID: service, Kind: events.ReconcileApply, Writes: 2,
		Outcome: events.ReconcileDone, At: now,
	}).
		When(finish).ThenNothing().
		When(write(pool, false)).ThenFails("run_finished").
		When(start).ThenFails("run_finished")
}

func TestRun_OverADeviceIsRequestedFirst(t *testing.T) {
	t.Parallel()
	request := commands.RequestReconcile{RunID: run, OrgID: org, DeviceID: device, Kind: events.ReconcileFirewall}
	start := commands.StartReconcile{RunID: run, OrgID: org, DeviceID: device, Kind: events.ReconcileFirewall}
	decidertest.For(t, runs, now).
		When(request).Then(events.ReconcileRequested{RunID: run, OrgID: org, DeviceID: device,
		Kind: events.ReconcileFirewall, At: now}).
		When(request).ThenFails("run_exists").
		When(start).Then(events.ReconcileStarted{RunID: run, OrgID: org, DeviceID: device,
		Kind: events.ReconcileFirewall, At: now}).
		When(commands.RecordWrite{RunID: run, ServiceID: service,
			Step: events.RouterStep{Path: "ip/pool", Operation: "remove"}}).
		Then(events.RouterWritten{
			RunID: run, OrgID: org, DeviceID: device, ServiceID: service, Seq: 1,
			Step: events.RouterStep{Path: "ip/pool", Operation: "remove"}, At: now,
		})
}

func TestRun_KeepsAWriteThatTheRouterRefused(t *testing.T) {
	t.Parallel()
	by := events.Actor{Kind: events.ActorUser, ID: "u", Role: "admin"}
	step := events.RouterStep{Path: "ip/pool", Operation: "add", Name: "pool-svc-1"}
	refusal := commands.RecordRefusal{RunID: run, Step: step, Message: "pool with such name exists"}
	s := decidertest.For(t, runs, now).
		When(refusal).ThenFails("run_not_found").
		When(commands.StartReconcile{RunID: run, OrgID: org, DeviceID: device, ServiceID: service,
			Kind: events.ReconcileApply, By: by}).
		Then(events.ReconcileStarted{RunID: run, OrgID: org, DeviceID: device, ServiceID: service,
			Kind: events.ReconcileApply, By: by, At: now}).
		When(commands.PlanWrites{RunID: run, Steps: []events.RouterStep{step}}).
		Then(events.ReconcilePlanned{RunID: run, Steps: []events.RouterStep{step}, At: now}).
		When(refusal).Then(events.RouterWriteRefused{RunID: run, OrgID: org, DeviceID: device, ServiceID: service,
		Step: step, Message: refusal.Message, By: by, At: now})
	if state := s.State(); len(state.Planned) != 0 || state.Writes != 0 {
		t.Errorf("a refused write may still come: %+v", state)
	}
}

func TestRun_AnnouncesAgainWhatDiffersInAnything(t *testing.T) {
	t.Parallel()
	pool := events.RouterStep{
		Path: "ip/pool", Operation: "set", Name: "pool-svc-1", Before: map[string]string{"ranges": "a"},
		After: map[string]string{"ranges": "b"},
	}
	for name, change := range map[string]func(*events.RouterStep){
		"path":      func(s *events.RouterStep) { s.Path = "ip/address" },
		"operation": func(s *events.RouterStep) { s.Operation = "add" },
		"name":      func(s *events.RouterStep) { s.Name = "pool-svc-2" },
		"before":    func(s *events.RouterStep) { s.Before = map[string]string{"ranges": "x"} },
		"after":     func(s *events.RouterStep) { s.After = map[string]string{"ranges": "x"} },
	} {
		other := pool
		change(&other)
		plan := func(step events.RouterStep) commands.PlanWrites {
			return commands.PlanWrites{RunID: run, Steps: []events.RouterStep{step}}
		}
		s := decidertest.For(t, runs, now).Given(events.ReconcileStarted{RunID: run, OrgID: org, DeviceID: device},
			events.ReconcilePlanned{RunID: run, Steps: plan(pool).Steps}).
			When(plan(pool)).ThenNothing().
			When(plan(other)).Then(events.ReconcilePlanned{RunID: run, Steps: plan(other).Steps, At: now})
		s.Given(events.RouterWritten{RunID: run, Seq: 1, Step: pool})
		if left := s.State().Planned; len(left) != 1 {
			t.Errorf("%s: another write settles this one, planned is %v", name, left)
		}
	}
}

func TestRun_ThatFailsSaysWhereAndWhy(t *testing.T) {
	t.Parallel()
	finish := commands.FinishReconcile{
		RunID: run, Outcome: events.ReconcileRefused, Path: "ip/pool", Operation: "add", Message: "no such interface",
	}
	decidertest.For(t, runs, now).Given(events.ReconcileStarted{RunID: run, OrgID: org, DeviceID: device}).
		When(finish).Then(events.ReconcileFinished{
		RunID: run, OrgID: org, DeviceID: device, Outcome: events.ReconcileRefused, Path: "ip/pool",
		Operation: "add", Message: "no such interface", At: now,
	})
}
