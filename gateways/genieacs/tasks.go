package genieacs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// TaskKind names the work of a task by the server's word.
type TaskKind string

// The kinds of tasks that are sent.
const (
	GetParameters TaskKind = "getParameterValues" // Names are read from the device
	SetParameters TaskKind = "setParameterValues" // Values are written to it, in one step of the protocol
	RefreshObject TaskKind = "refreshObject"      // all below Object is read
	AddObject     TaskKind = "addObject"          // a new instance of Object, with Values
	DeleteObject  TaskKind = "deleteObject"       // the instance Object goes
	Reboot        TaskKind = "reboot"
	FactoryReset  TaskKind = "factoryReset"
	Download      TaskKind = "download" // File, a name of the server's files that has a type
)

// Task is work for a device. Values may be secrets, so it shows its kind only.
type Task struct {
	Kind   TaskKind
	Names  []string
	Values []Parameter
	Object string // without a dot at its end
	File   string
	// Expiry ends a task that did not run in time, in whole seconds; 0 = never.
	Expiry time.Duration
	// UniqueKey replaces the task of the same key that waits for this device, and lets a task be found whose answer was
	// lost: letters, digits, - and _. "" = none.
	UniqueKey string
}

// LogValue shows the kind only.
func (t Task) LogValue() slog.Value { return slog.StringValue(string(t.Kind)) }

// String shows the kind only.
func (t Task) String() string { return string(t.Kind) }

// GoString hides the values from %#v, too.
func (t Task) GoString() string { return string(t.Kind) }

// TaskID is 24 hexadecimal digits of the server.
type TaskID string

// taskIDForm matches ids of tasks; the server breaks off at others.
var taskIDForm = regexp.MustCompile(`^[0-9a-f]{24}$`)

// check refuses texts that are no id of a task.
func (t TaskID) check() error {
	if !taskIDForm.MatchString(string(t)) {
		return unfit("task id is not 24 hexadecimal digits")
	}
	return nil
}

// Outcome says how far a task came that was sent.
type Outcome string

// The outcomes. Done means that the device's session ended without a fault of the task, which does not prove that a
// value was taken: read it back (docs/facts/genieacs.md#success-proves-nothing).
const (
	Done   Outcome = "ok"
	Queued Outcome = "queued" // it waits for the device's next session
	Failed Outcome = "failed" // the device refused; the server tries again by itself until the task is deleted
)

// Sent is an answer about a task.
type Sent struct {
	ID      TaskID
	Outcome Outcome
	Reason  string // why it is queued or failed, in the server's words; "" when nothing is known
	Fault   *Fault // with Failed, when the server has it
}

// Waiting is a task that has not ended, without its values.
type Waiting struct {
	ID        TaskID
	Device    DeviceID
	Kind      TaskKind
	UniqueKey string
	At        time.Time
	Expires   time.Time // zero = never
}

// keyForm matches unique keys.
var keyForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

// body checks a task and writes it.
func (t Task) body() ([]byte, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	out := map[string]any{"name": t.Kind}
	if t.Names != nil {
		out["parameterNames"] = t.Names
	}
	if t.Object != "" {
		out["objectName"] = t.Object
	}
	if t.File != "" {
		out["file"] = t.File
	}
	var values []json.RawMessage
	for _, p := range t.Values {
		value, err := p.wire()
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	if values != nil {
		out["parameterValues"] = values
	}
	if t.Expiry > 0 {
		out["expiry"] = int64(t.Expiry / time.Second)
	}
	if t.UniqueKey != "" {
		out["uniqueKey"] = t.UniqueKey
	}
	text, err := json.Marshal(out)
	if err != nil {
		return nil, unfit("task cannot be written")
	}
	return text, nil
}

// uses says which fields a kind of task has.
func (k TaskKind) uses() (names, values, object, file bool, known bool) {
	switch k {
	case GetParameters:
		return true, false, false, false, true
	case SetParameters:
		return false, true, false, false, true
	case RefreshObject, DeleteObject:
		return false, false, true, false, true
	case AddObject:
		return false, true, true, false, true
	case Download:
		return false, false, false, true, true
	case Reboot, FactoryReset:
		return false, false, false, false, true
	}
	return false, false, false, false, false
}

// check refuses a task at which the server would break off, or one that means something else than it says.
func (t Task) check() error {
	names, values, object, file, known := t.Kind.uses()
	switch {
	case !known:
		return unfit("there is no task %q", clean(string(t.Kind)))
	case names != (len(t.Names) > 0):
		return unfit("task %s and its names do not go together", t.Kind)
	case values != (len(t.Values) > 0) && t.Kind != AddObject:
		return unfit("task %s and its values do not go together", t.Kind)
	case object != (t.Object != ""), file != (t.File != ""):
		return unfit("task %s and its object or file do not go together", t.Kind)
	case t.UniqueKey != "" && !keyForm.MatchString(t.UniqueKey):
		return unfit("unique key must be 1 to 100 letters, digits, - and _")
	case t.Expiry < 0 || t.Expiry%time.Second != 0:
		return unfit("expiry must be whole seconds")
	case len(t.Names) > maxParameters || len(t.Values) > maxParameters:
		return unfit("task %s has more than %d parameters", t.Kind, maxParameters)
	case object && checkPath(t.Object) != nil && !(t.Kind == RefreshObject && isRoot(t.Object)):
		return unfit("object of task %s is no path", t.Kind)
	case file && checkFile(t.File) != nil:
		return checkFile(t.File)
	}
	for _, n := range t.Names {
		if err := checkPath(n); err != nil {
			return err
		}
	}
	for _, v := range t.Values {
		if t.Kind == AddObject {
			v.Name = t.Object + "." + v.Name // they are relative to the new instance
		}
		if err := v.check(); err != nil {
			return err
		}
	}
	return nil
}

// maxParameters bounds the parameters of a task.
const maxParameters = 500

// isRoot reports whether a path is a whole tree.
func isRoot(path string) bool { return path == string(TR181) || path == string(TR098) }

// Enqueue gives a task to a device at its next session. Fails: ErrUnknownDevice, ErrUnfit; ErrInDoubt when the task may
// be there (look for its UniqueKey with Tasks).
func (s *Server) Enqueue(ctx context.Context, id DeviceID, t Task) (Sent, error) {
	body, err := t.body()
	if err = firstOf(id.check(), err); err != nil {
		return Sent{}, err
	}
	r, task, err := s.enqueue(ctx, id, t.Kind, "", body)
	if err != nil {
		return Sent{}, err
	}
	if r.status != http.StatusAccepted {
		return Sent{}, fmt.Errorf("%w: %w", ErrInDoubt, r.refused())
	}
	return Sent{ID: task, Outcome: Queued}, nil
}

// Call is Enqueue with a connection request: the device is asked to come at once, and the answer waits for its session,
// up to two and a half minutes. The server breaks off at a connection request to a device that has not told its address
// or never ended a session, so such a task is only queued.
func (s *Server) Call(ctx context.Context, id DeviceID, t Task) (Sent, error) {
	body, err := t.body()
	if err = firstOf(id.check(), err); err != nil {
		return Sent{}, err
	}
	addresses := []string{TreeOf(TR181).ConnectionRequestURL, TreeOf(TR098).ConnectionRequestURL}
	device, err := s.Device(ctx, id, addresses...)
	if err != nil {
		return Sent{}, err
	}
	callable := func(p string) bool { return strings.HasPrefix(device.Values[p].Text(), "http://") }
	if device.LastInform.IsZero() || !slices.ContainsFunc(addresses, callable) {
		sent, err := s.Enqueue(ctx, id, t)
		sent.Reason = "the device has not told an address for connection requests"
		return sent, err
	}
	r, task, err := s.enqueue(ctx, id, t.Kind, "?connection_request", body)
	switch {
	case err != nil:
		return Sent{}, err
	case r.status == http.StatusOK:
		return Sent{ID: task, Outcome: Done}, nil
	case r.status != http.StatusAccepted:
		return Sent{}, fmt.Errorf("%w: %w", ErrInDoubt, r.refused())
	}
	return s.lookUp(ctx, id, task, clean(r.reason))
}

// enqueue posts a task. The answer repeats the task with its values: only the id is taken from it.
func (s *Server) enqueue(ctx context.Context, id DeviceID, kind TaskKind, query string, body []byte) (
	reply, TaskID, error,
) {
	limit := s.timeout
	if query != "" {
		limit = s.taskTime
	}
	r, err := s.send(ctx, call{
		operation: "task_" + string(kind), method: http.MethodPost, device: id, body: body, timeout: limit,
		path: "/devices/" + segment(string(id)) + "/tasks" + query, headers: map[string]string{
			"Content-Type": "application/json",
		},
	})
	switch {
	case err != nil:
		return r, "", err
	case r.status == http.StatusNotFound:
		return r, "", ErrUnknownDevice
	case r.status == http.StatusBadRequest, r.tooLong():
		return r, "", r.refused()
	}
	var answer struct {
		ID TaskID `json:"_id"`
	}
	if json.Unmarshal(r.body, &answer) != nil || answer.ID.check() != nil {
		return r, "", fmt.Errorf("%w: %w", ErrInDoubt, unavailable(errors.New("answer has no task")))
	}
	return r, answer.ID, nil
}

// faulted is the reason phrase of a task that the device refused.
const faulted = "Task faulted"

// lookUp decides about a task that was accepted and is not certainly done. A proxy may have taken the reason away, and
// HTTP's own phrase says nothing. A task that is gone is done.
func (s *Server) lookUp(ctx context.Context, id DeviceID, task TaskID, reason string) (Sent, error) {
	out := Sent{ID: task, Outcome: Queued, Reason: reason}
	if reason != "" && reason != http.StatusText(http.StatusAccepted) && reason != faulted {
		return out, nil
	}
	if reason != faulted {
		out.Reason = ""
	}
	fault, found, err := s.fault(ctx, id, "task_"+string(task))
	if err != nil {
		return out, nil // it was accepted: that the rest is not known keeps it queued
	}
	if found || reason == faulted {
		out.Outcome = Failed
		if found {
			out.Fault = &fault
			out.Reason = fault.Code
		}
		return out, nil
	}
	waits, err := s.Waits(ctx, task)
	if err == nil && !waits {
		out.Outcome = Done
	}
	return out, nil
}

// RequestConnection asks a device to begin a session now. It reports whether the device was reached; otherwise the
// reason says why not. Fails: ErrUnknownDevice, ErrUnfit for a device that has not told its address.
func (s *Server) RequestConnection(ctx context.Context, id DeviceID) (reached bool, reason string, err error) {
	addresses := []string{TreeOf(TR181).ConnectionRequestURL, TreeOf(TR098).ConnectionRequestURL}
	device, err := s.Device(ctx, id, addresses...)
	if err != nil {
		return false, "", err
	}
	if !slices.ContainsFunc(addresses, func(p string) bool { return device.Values[p].Text() != "" }) {
		return false, "", unfit("the device has not told an address for connection requests")
	}
	r, err := s.send(ctx, call{
		operation: operationConnect, method: http.MethodPost, device: id,
		path: "/devices/" + segment(string(id)) + "/tasks?connection_request",
	})
	switch {
	case err != nil:
		return false, "", err
	case r.status == http.StatusOK:
		return true, "", nil
	case r.status == http.StatusNotFound:
		return false, "", ErrUnknownDevice
	}
	return false, clean(r.reason), nil
}

// wireTask is a task in a list, without what it carries.
type wireTask struct {
	ID        TaskID    `json:"_id"`
	Device    DeviceID  `json:"device"`
	Name      TaskKind  `json:"name"`
	UniqueKey string    `json:"uniqueKey"`
	Timestamp time.Time `json:"timestamp"`
	Expiry    time.Time `json:"expiry"`
}

// taskFields are the fields of tasks that are read: not their values, which may be secrets.
var taskFields = []string{"_id", "device", "name", "uniqueKey", "timestamp", "expiry"}

// Tasks gives what waits for a device, oldest first, at most 1,000.
func (s *Server) Tasks(ctx context.Context, id DeviceID) ([]Waiting, error) {
	if err := id.check(); err != nil {
		return nil, err
	}
	return s.tasks(ctx, map[string]any{"device": id})
}

// Waits reports whether a task has not ended yet.
func (s *Server) Waits(ctx context.Context, task TaskID) (bool, error) {
	if err := task.check(); err != nil {
		return false, err
	}
	found, err := s.tasks(ctx, map[string]any{"_id": task})
	return len(found) > 0, err
}

// tasks gives at most 1,000, oldest first.
func (s *Server) tasks(ctx context.Context, query map[string]any) ([]Waiting, error) {
	out := []Waiting{}
	_, err := list(ctx, s, "list_tasks", selection{
		collection: "tasks", query: query, fields: taskFields, limit: maxPage,
	}, func(t wireTask) error {
		out = append(out, Waiting{
			ID: t.ID, Device: t.Device, Kind: t.Name, UniqueKey: clean(t.UniqueKey), At: t.Timestamp.UTC(),
			Expires: t.Expiry.UTC(),
		})
		return nil
	})
	return out, err
}

// RetryTask lets a task that failed run at the next session, by forgetting its fault. Fails: ErrUnknownTask,
// ErrInSession.
func (s *Server) RetryTask(ctx context.Context, task TaskID) error {
	waits, err := s.Waits(ctx, task) // the server breaks off at one that it does not have
	switch {
	case err != nil:
		return err
	case !waits:
		return ErrUnknownTask
	}
	return s.endTask(s.settled(ctx, call{
		operation: "retry_task", method: http.MethodPost, path: "/tasks/" + string(task) + "/retry",
	}))
}

// DeleteTask takes a task, and its fault, away. Fails: ErrUnknownTask, ErrInSession.
func (s *Server) DeleteTask(ctx context.Context, task TaskID) error {
	if err := task.check(); err != nil {
		return err
	}
	return s.endTask(s.settled(ctx, call{
		operation: "delete_task", method: http.MethodDelete, path: "/tasks/" + string(task),
	}))
}

// endTask reads the answer about one task.
func (s *Server) endTask(r reply, err error) error {
	if err == nil && r.status == http.StatusNotFound {
		return ErrUnknownTask
	}
	return s.done(r, err)
}
