package cpejobs

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
)

// readBack judges a write whose tasks have ended without a fault, by what the server has read since.
func (a ACS) readBack(ctx context.Context, w Write, device genieacs.Device) (Outcome, error) {
	plan, err := a.plan(ctx, w, device)
	switch {
	case err != nil:
		return Outcome{}, err
	case plan.after != nil:
		return Outcome{Done: !plan.after(device).Before(begun(w.Tasks))}, nil
	case plan.test != nil:
		return a.testEnded(ctx, w, device.ID, *plan.test)
	}
	paths := slices.Sorted(maps.Keys(plan.want))
	read, err := a.Gateway.Device(ctx, device.ID, paths...)
	if err != nil {
		return Outcome{}, err
	}
	values := read.Values
	asked := begun(readings(w.Tasks))
	for _, value := range values {
		if asked.IsZero() || value.At.Before(asked) {
			return a.readAgain(ctx, w, device.ID, values)
		}
	}
	for _, path := range paths {
		if got, has := values[path]; !has || !alike(got, plan.want[path]) {
			return Outcome{Code: "not_written", Message: "The device did not take " + path + "."}, nil
		}
	}
	return Outcome{Done: true}, nil
}

// readings are the tasks of a write that read back what its others have done: those behind the last that sets.
func readings(tasks []events.CpeTask) []events.CpeTask {
	for n := len(tasks) - 1; n >= 0; n-- {
		if tasks[n].Name == string(genieacs.SetParameters) {
			return tasks[n+1:]
		}
	}
	return nil
}

// justRead is how long the server does not read a value again that it has read or set. Source:
// docs/facts/genieacs.md#observed.
const justRead = time.Second

// readAgain has the values read that were written. Until then the server has what it was told to write, with the time
// of that session: only what is read in a session after it tells what the device has. The task joins those of the
// write, unless it comes so soon that the values of before could be taken for what it reads: then the next look asks.
func (a ACS) readAgain(
	ctx context.Context, w Write, device genieacs.DeviceID, values map[string]genieacs.Value,
) (Outcome, error) {
	var newest time.Time
	for _, value := range values {
		if value.At.After(newest) {
			newest = value.At
		}
	}
	there := a.Clock.Now().Add(a.Gateway.Ahead()).Truncate(time.Second) // the ids of tasks have whole seconds
	if !newest.IsZero() && there.Before(newest.Add(justRead)) && newest.Sub(there) < justRead {
		return Outcome{}, nil
	}
	sent, err := a.Gateway.Enqueue(ctx, device, genieacs.Task{
		Kind: genieacs.GetParameters, Names: slices.Sorted(maps.Keys(values)), UniqueKey: w.Key + "-read",
		Expiry: max(w.ExpiresAt.Sub(a.Clock.Now()).Truncate(time.Second), readAgainWithin),
	})
	if err != nil {
		return Outcome{}, err
	}
	out, task := Outcome{Call: a.call(ctx, w, device)}, events.CpeTask{
		ID: string(sent.ID), Name: string(genieacs.GetParameters),
	}
	if !begun([]events.CpeTask{task}).Before(newest.Add(justRead)) {
		out.Tasks = append(slices.Clone(w.Tasks[:len(w.Tasks)-len(readings(w.Tasks))]), task)
	}
	return out, nil
}

// alike compares a value with the text that was written: there are several ways to write truth, and an instant.
func alike(got genieacs.Value, want string) bool {
	if truth, is := got.Value.(bool); is {
		wanted, err := strconv.ParseBool(want)
		return err == nil && wanted == truth
	}
	if got.Type == "xsd:dateTime" {
		has, err := time.Parse(time.RFC3339Nano, got.Text())
		wanted, unclear := time.Parse(time.RFC3339Nano, want)
		if err == nil && unclear == nil {
			return has.Equal(wanted)
		}
	}
	return got.Text() == want
}

// begun is when the server got the first task, by its own clock: ids of tasks begin with the seconds.
func begun(tasks []events.CpeTask) time.Time {
	if len(tasks) == 0 || len(tasks[0].ID) < 8 {
		return time.Time{}
	}
	seconds, err := strconv.ParseInt(tasks[0].ID[:8], 16, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}
