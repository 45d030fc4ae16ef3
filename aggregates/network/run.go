package network

import (
	"maps"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Runs defines the runs of writes to a router: one stream for each run.
func Runs() aggregates.Definition[Run, commands.ReconcileCommand, events.ReconcileEvent] {
	return aggregates.Definition[Run, commands.ReconcileCommand, events.ReconcileEvent]{
		Category: commands.ReconcileCategory, Missing: commands.ErrNoRun, Evolve: evolveRun, Decide: decideRun,
		Owner: ownerRun,
		Close: closeRun,
		Commands: []commands.ReconcileCommand{
			commands.RequestReconcile{}, commands.StartReconcile{}, commands.PlanWrites{}, commands.RecordWrite{},
			commands.RecordRefusal{}, commands.FinishReconcile{},
		},
	}
}

// Run is one run of writes to one router. The zero value is "does not exist".
type Run struct {
	ID       id.Run
	Org      id.Organization
	Device   id.Device
	Service  id.Service // who asked for it; each write is recorded under this actor
	Kind     events.ReconcileKind
	By       events.Actor
	Started  bool
	Writes   int                 // number of writes recorded so far
	Planned  []events.RouterStep // announced and not recorded yet
	Finished bool
}

// ownerRun is zero until the run is requested or started.
func ownerRun(s Run) id.Organization { return s.Org }

// evolveRun applies one recorded event.
func evolveRun(s Run, e events.ReconcileEvent) Run {
	switch e := e.(type) {
	case events.ReconcileRequested:
		return Run{ID: e.RunID, Org: e.OrgID, Device: e.DeviceID, Kind: e.Kind}
	case events.ReconcileStarted:
		return Run{
			ID: e.RunID, Org: e.OrgID, Device: e.DeviceID, Service: e.ServiceID, Kind: e.Kind, By: e.By, Started: true,
		}
	case events.ReconcilePlanned:
		s.Planned = e.Steps
	case events.RouterWritten:
		s.Writes = e.Seq
		s.Planned = without(s.Planned, e.Step)
	case events.RouterWriteRefused:
		s.Planned = without(s.Planned, e.Step)
	case events.ReconcileFinished:
		s.Finished, s.Planned = true, nil
	case events.ReconcilePeriodClosed:
		return aggregates.Opened[Run](e.Opening)
	}
	return s
}

// sameStep compares two writes by place, name and values.
func sameStep(a, b events.RouterStep) bool {
	return a.Path == b.Path && a.Operation == b.Operation && a.Name == b.Name && maps.Equal(a.Before, b.Before) &&
		maps.Equal(a.After, b.After)
}

// without removes the first equal write from a copy of the list.
func without(list []events.RouterStep, step events.RouterStep) []events.RouterStep {
	at := slices.IndexFunc(list, func(s events.RouterStep) bool { return sameStep(s, step) })
	if at < 0 {
		return list
	}
	return slices.Concat(list[:at], list[at+1:])
}

// closeRun passes the whole state on.
func closeRun(s Run) events.ReconcileEvent {
	return events.ReconcilePeriodClosed{RunID: s.ID, Opening: aggregates.Opening(s)}
}

// decideRun dispatches. A run over a device is requested first; every run is started before its steps.
func decideRun(s Run, c commands.ReconcileCommand, now time.Time) ([]events.ReconcileEvent, error) {
	switch c := c.(type) {
	case commands.RequestReconcile:
		if !s.ID.IsZero() {
			return nil, failure.NewConflict("run_exists", "This run exists already.")
		}
		return only[events.ReconcileEvent](events.ReconcileRequested{
			RunID: c.RunID, OrgID: c.OrgID, DeviceID: c.DeviceID, Kind: c.Kind, At: now,
		})
	case commands.StartReconcile:
		if s.Started && !s.Finished {
			return nil, nil
		}
		if s.Finished {
			return nil, errRunFinished()
		}
		return only[events.ReconcileEvent](events.ReconcileStarted{
			RunID: c.RunID, OrgID: c.OrgID, DeviceID: c.DeviceID, ServiceID: c.ServiceID, Kind: c.Kind, By: c.By,
			At: now,
		})
	case commands.FinishReconcile:
		switch {
		case s.ID.IsZero():
			return nil, commands.ErrNoRun()
		case s.Finished:
			return nil, nil
		}
		return recordStep(s, c, now)
	case commands.PlanWrites, commands.RecordWrite, commands.RecordRefusal:
		return decideStep(s, c, now)
	}
	return nil, nil
}

// decideStep records a plan or a write of a started run.
func decideStep(s Run, c commands.ReconcileCommand, now time.Time) ([]events.ReconcileEvent, error) {
	switch {
	case !s.Started:
		return nil, commands.ErrNoRun()
	case s.Finished:
		return nil, errRunFinished()
	}
	return recordStep(s, c, now)
}

// recordStep records a plan, a write or the end. A run that was requested and never started can end, too: its job may
// have been lost before.
func recordStep(s Run, c commands.ReconcileCommand, now time.Time) ([]events.ReconcileEvent, error) {
	switch c := c.(type) {
	case commands.RequestReconcile, commands.StartReconcile:
	case commands.PlanWrites:
		if !slices.EqualFunc(c.Steps, s.Planned, sameStep) {
			return only[events.ReconcileEvent](events.ReconcilePlanned{RunID: s.ID, Steps: c.Steps, At: now})
		}
	case commands.RecordWrite:
		return only[events.ReconcileEvent](events.RouterWritten{
			RunID: s.ID, OrgID: s.Org, DeviceID: s.Device, ServiceID: s.serviceOf(c.ServiceID), Seq: s.Writes + 1,
			Step: c.Step, Found: c.Found, By: s.By, At: now,
		})
	case commands.RecordRefusal:
		return only[events.ReconcileEvent](events.RouterWriteRefused{
			RunID: s.ID, OrgID: s.Org, DeviceID: s.Device, ServiceID: s.serviceOf(c.ServiceID), Step: c.Step,
			Message: c.Message, By: s.By, At: now,
		})
	case commands.FinishReconcile:
		return only[events.ReconcileEvent](events.ReconcileFinished{
			RunID: s.ID, OrgID: s.Org, DeviceID: s.Device, ServiceID: s.Service, Kind: s.Kind, Writes: s.Writes,
			Outcome: c.Outcome, Path: c.Path, Operation: c.Operation, Message: c.Message, At: now,
		})
	}
	return nil, nil
}

// serviceOf is the service of a step: the given one, or the run's.
func (s Run) serviceOf(given id.Service) id.Service {
	if given.IsZero() {
		return s.Service
	}
	return given
}

// errRunFinished refuses steps of a run that has ended: it never starts again.
func errRunFinished() error {
	return failure.NewConflict("run_finished", "This run has ended. Start another one.")
}
