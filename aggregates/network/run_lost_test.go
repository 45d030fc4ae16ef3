package network_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/decidertest"
)

func TestRun_ThatNeverBeganCanEnd(t *testing.T) {
	t.Parallel()
	lost := commands.FinishReconcile{RunID: run, Outcome: events.ReconcileUnreachable, Message: "lost"}
	decidertest.For(t, runs, now).
		When(lost).ThenFails("run_not_found").
		When(commands.RequestReconcile{RunID: run, OrgID: org, DeviceID: device, Kind: events.ReconcileDevice}).
		Then(events.ReconcileRequested{RunID: run, OrgID: org, DeviceID: device, Kind: events.ReconcileDevice,
			At: now}).
		When(lost).Then(events.ReconcileFinished{
		RunID: run, OrgID: org, DeviceID: device, Kind: events.ReconcileDevice, Outcome: events.ReconcileUnreachable,
		Message: "lost", At: now,
	}).
		When(lost).ThenNothing().
		When(commands.StartReconcile{RunID: run, OrgID: org, DeviceID: device, Kind: events.ReconcileDevice}).
		ThenFails("run_finished")
}
