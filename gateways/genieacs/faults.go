package genieacs

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
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
	At      time.Time     // by the server's clock, when the session began
	Ahead   time.Duration // of the server's clock before ours, as far as it is certain; negative = it is behind
	Retries int
	// Parameters are those that the device refused, with its reasons.
	Parameters []ParameterFault
}

// LoopCode is the code of a fault that the server notes for all channels of a session whose presets never come to rest.
const LoopCode = "preset_loop"

// ParameterFault is a device's no to one parameter, in the standard's words. Value is the one that our own provision
// writes to it; "" where it is not known, and for secrets.
type ParameterFault struct{ Name, Code, Message, Value string }

// ownValues are the values that our provisions write to each device, by the ends of names.
var ownValues = map[string]string{".PeriodicInformEnable": "true", ".PeriodicInformInterval": "300"}

// ownValue is the value that a provision of ours writes to a parameter. Values of people are not told.
func ownValue(channel, name string) string {
	if !strings.HasPrefix(channel, OwnChannel) || IsSecret(name) {
		return ""
	}
	return ownValues[name[max(strings.LastIndexByte(name, '.'), 0):]]
}

// Task gives the task that failed; false for a fault of a preset.
func (f Fault) Task() (TaskID, bool) {
	text, ok := strings.CutPrefix(f.Channel, "task_")
	return TaskID(text), ok && TaskID(text).check() == nil
}

// Happened is the instant of the fault by our clock.
func (f Fault) Happened() time.Time { return f.At.Add(-f.Ahead) }

// faultFields leaves out the provisions, which hold the values that failed.
var faultFields = []string{
	"_id", "device", "channel", "code", "message", "timestamp", "retries", "detail.setParameterValuesFault",
}

// fault makes the server's words ours; false when they are no fault of a device. A script decides about fields of its
// fault: one of another form is as if it were missing. A device may repeat a value that it refused, which can be a
// password or a person's name. So its own words about parameters and values are replaced by the standard's; those of
// a script, which can say whatever the server knows of the device, always are.
func (d document) fault() (Fault, bool) {
	var out Fault
	var detail struct {
		Parameters []struct {
			Name   string `json:"parameterName"`
			Code   string `json:"faultCode"`
			String string `json:"faultString"`
		} `json:"setParameterValuesFault"`
	}
	for name, into := range map[string]any{
		"_id": &out.ID, "device": &out.Device, "channel": &out.Channel, "code": &out.Code, "message": &out.Message,
		"timestamp": &out.At, "retries": &out.Retries, "detail": &detail,
	} {
		d.field(name, into)
	}
	if out.ID == "" || out.Device.check() != nil {
		return Fault{ID: out.ID}, false
	}
	out.Channel, out.Code, out.Message = clean(out.Channel), clean(out.Code), clean(out.Message)
	out.At = out.At.UTC()
	if name, ofScript := strings.CutPrefix(out.Code, "script"); ofScript {
		code, words := scriptWords(name)
		if timeoutForm.MatchString(out.Message) {
			code, words = timeoutCode, timeoutWords
		}
		if !slices.Contains(boundWords, out.Message) {
			out.Message = words
		}
		out.Code = code
		return out, true
	}
	number, ofDevice := strings.CutPrefix(out.Code, "cwmp.")
	for _, p := range detail.Parameters {
		code := clean(p.Code)
		name := clean(p.Name)
		out.Parameters = append(out.Parameters, ParameterFault{
			Name: name, Code: code, Message: standardWords(code), Value: ownValue(out.Channel, name),
		})
	}
	if len(out.Parameters) > 0 || ofDevice && aboutValues[number] {
		out.Message = standardWords(number)
	}
	return out, true
}

// scriptErrors are the names of the language's own errors.
var scriptErrors = []string{
	".Error", ".EvalError", ".RangeError", ".ReferenceError", ".SyntaxError", ".TypeError", ".URIError",
}

// scriptWords are code and message of a script's fault. A name that is not the language's is the script's own.
func scriptWords(name string) (code, message string) {
	if slices.Contains(scriptErrors, name) {
		return "script" + name, "The script failed: " + name[1:]
	}
	return "script", "The script failed"
}

// timeoutForm matches what the server says of a script that took longer than its time.
var timeoutForm = regexp.MustCompile(`^Script execution timed out(?: after [0-9]+ ?ms)?\.?$`)

// Code and words of the fault of a script that took longer than its time. Source: docs/facts/genieacs.md#provisions.
const (
	timeoutCode  = "script.timeout"
	timeoutWords = "The script took longer than the 50 ms that the CPE server gives it. The server tries it again. " +
		"When many scripts take too long, the machine of the CPE server is too busy"
)

// boundWords are the messages of the platform's bounds of scripts: they have no value of a device, whoever throws them.
var boundWords = []string{
	"more than 100000 steps", "a text of more than 1024 characters", "a number of instances that is none from 0 to 16",
	"a tag with other signs than letters, digits, - and _", "a tag with 0x before two digits or capitals",
	"a tag of more than 200 characters",
	"more than 100 tags of the organization on the device: take old ones away first, or " +
		"set the same ones at each call",
	"more than 10 new tags in one run: set the others in another script, or at a later call",
}

// aboutValues are the codes of devices whose words may repeat the value that they are about.
var aboutValues = map[string]bool{"9003": true, "9006": true, "9007": true}

// deviceWords are the texts of devices' codes. Source: docs/facts/genieacs.md#faults.
var deviceWords = map[string]string{
	"9000": "Method not supported", "9001": "Request denied", "9002": "Internal error", "9003": "Invalid arguments",
	"9004": "Resources exceeded", "9005": "Invalid parameter name", "9006": "Invalid parameter type",
	"9007": "Invalid parameter value", "9008": "The parameter cannot be written",
}

// standardWords are those of the standard for a code of a device.
func standardWords(code string) string {
	if text, known := deviceWords[code]; known {
		return text
	}
	return "The device refused"
}

// faultPage is how many faults are read at once.
const faultPage = 200

// EachFault reads all faults, in the order of their ids. One of no device, and one that cannot be read, are left out
// and logged.
func (s *Server) EachFault(ctx context.Context, each func(Fault) error) error {
	w := walk{Server: s, operation: "list_faults", sel: selection{
		collection: "faults", fields: faultFields, limit: faultPage,
	}}
	return w.all(ctx, "", func(d document) (bool, error) {
		f, ok := d.fault()
		if !ok {
			return false, nil
		}
		f.Ahead = s.Ahead()
		return true, each(f)
	})
}

// DeviceFaults gives at most 1,000, in the order of their ids.
func (s *Server) DeviceFaults(ctx context.Context, id DeviceID) ([]Fault, error) {
	if err := id.check(); err != nil {
		return nil, err
	}
	out := []Fault{}
	_, err := list(ctx, s, "list_faults", selection{
		collection: "faults", query: map[string]any{"device": id}, fields: faultFields, limit: maxPage,
	}, func(d document) error {
		if f, ok := d.fault(); ok {
			f.Ahead = s.Ahead()
			out = append(out, f)
		}
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
	}, func(d document) error {
		out, found = d.fault()
		out.Ahead = s.Ahead()
		return nil
	})
	return out, found, err
}

// maxChannel bounds the name of a channel, in bytes. It may be any text; that of a task ends in an id that the server
// must know how to read.
const maxChannel = 200

// ClearFault makes the server forget a fault and try again; a fault that is gone is no error. The task of a fault of a
// task goes with it. What the server forgets it tries again only in a session that its preset fits: so a device that
// was asking who it is, and failed, is tagged first, and asks at its next call. Fails: ErrInSession.
func (s *Server) ClearFault(ctx context.Context, id string) error {
	c, channel, err := clearing(id)
	if err == nil {
		err = s.asksAgain(ctx, c.device, channel)
	}
	if err != nil {
		return err
	}
	return s.done(s.settled(ctx, c))
}

// ClearSeen is ClearFault for a fault as it was read: one that the server has noted since stays, because nobody has
// seen it. It is looked at anew after each session in which the device was met. Fails: ErrInSession.
func (s *Server) ClearSeen(ctx context.Context, seen Fault) error {
	c, channel, err := clearing(seen.ID)
	if err != nil {
		return err
	}
	for try := 0; ; try++ {
		now, found, err := s.fault(ctx, c.device, channel)
		if err != nil || !found || !now.At.Equal(seen.At) || now.Retries != seen.Retries || now.Code != seen.Code {
			return err
		}
		if err := s.asksAgain(ctx, c.device, channel); err != nil {
			return err
		}
		r, err := s.send(ctx, c)
		switch {
		case err != nil || r.status != http.StatusServiceUnavailable:
			return s.done(r, err)
		case try == 3 || !pause(ctx, s.patience<<try):
			return ErrInSession
		}
	}
}

// asksAgain tags a device that was asking who it is, when its fault is about to be forgotten.
func (s *Server) asksAgain(ctx context.Context, device DeviceID, channel string) error {
	if !Asks(channel) && channel != lookName { // what it looks at, it looks at when it asks
		return nil
	}
	if err := s.AddTag(ctx, device, Unidentified); err != nil && !errors.Is(err, ErrUnknownDevice) {
		return err
	}
	return nil
}

// clearing is the call that makes the server forget a fault, and the fault's channel.
func clearing(id string) (c call, channel string, err error) {
	device, channel, ok := strings.Cut(id, ":")
	if err := DeviceID(device).check(); err != nil || !ok || channel == "" ||
		len(channel) > maxChannel || channel != clean(channel) {
		return call{}, "", unfit("fault id is not a device and a channel")
	}
	if task, is := strings.CutPrefix(channel, "task_"); is && TaskID(task).check() != nil {
		return call{}, "", unfit("fault id has a broken task")
	}
	return call{
		operation: "clear_fault", method: http.MethodDelete, device: DeviceID(device),
		path: "/faults/" + segment(device) + ":" + segment(channel),
	}, channel, nil
}
