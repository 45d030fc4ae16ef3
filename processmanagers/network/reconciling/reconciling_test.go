package reconciling_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/network/reconciling"
)

func TestRun_IsAskedForAgainWhenItsJobIsLost(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	device, run := id.Derive[id.Device]("test", "device"), id.Derive[id.Run]("test", "run")
	requested := events.ReconcileRequested{RunID: run, DeviceID: device, Kind: events.ReconcileFirewall, At: now}
	finished := events.ReconcileFinished{RunID: run, DeviceID: device, Kind: events.ReconcileFirewall, At: now}
	of := func(e events.Event) processmanagers.Input {
		return processmanagers.Input{Event: &events.Envelope{Event: e, Position: 42}}
	}
	late := processmanagers.Input{Timeout: &processmanagers.Timeout{Name: "retry"}}
	timer := []processmanagers.Timer{{Name: "retry", At: now.Add(10 * time.Minute)}}
	var s reconciling.State
	for _, step := range []struct {
		in   processmanagers.Input
		want processmanagers.Output
	}{
		{
			of(requested), processmanagers.Output{
				Jobs:   []commands.Job{commands.ReconcileFirewall{DeviceID: device, RunID: run, Position: 42}},
				Timers: timer,
			},
		},
		{
			late, processmanagers.Output{
				Jobs: []commands.Job{commands.ReconcileFirewall{DeviceID: device, RunID: run}}, Timers: timer,
			},
		},
		{of(finished), processmanagers.Output{Timers: []processmanagers.Timer{{Name: "retry"}}}},
	} {
		got, err := reconciling.Decide(s, step.in, now)
		if diff := cmp.Diff(step.want, got); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
		s = reconciling.Evolve(s, step.in)
	}
	if !reconciling.Process().Ended(s) || reconciling.Process().Key(*of(requested).Event) != run.String() {
		t.Errorf("state %+v", s)
	}
	s = reconciling.Evolve(reconciling.State{}, of(events.ReconcileRequested{
		RunID: run, DeviceID: device, Kind: events.ReconcileDevice,
	}))
	for range 3 {
		s = reconciling.Evolve(s, late)
	}
	if !reconciling.Process().Ended(s) {
		t.Error("asked for without end")
	}
}
