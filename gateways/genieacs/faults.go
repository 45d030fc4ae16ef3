package genieacs

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// Fault is an error that the server noted for a device. Its texts come from devices and scripts: they are cut and
// cleaned, and the values of what failed are never read.
type Fault struct {
	ID      string // of the server: device and channel
	Device  DeviceID
	Channel string // of a preset, or task_ and the task's id
	Code    string // such as cwmp.9003
	Message string
	At      time.Time
	Retries int
	// Parameters are those that the device refused, with its reasons.
	Parameters []ParameterFault
}

// ParameterFault is a device's no to one parameter.
type ParameterFault struct{ Name, Code, Message string }

// Task gives the task that failed; false for a fault of a preset.
func (f Fault) Task() (TaskID, bool) {
	text, ok := strings.CutPrefix(f.Channel, "task_")
	return TaskID(text), ok && TaskID(text).check() == nil
}

// wireFault is a fault on the wire, without the provisions that failed: they hold values.
type wireFault struct {
	ID        string    `json:"_id"`
	Device    DeviceID  `json:"device"`
	Channel   string    `json:"channel"`
	Code      string    `json:"code"`
	Message   string    `json:"message"`
	Timestamp time.Time `json:"timestamp"`
	Retries   int       `json:"retries"`
	Detail    struct {
		Parameters []struct {
			Name   string `json:"parameterName"`
			Code   string `json:"faultCode"`
			String string `json:"faultString"`
		} `json:"setParameterValuesFault"`
	} `json:"detail"`
}

// faultFields leaves out the provisions, which hold the values that failed.
var faultFields = []string{
	"_id", "device", "channel", "code", "message", "timestamp", "retries", "detail.setParameterValuesFault",
}

// fault makes the server's words ours.
func (w wireFault) fault() Fault {
	out := Fault{
		ID: w.ID, Device: w.Device, Channel: w.Channel, Code: clean(w.Code), Message: clean(w.Message),
		At: w.Timestamp.UTC(), Retries: w.Retries,
	}
	for _, p := range w.Detail.Parameters {
		out.Parameters = append(out.Parameters, ParameterFault{clean(p.Name), clean(p.Code), clean(p.String)})
	}
	return out
}

// Faults reads one page of all faults, in the order of their ids, and gives the number of all.
func (s *Server) Faults(ctx context.Context, skip, limit int, each func(Fault) error) (int, error) {
	if skip < 0 || limit < 1 || limit > maxPage {
		return 0, unfit("a page has 1 to %d faults", maxPage)
	}
	return list(ctx, s, "list_faults", selection{
		collection: "faults", fields: faultFields, skip: skip, limit: limit,
	}, func(w wireFault) error { return each(w.fault()) })
}

// DeviceFaults gives at most 1,000, in the order of their ids.
func (s *Server) DeviceFaults(ctx context.Context, id DeviceID) ([]Fault, error) {
	if err := id.check(); err != nil {
		return nil, err
	}
	out := []Fault{}
	_, err := list(ctx, s, "list_faults", selection{
		collection: "faults", query: map[string]any{"device": id}, fields: faultFields, limit: maxPage,
	}, func(w wireFault) error {
		out = append(out, w.fault())
		return nil
	})
	return out, err
}

// fault looks for the one of a channel; false when it has none.
func (s *Server) fault(ctx context.Context, id DeviceID, channel string) (Fault, bool, error) {
	var out Fault
	found := false
	_, err := list(ctx, s, "read_fault", selection{
		collection: "faults", query: map[string]any{"_id": string(id) + ":" + channel}, fields: faultFields, limit: 1,
	}, func(w wireFault) error {
		out, found = w.fault(), true
		return nil
	})
	return out, found, err
}

// channelForm matches the channels whose faults are cleared; those of tasks end in an id that the server must know how
// to read.
var channelForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,200}$`)

// ClearFault makes the server forget a fault and try again; a fault that is gone is no error. The task of a fault of a
// task goes with it. Fails: ErrInSession.
func (s *Server) ClearFault(ctx context.Context, id string) error {
	device, channel, ok := strings.Cut(id, ":")
	if err := DeviceID(device).check(); err != nil || !ok || !channelForm.MatchString(channel) {
		return unfit("fault id is not a device and a channel")
	}
	if task, is := strings.CutPrefix(channel, "task_"); is && TaskID(task).check() != nil {
		return unfit("fault id has a broken task")
	}
	return s.done(s.settled(ctx, call{
		operation: "clear_fault", method: http.MethodDelete, device: DeviceID(device),
		path: "/faults/" + segment(device) + ":" + segment(channel),
	}))
}
