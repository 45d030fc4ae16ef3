package cpejobs

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// ACS is the CPE server behind a northbound interface. Tasks are put into its queue first, and the CPE is called
// afterwards: what the server has is known then, however the call goes. Safe for concurrent use.
type ACS struct {
	Gateway *genieacs.Server
	Clock   clock.Clock
	Files   string // address of the file server as CPEs reach it; "" = it has none
}

// NoServer answers for a program without a CPE server: operations of earlier days wait for one until they expire.
type NoServer struct{}

// Send implements Server.
func (NoServer) Send(context.Context, Write) (Outcome, error) { return Outcome{}, errNoServer() }

// Find implements Server.
func (NoServer) Find(context.Context, Write) (bool, Outcome, error) {
	return false, Outcome{}, errNoServer()
}

// Outcome implements Server.
func (NoServer) Outcome(context.Context, Write) (Outcome, error) { return Outcome{}, errNoServer() }

// Withdraw implements Server.
func (NoServer) Withdraw(context.Context, Write) (bool, error) { return false, errNoServer() }

// Store implements Server.
func (NoServer) Store(context.Context, commands.RecordCpeFirmware, []byte) error {
	return errNoServer()
}

// Ready implements Server.
func (NoServer) Ready() error { return errNoServer() }

// errNoServer is the failure of work for a CPE server that is not there.
func errNoServer() error {
	return failure.NewUnavailable("cpe_server_not_set_up", "There is no server of customers' devices.", 0, nil)
}

// refusal is an outcome on the way of an error: it is certain that nothing was done.
type refusal struct{ code, message string }

// Error shows the code; the message is for people.
func (r refusal) Error() string { return "refused: " + r.code }

// settle tells errors after which it is certain that nothing was done, which are outcomes, from those that leave doubt.
func settle(out Outcome, err error) (Outcome, error) {
	var no refusal
	var theirs *genieacs.Refusal
	switch {
	case err == nil:
		return out, nil
	case errors.As(err, &no):
		return Outcome{Code: no.code, Message: no.message}, nil
	case errors.Is(err, genieacs.ErrInDoubt):
		return Outcome{}, err
	case errors.Is(err, genieacs.ErrUnfit):
		return Outcome{Code: "unfit", Message: err.Error()}, nil
	case errors.Is(err, genieacs.ErrAmbiguous):
		return Outcome{Code: "ambiguous_device", Message: "The CPE server has several devices of this identity."}, nil
	case errors.Is(err, genieacs.ErrUnknownDevice):
		return Outcome{Code: "unknown_device", Message: "The CPE server does not know the device."}, nil
	case errors.As(err, &theirs):
		return Outcome{Code: "refused", Message: "The CPE server refused the task."}, nil // its words may have values
	}
	return Outcome{}, err
}

// find looks for the device of a write by its identity.
func (a ACS) find(ctx context.Context, of events.CpeIdentity) (genieacs.Device, error) {
	return a.Gateway.Find(ctx, of.OUI, of.ProductClass, of.SerialNumber)
}

// Send implements Server.
func (a ACS) Send(ctx context.Context, w Write) (Outcome, error) {
	out, err := a.send(ctx, w)
	return certain(w, out, err)
}

// send is Send, of which an error that leaves no doubt is an error all the same.
func (a ACS) send(ctx context.Context, w Write) (Outcome, error) {
	device, err := a.find(ctx, w.CPE)
	if err != nil {
		return settle(Outcome{}, err)
	}
	plan, err := a.plan(ctx, w, device)
	if err != nil {
		return settle(Outcome{}, err)
	}
	left, expires := time.Duration(0), w.ExpiresAt
	if w.Kind == events.CpeFirmware {
		if err := a.needed(ctx, w, device); err != nil {
			return settle(Outcome{}, err)
		}
		expires = w.BeginBy.Add(taskGrace)
	}
	if !expires.IsZero() {
		if left = expires.Sub(a.Clock.Now()).Truncate(time.Second); left <= 0 {
			return Outcome{Code: "too_late", Message: "The time of the operation was over."}, nil
		}
	}
	out := Outcome{Call: "queued", Written: plan.writtenNames(w)}
	for n, task := range plan.tasks {
		task.UniqueKey, task.Expiry = taskKey(w, n), left
		sent, err := a.Gateway.Enqueue(ctx, device.ID, task)
		if err != nil {
			return settle(Outcome{}, err)
		}
		out.Tasks = append(out.Tasks, events.CpeTask{ID: string(sent.ID), Name: string(task.Kind)})
	}
	out.Call = a.call(ctx, w, device.ID)
	return out, nil
}

// taskKey lets a task be found whose answer was lost, and be replaced when it is sent again.
func taskKey(w Write, n int) string { return w.Key + "-" + strconv.Itoa(n) }

// call asks the device to come, when somebody waits for it. The tasks are there however this goes.
func (a ACS) call(ctx context.Context, w Write, device genieacs.DeviceID) string {
	if !w.CallNow {
		return "queued"
	}
	reached, _, err := a.Gateway.RequestConnection(ctx, device)
	switch {
	case reached:
		return "ok"
	case errors.Is(err, genieacs.ErrUnfit): // it has told no address yet, and comes by itself
		return "queued"
	}
	return "failed"
}

// Find implements Server. The last task of a write is the last that is sent: without it the write is not there.
func (a ACS) Find(ctx context.Context, w Write) (bool, Outcome, error) {
	device, err := a.find(ctx, w.CPE)
	if err != nil {
		out, err := settle(Outcome{}, err)
		return out.Code != "", out, err
	}
	plan, err := a.plan(ctx, w, device)
	if err != nil {
		out, err := settle(Outcome{}, err)
		return out.Code != "", out, err
	}
	waiting, err := a.Gateway.Tasks(ctx, device.ID)
	if err != nil {
		return false, Outcome{}, err
	}
	out, last := Outcome{Call: "queued", Written: plan.writtenNames(w)}, false
	for _, t := range waiting {
		for n := range plan.tasks {
			if t.UniqueKey == taskKey(w, n) {
				out.Tasks = append(out.Tasks, events.CpeTask{ID: string(t.ID), Name: string(t.Kind)})
				last = last || n == len(plan.tasks)-1
			}
		}
	}
	if !last {
		return false, Outcome{}, nil
	}
	out.Call = a.call(ctx, w, device.ID)
	return true, out, nil
}

// Outcome implements Server. A fault takes the tasks away before it is told: the server would try again by itself, and
// do later what has failed.
func (a ACS) Outcome(ctx context.Context, w Write) (Outcome, error) {
	device, err := a.find(ctx, w.CPE)
	if err != nil {
		return settle(Outcome{}, err)
	}
	if w.Kind == events.CpeFirmware {
		return a.firmwareOutcome(ctx, w, device)
	}
	if fault, err := a.faultOf(ctx, w, device, nil); err != nil || fault.Code != "" {
		return fault, err
	}
	waiting, err := a.Gateway.Tasks(ctx, device.ID)
	if err != nil {
		return Outcome{}, err
	}
	for _, t := range waiting {
		if slices.ContainsFunc(w.Tasks, func(of events.CpeTask) bool { return of.ID == string(t.ID) }) {
			return Outcome{}, nil
		}
	}
	return settle(a.readBack(ctx, w, device))
}

// faultText has the device's words, and the parameters that it refused.
func faultText(f genieacs.Fault) string {
	text := f.Message
	for _, p := range f.Parameters {
		text += " " + p.Name + ": " + p.Message
	}
	return text
}

// Withdraw implements Server. A device that the server does not know has no tasks.
func (a ACS) Withdraw(ctx context.Context, w Write) (bool, error) {
	device, err := a.find(ctx, w.CPE)
	if errors.Is(err, genieacs.ErrUnknownDevice) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	waiting, err := a.Gateway.Tasks(ctx, device.ID)
	if err != nil {
		return false, err
	}
	return a.withdraw(ctx, device.ID, tasksOf(w, waiting))
}

// withdraw takes tasks away, and reports whether all were there. One that is gone may have left a fault, with which the
// server would do its work again by itself: that goes, too. Source: docs/facts/genieacs.md#queue.
func (a ACS) withdraw(ctx context.Context, device genieacs.DeviceID, tasks []genieacs.TaskID) (bool, error) {
	there := len(tasks) > 0
	for _, task := range tasks {
		err := a.Gateway.DeleteTask(ctx, task)
		if errors.Is(err, genieacs.ErrUnknownTask) {
			there, err = false, a.Gateway.ClearFault(ctx, string(device)+":task_"+string(task))
		}
		if err != nil {
			return false, err
		}
	}
	return there, nil
}

// tasksOf are the tasks of a write at the server: one whose answer was lost is known by its key alone.
func tasksOf(w Write, waiting []genieacs.Waiting) []genieacs.TaskID {
	var tasks []genieacs.TaskID
	for _, t := range w.Tasks {
		tasks = append(tasks, genieacs.TaskID(t.ID))
	}
	for _, t := range waiting {
		if strings.HasPrefix(t.UniqueKey, w.Key+"-") && !slices.Contains(tasks, t.ID) {
			tasks = append(tasks, t.ID)
		}
	}
	return tasks
}
