package cpejobs

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
)

// Patience with a download. The server itself gives it up after an hour; the device boots and calls after it.
const (
	flashPatience = 2 * time.Hour
	taskGrace     = 10 * time.Minute // in which a task is taken back that has not begun in time
	longSession   = time.Minute      // a session that began so long before a task does not run it any more
)

// Codes of downloads that failed without a fault of the server.
const (
	codeCurrent      = string(events.CpeCurrent)
	codeOldVersion   = "old_version"   // the device has taken the file, booted, and runs the version of before
	codeNotConfirmed = "not_confirmed" // the device has not told of the version in time
)

// aboutNoCall is the message of a download of which a device was certainly not told.
const aboutNoCall = "The device did not call in time."

// Store implements Server. Both sides hold the file in memory.
func (a ACS) Store(ctx context.Context, c commands.RecordCpeFirmware, content []byte) error {
	return a.Gateway.PutFile(ctx, genieacs.File{
		Name: c.StoredAs(), Type: genieacs.FirmwareImage, OUI: c.File.OUI, ProductClass: c.File.ProductClass,
		Version: c.File.Version,
	}, content)
}

// Ready implements Server.
func (a ACS) Ready() error { return a.Gateway.Ready() }

// running is the version of the firmware that a device has told of, and when.
func (a ACS) running(ctx context.Context, device genieacs.Device) (genieacs.Value, error) {
	if device.Root == genieacs.None {
		return genieacs.Value{}, nil
	}
	path := genieacs.TreeOf(device.Root).Firmware
	read, err := a.Gateway.Device(ctx, device.ID, path)
	return read.Values[path], err
}

// needed refuses a download to a device that runs the version already.
func (a ACS) needed(ctx context.Context, w Write, device genieacs.Device) error {
	version, err := a.running(ctx, device)
	if err == nil && version.Text() == w.Image.Version {
		err = refusal{codeCurrent, "The device runs this version already."}
	}
	return err
}

// certain makes an outcome of an error after which it is certain that the device was not told.
func certain(w Write, out Outcome, err error) (Outcome, error) {
	if err == nil || w.Kind != events.CpeFirmware || errors.Is(err, genieacs.ErrInDoubt) {
		return out, err
	}
	return Outcome{Code: events.CpeNotBegun, Message: "The CPE server could not be asked."}, nil
}

// firmwareOutcome follows a download: its task waits for the device, the device fetches the file, takes it, boots, and
// tells of its version. A task that waits for too long is taken back, and the device was certainly not told.
func (a ACS) firmwareOutcome(ctx context.Context, w Write, device genieacs.Device) (Outcome, error) {
	all, err := a.Gateway.Tasks(ctx, device.ID)
	if err != nil {
		return Outcome{}, err
	}
	if fault, err := a.faultOf(ctx, w, device, all); err != nil || fault.Code != "" {
		return fault, err
	}
	waiting := slices.DeleteFunc(all, func(t genieacs.Waiting) bool { return t.UniqueKey != taskKey(w, 0) })
	switch {
	case len(waiting) > 0 && w.Going && a.Clock.Now().Before(w.BeginBy):
		return Outcome{}, nil
	case len(waiting) > 0:
		return a.takeBack(ctx, w, device.ID, waiting)
	}
	out, err := a.flashed(ctx, w, device)
	if err == nil && (out.Done || out.Code != "") { // nothing of it is to happen again
		_, err = a.withdraw(ctx, device.ID, tasksOf(w, nil))
	}
	return out, err
}

// faultOf looks for a fault of a write among those of its device, which has tasks. The tasks of the write, and faults
// of those that are gone, are taken away before it is told: the server would try again.
func (a ACS) faultOf(
	ctx context.Context, w Write, device genieacs.Device, has []genieacs.Waiting,
) (Outcome, error) {
	tasks := tasksOf(w, has)
	faults, err := a.Gateway.DeviceFaults(ctx, device.ID)
	if err != nil {
		return Outcome{}, err
	}
	for _, f := range faults {
		task, is := f.Task()
		if !is || !slices.Contains(tasks, task) && (len(tasks) > 0 || !lostTo(w, f, has)) {
			continue
		}
		if len(tasks) == 0 {
			tasks = []genieacs.TaskID{task}
		}
		_, err := a.withdraw(ctx, device.ID, tasks)
		return Outcome{Code: f.Code, Message: faultText(f)}, err
	}
	return Outcome{}, nil
}

// lostTo reports whether a fault is that of a download whose task nobody knows, because the answer was lost: only
// downloads fail when their tasks are gone. A later download, whose task is known, has a fault of its own.
func lostTo(w Write, f genieacs.Fault, has []genieacs.Waiting) bool {
	return w.Kind == events.CpeFirmware && !f.Happened().Before(w.AskedAt) &&
		!slices.ContainsFunc(has, func(t genieacs.Waiting) bool { return "task_"+string(t.ID) == f.Channel }) &&
		!slices.ContainsFunc(w.Others, func(t events.CpeTask) bool { return "task_"+t.ID == f.Channel })
}

// takeBack deletes tasks that wait. One that is not there any more has just begun, and is looked for again.
func (a ACS) takeBack(
	ctx context.Context, w Write, device genieacs.DeviceID, waiting []genieacs.Waiting,
) (Outcome, error) {
	tasks := tasksOf(Write{Key: w.Key}, waiting)
	if there, err := a.withdraw(ctx, device, tasks); err != nil || !there {
		return Outcome{}, err
	}
	return Outcome{Code: events.CpeNotBegun, Message: aboutNoCall}, nil
}

// flashed judges a download whose task has ended. A boot alone proves nothing: the device may have begun to load after
// it. So a device has come back with the old version when it booted after it reported to have taken the file.
func (a ACS) flashed(ctx context.Context, w Write, device genieacs.Device) (Outcome, error) {
	version, err := a.running(ctx, device)
	if err != nil {
		return Outcome{}, err
	}
	if version.Text() == w.Image.Version {
		return Outcome{Done: true}, nil
	}
	taken, err := a.Gateway.Transferred(ctx, device.ID, w.Image.File)
	if err != nil {
		return Outcome{}, err
	}
	since := begun(w.Tasks)
	if since.IsZero() {
		since = w.AskedAt
	}
	if !taken.Before(since) && !taken.IsZero() && !device.LastBoot.Before(taken) && !version.At.Before(taken) {
		return Outcome{
			Code: codeOldVersion, Message: "The device took the file and runs " + version.Text() + ".",
		}, nil
	}
	ended := w.BeginBy.Add(taskGrace + longSession) // by then the server has dropped a task that has not run
	switch {
	case len(w.Tasks) > 0 && device.LastInform.Before(since.Add(-longSession)) && !a.Clock.Now().Before(ended):
		return Outcome{Code: events.CpeNotBegun, Message: aboutNoCall}, nil
	case a.Clock.Now().Before(w.SentAt.Add(flashPatience)):
		return Outcome{}, nil
	case len(w.Tasks) == 0:
		return Outcome{Code: codeUnknown, Message: aboutUnknown}, nil
	}
	return Outcome{Code: codeNotConfirmed, Message: "The device has not told that it runs the new version."}, nil
}
