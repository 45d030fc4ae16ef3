package rebooting_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/network/rebooting"
)

// The router of these tests.
var (
	now       = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	device    = id.Derive[id.Device]("test", "device")
	run       = id.Derive[id.Run]("test", "run")
	requested = events.DeviceRebootRequested{DeviceID: device, RunID: run, At: now}
	started   = events.DeviceRebootStarted{DeviceID: device, RunID: run, At: now}
)

// of wraps an event.
func of(e events.Event) processmanagers.Input {
	return processmanagers.Input{Event: &events.Envelope{Event: e, Position: 42}}
}

// after folds events.
func after(list ...events.Event) rebooting.State {
	var s rebooting.State
	for _, e := range list {
		s = rebooting.Evolve(s, of(e))
	}
	return s
}

// expect compares what an input leads to at an instant.
func expect(t *testing.T, s rebooting.State, in processmanagers.Input, at time.Time, want processmanagers.Output) {
	t.Helper()
	got, err := rebooting.Decide(s, in, at)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

// verify is the timer.
func verify(at time.Time) []processmanagers.Timer {
	return []processmanagers.Timer{{Name: "verify", At: at}}
}

func TestReboot_IsSentOnceThenOnlyAskedAbout(t *testing.T) {
	t.Parallel()
	timeout := processmanagers.Input{Timeout: &processmanagers.Timeout{Name: "verify"}}
	expect(t, after(), of(requested), now, processmanagers.Output{
		Jobs:   []commands.Job{commands.RebootDevice{DeviceID: device, RunID: run, Position: 42}},
		Timers: verify(now.Add(2 * time.Minute)),
	})
	expect(t, after(requested), of(started), now, processmanagers.Output{Timers: verify(now.Add(30 * time.Second))})
	soon, late := now.Add(30*time.Second), now.Add(10*time.Minute)
	expect(t, after(requested, started), timeout, soon, processmanagers.Output{
		Jobs:   []commands.Job{commands.VerifyReboot{DeviceID: device, RunID: run}},
		Timers: verify(soon.Add(30 * time.Second)),
	})
	expect(t, after(requested, started), timeout, late, processmanagers.Output{
		Jobs:   []commands.Job{commands.VerifyReboot{DeviceID: device, RunID: run, Final: true}},
		Timers: verify(late.Add(2 * time.Minute)),
	})
	confirmed := events.DeviceRebootConfirmed{DeviceID: device, RunID: run, At: now}
	expect(t, after(requested, started), of(confirmed), now, processmanagers.Output{Timers: verify(time.Time{})})
	if !rebooting.Process().Ended(after(requested, started, confirmed)) {
		t.Error("a confirmed reboot is not over")
	}
	expect(t, after(requested), timeout, now, processmanagers.Output{Commands: []commands.Command{commands.FailReboot{
		DeviceID: device, RunID: run, Message: "The command was not sent within two minutes.",
	}}})
}
