package rebooting_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/network/rebooting"
)

// The ids and events of one reboot.
var (
	now       = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	device    = id.Derive[id.Device]("test", "device")
	run       = id.Derive[id.Run]("test", "run")
	requested = events.DeviceRebootRequested{DeviceID: device, RunID: run, At: now}
	started   = events.DeviceRebootStarted{DeviceID: device, RunID: run, At: now}
	confirmed = events.DeviceRebootConfirmed{DeviceID: device, RunID: run, At: now}
)

// after begins an example in which events have happened.
func after(t *testing.T, list ...events.Event) processtest.Scenario[rebooting.State] {
	t.Helper()
	return processtest.For(t, rebooting.Process(), now).Given(list...)
}

// verify arms the timer at an instant; the zero time disarms it.
func verify(at time.Time) []processmanagers.Timer {
	return []processmanagers.Timer{{Name: "verify", At: at}}
}

func TestReboot_IsSentOnceThenOnlyAskedAbout(t *testing.T) {
	t.Parallel()
	after(t).When(requested).Then(processmanagers.Output{
		Jobs:   []commands.Job{commands.RebootDevice{DeviceID: device, RunID: run, Position: processtest.Position}},
		Timers: verify(now.Add(2 * time.Minute)),
	})
	after(t, requested).When(started).Then(processmanagers.Output{Timers: verify(now.Add(30 * time.Second))})
	soon, late := now.Add(30*time.Second), now.Add(10*time.Minute)
	after(t, requested, started).At(soon).WhenDue("verify", soon).Then(processmanagers.Output{
		Jobs:   []commands.Job{commands.VerifyReboot{DeviceID: device, RunID: run}},
		Timers: verify(soon.Add(30 * time.Second)),
	})
	after(t, requested, started).At(late).WhenDue("verify", late).Then(processmanagers.Output{
		Jobs:   []commands.Job{commands.VerifyReboot{DeviceID: device, RunID: run, Final: true}},
		Timers: verify(late.Add(2 * time.Minute)),
	})
	after(t, requested, started).When(confirmed).Then(processmanagers.Output{Timers: verify(time.Time{})}).ThenEnded()
	after(t, requested).WhenDue("verify", now).Then(processmanagers.Output{
		Commands: []commands.Command{commands.FailReboot{
			DeviceID: device, RunID: run, Message: "The command was not sent within two minutes.",
		}},
	})
}

func TestReboot_ThatIsOverIsNotVerifiedWhenItsTimerIsLate(t *testing.T) {
	t.Parallel()
	over := after(t, requested, started, confirmed)
	over.WhenDue("verify", now).ThenNothing()
	after(t, requested).WhenRefused(commands.FailReboot{DeviceID: device, RunID: run}, "reboot_over").
		ThenNothing().ThenGoesOn()
}

func TestProcess_EveryHandledEventBelongsToTheRouter(t *testing.T) {
	t.Parallel()
	processtest.CheckKeys(t, rebooting.Process(), device.String(), requested, started, confirmed,
		events.DeviceRebootFailed{DeviceID: device}, events.DeviceDecommissioned{DeviceID: device})
}
