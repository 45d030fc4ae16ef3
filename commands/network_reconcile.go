package commands

import (
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ReconcileCategory begins the names of the streams of runs of writes to routers.
const ReconcileCategory = "reconcile"

// ReconcileCommand is a command to one run of writes.
//
//sumtype:decl
type ReconcileCommand interface {
	Command
	reconcileCommand()
}

// RequestReconcile asks for a run over a device, its setup or its firewall. A process then starts the job. Fails:
// run_exists.
type RequestReconcile struct {
	RunID    id.Run
	OrgID    id.Organization
	DeviceID id.Device
	Kind     events.ReconcileKind // device, firewall or setup
}

// StartReconcile begins a run. After a crash it is sent again and changes nothing. Fails: run_finished.
type StartReconcile struct {
	RunID     id.Run
	OrgID     id.Organization
	DeviceID  id.Device
	ServiceID id.Service // zero for a whole device
	Kind      events.ReconcileKind
	By        events.Actor // the actor who asked for the run
}

// PlanWrites announces the writes that follow, in place of all announced before. Secret values are masked already.
// Fails: run_not_found, run_finished.
type PlanWrites struct {
	RunID id.Run
	Steps []events.RouterStep
}

// RecordWrite reports a write that the router took. Found means that its answer was lost and the write was seen at the
// next read. Fails: run_not_found, run_finished.
type RecordWrite struct {
	RunID     id.Run
	ServiceID id.Service // zero: the service of the run
	Step      events.RouterStep
	Found     bool
}

// RecordRefusal reports a write that the router refused. Fails: run_not_found, run_finished.
type RecordRefusal struct {
	RunID     id.Run
	ServiceID id.Service // zero: the service of the run
	Step      events.RouterStep
	Message   string // the router's own words
}

// FinishReconcile ends a run. Fails: run_not_found.
type FinishReconcile struct {
	RunID     id.Run
	Outcome   events.ReconcileOutcome
	Path      string
	Operation string
	Message   string
}

func (RequestReconcile) CommandName() string { return "network.RequestReconcile" }
func (StartReconcile) CommandName() string   { return "network.StartReconcile" }
func (PlanWrites) CommandName() string       { return "network.PlanWrites" }
func (RecordWrite) CommandName() string      { return "network.RecordWrite" }
func (RecordRefusal) CommandName() string    { return "network.RecordRefusal" }
func (FinishReconcile) CommandName() string  { return "network.FinishReconcile" }

func (c RequestReconcile) Target() Target { return At(ReconcileCategory, c.RunID) }
func (c StartReconcile) Target() Target   { return At(ReconcileCategory, c.RunID) }
func (c PlanWrites) Target() Target       { return At(ReconcileCategory, c.RunID) }
func (c RecordWrite) Target() Target      { return At(ReconcileCategory, c.RunID) }
func (c RecordRefusal) Target() Target    { return At(ReconcileCategory, c.RunID) }
func (c FinishReconcile) Target() Target  { return At(ReconcileCategory, c.RunID) }

// Validate checks form.
func (c RequestReconcile) Validate() error {
	var f failure.Faults
	f.Check(!c.RunID.IsZero(), "runId", "is required")
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(!c.DeviceID.IsZero(), "deviceId", "is required")
	f.Check(c.Kind == events.ReconcileDevice || c.Kind == events.ReconcileFirewall ||
		c.Kind == events.ReconcileSetup, "kind", "must be device, firewall or setup")
	return f.Err()
}

// Validate checks form.
func (c StartReconcile) Validate() error {
	var f failure.Faults
	f.Check(!c.RunID.IsZero(), "runId", "is required")
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(!c.DeviceID.IsZero(), "deviceId", "is required")
	f.Check(c.Kind != "", "kind", "is required")
	return f.Err()
}

// Validate checks form.
func (c PlanWrites) Validate() error {
	var f failure.Faults
	f.Check(!c.RunID.IsZero(), "runId", "is required")
	for _, s := range c.Steps {
		f.Check(s.Path != "" && s.Operation != "", "steps", "must have a path and an operation")
	}
	return f.Err()
}

// Validate checks form.
func (c RecordWrite) Validate() error {
	var f failure.Faults
	f.Check(!c.RunID.IsZero(), "runId", "is required")
	f.Check(c.Step.Path != "" && c.Step.Operation != "", "step", "must have a path and an operation")
	return f.Err()
}

// Validate checks form.
func (c RecordRefusal) Validate() error {
	return RecordWrite{RunID: c.RunID, Step: c.Step}.Validate()
}

// Validate checks form.
func (c FinishReconcile) Validate() error {
	var f failure.Faults
	f.Check(!c.RunID.IsZero(), "runId", "is required")
	f.Check(c.Outcome != "", "outcome", "is required")
	return f.Err()
}

func (RequestReconcile) reconcileCommand() {}
func (StartReconcile) reconcileCommand()   {}
func (PlanWrites) reconcileCommand()       {}
func (RecordWrite) reconcileCommand()      {}
func (RecordRefusal) reconcileCommand()    {}
func (FinishReconcile) reconcileCommand()  {}

// ErrNoRun is the failure for a run that does not exist or belongs to another organization.
func ErrNoRun() error {
	return failure.NewNotFound("run_not_found", "There is no such run.")
}
