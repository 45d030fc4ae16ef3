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

// Runs is the definition of runs of writes to a router.
func Runs() aggregates.Definition[Run, commands.ReconcileCommand, events.ReconcileEvent] {
	return aggregates.Definition[Run, commands.ReconcileCommand, events.ReconcileEvent]{
		Category: commands.ReconcileCategory, Missing: commands.ErrNoRun, Evolve: evolveRun, Decide: decideRun,
		Owner: ownerRun,
		Close: closeRun,
		Commands: []commands.ReconcileCommand{
			commands.RequestReconcile{}, commands.StartReconcile{}, commands.PlanWrites{}, commands.RecordWrite{},
			commands.FinishReconcile{},
		},
	}
}

// Run is one run of writes to one router. The zero value is "does not exist".
type Run struct {
	ID       id.Run
	Org      id.Organization
	Device   id.Device
	Service  id.Service // zero for a whole device
	Kind     events.ReconcileKind
	By       events.Actor
	Started  bool
	Writes   int
	Planned  []events.RouterStep // announced and not recorded yet
	Finished bool
}

// ownerRun is the organization.
func ownerRun(s Run) id.Organization { return s.Org }

// evolveRun applies one recorded fact.
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
	case events.ReconcileFinished:
		s.Finished, s.Planned = true, nil
	case events.ReconcilePeriodClosed:
		return opened[Run](e.Opening)
	}
	return s
}

// sameStep compares two writes.
func sameStep(a, b events.RouterStep) bool {
	return a.Path == b.Path && a.Operation == b.Operation && a.Name == b.Name && maps.Equal(a.Before, b.Before) &&
		maps.Equal(a.After, b.After)
}

// without is a list less one write.
func without(list []events.RouterStep, step events.RouterStep) []events.RouterStep {
	at := slices.IndexFunc(list, func(s events.RouterStep) bool { return sameStep(s, step) })
	if at < 0 {
		return list
	}
	return slices.Concat(list[:at], list[at+1:])
}

// closeRun makes the last event of a full period.
func closeRun(s Run) events.ReconcileEvent {
	return events.ReconcilePeriodClosed{RunID: s.ID, Opening: opening(s)}
}

// decideRun dispatches: a run is requested (over a device) or started, then does its steps.
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
			return nil, failure.NewConflict("run_finished", "This run has ended.")
		}
		return only[events.ReconcileEvent](events.ReconcileStarted{
			RunID: c.RunID, OrgID: c.OrgID, DeviceID: c.DeviceID, ServiceID: c.ServiceID, Kind: c.Kind, By: c.By,
			At: now,
		})
	case commands.FinishReconcile:
		if s.Finished {
			return nil, nil
		}
		return decideStep(s, c, now)
	case commands.PlanWrites, commands.RecordWrite:
		return decideStep(s, c, now)
	}
	return nil, nil
}

// decideStep notes what a started run does.
func decideStep(s Run, c commands.ReconcileCommand, now time.Time) ([]events.ReconcileEvent, error) {
	switch {
	case !s.Started:
		return nil, commands.ErrNoRun()
	case s.Finished:
		return nil, failure.NewConflict("run_finished", "This run has ended.")
	}
	switch c := c.(type) {
	case commands.RequestReconcile, commands.StartReconcile:
	case commands.PlanWrites:
		if !slices.EqualFunc(c.Steps, s.Planned, sameStep) {
			return only[events.ReconcileEvent](events.ReconcilePlanned{RunID: s.ID, Steps: c.Steps, At: now})
		}
	case commands.RecordWrite:
		service := c.ServiceID
		if service.IsZero() {
			service = s.Service
		}
		return only[events.ReconcileEvent](events.RouterWritten{
			RunID: s.ID, OrgID: s.Org, DeviceID: s.Device, ServiceID: service, Seq: s.Writes + 1, Step: c.Step,
			Found: c.Found, By: s.By, At: now,
		})
	case commands.FinishReconcile:
		return only[events.ReconcileEvent](events.ReconcileFinished{
			RunID: s.ID, OrgID: s.Org, DeviceID: s.Device, ServiceID: s.Service, Kind: s.Kind, Writes: s.Writes,
			Outcome: c.Outcome, Path: c.Path, Operation: c.Operation, Message: c.Message, At: now,
		})
	}
	return nil, nil
}
