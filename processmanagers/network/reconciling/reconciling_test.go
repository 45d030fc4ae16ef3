package reconciling_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/network/reconciling"
)

// The ids and events of one run over the firewall.
var (
	now       = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	device    = id.Derive[id.Device]("test", "device")
	run       = id.Derive[id.Run]("test", "run")
	requested = events.ReconcileRequested{RunID: run, DeviceID: device, Kind: events.ReconcileFirewall, At: now}
	finished  = events.ReconcileFinished{RunID: run, DeviceID: device, Kind: events.ReconcileFirewall, At: now}
)

// asks is an output of a job and of the timer that asks for it again.
func asks(job commands.Job) processmanagers.Output {
	return processmanagers.Output{
		Jobs: []commands.Job{job}, Timers: []processmanagers.Timer{{Name: "retry", At: now.Add(10 * time.Minute)}},
	}
}

func TestRun_IsAskedForAgainWhenItsJobIsLost(t *testing.T) {
	t.Parallel()
	processtest.For(t, reconciling.Process(), now).
		When(requested).Then(asks(commands.ReconcileFirewall{
		DeviceID: device, RunID: run, Position: processtest.Position,
	})).
		WhenDue("retry", now).Then(asks(commands.ReconcileFirewall{DeviceID: device, RunID: run})).
		When(finished).Then(processmanagers.Output{Timers: []processmanagers.Timer{{Name: "retry"}}}).ThenEnded()
}

func TestRun_IsNotAskedForWithoutEnd(t *testing.T) {
	t.Parallel()
	again := asks(commands.ReconcileDevice{DeviceID: device, RunID: run})
	processtest.For(t, reconciling.Process(), now).
		Given(events.ReconcileRequested{RunID: run, DeviceID: device, Kind: events.ReconcileDevice}).
		WhenDue("retry", now).Then(again).ThenGoesOn().
		WhenDue("retry", now).Then(again).ThenGoesOn().
		WhenDue("retry", now).ThenNothing().ThenEnded()
}

func TestRun_AsksForTheJobOfItsKind(t *testing.T) {
	t.Parallel()
	for kind, job := range map[events.ReconcileKind]commands.Job{
		events.ReconcileDevice: commands.ReconcileDevice{
			DeviceID: device, RunID: run, Position: processtest.Position,
		},
		events.ReconcileSetup: commands.ReconcileSetup{DeviceID: device, RunID: run, Position: processtest.Position},
		events.ReconcileFirewall: commands.ReconcileFirewall{
			DeviceID: device, RunID: run, Position: processtest.Position,
		},
	} {
		asked := requested
		asked.Kind = kind
		processtest.For(t, reconciling.Process(), now).When(asked).Then(asks(job))
	}
}

func TestRun_ThatIsOverIsNotAskedForWhenItsTimerIsLate(t *testing.T) {
	t.Parallel()
	processtest.For(t, reconciling.Process(), now).Given(requested, finished).WhenDue("retry", now).ThenNothing()
}

func TestProcess_EveryHandledEventBelongsToTheRun(t *testing.T) {
	t.Parallel()
	processtest.CheckKeys(t, reconciling.Process(), run.String(), requested, finished)
}
