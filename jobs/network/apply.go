package networkjobs

import (
	"context"
	"errors"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// ApplyService brings a router in line with one service: it reads, checks the interface, compares, writes and reads
// back. It may be repeated after a crash at any step, and writes only what differs. When another job has done the work
// meanwhile, the router is not called.
func (w *Workers) ApplyService(ctx context.Context, args commands.ApplyService, cause jobs.Cause) error {
	if err := w.shown(ctx, args.Position); err != nil {
		return err
	}
	return w.exclusively(ctx, args.DeviceID, func(ctx context.Context) error {
		row, err := w.services.Any(ctx, args.ServiceID)
		if err != nil {
			return err
		}
		if row == nil || row.RemovedAt != nil || leaving(*row) { // RemoveService works on a service that is leaving
			return w.idle(ctx, args.RunID, cause, false)
		}
		work := serviceWork{w: w, row: *row, run: args.RunID, phase: events.PhaseApply, cause: cause}
		do := work.apply
		if work.due = args.LeasesOver && row.Open == ""; work.due {
			do = work.retire
		}
		if row.Open == "" && !args.LeasesOver {
			announced, err := w.announced(ctx, args.RunID)
			if err != nil {
				return err
			}
			if !announced {
				return w.idle(ctx, args.RunID, cause, true)
			}
		}
		return work.do(ctx, commands.StartReconcile{
			RunID: args.RunID, ServiceID: row.ID, Kind: events.ReconcileApply,
		}, do)
	})
}

// announced reports whether a run has announced writes of which it is not known whether they were made: only a reading
// of the router accounts for them.
func (w *Workers) announced(ctx context.Context, run id.Run) (bool, error) {
	state, _, err := bus.LoadUnchecked[network.Run](ctx, w.cfg.Bus, run)
	return len(state.Planned) > 0, err
}

// RemoveService removes all resources of one service from a router: for ever, or before they are created again
// elsewhere.
func (w *Workers) RemoveService(ctx context.Context, args commands.RemoveService, cause jobs.Cause) error {
	if err := w.shown(ctx, args.Position); err != nil {
		return err
	}
	return w.exclusively(ctx, args.DeviceID, func(ctx context.Context) error {
		row, err := w.services.Any(ctx, args.ServiceID)
		if err != nil {
			return err
		}
		if row == nil || row.RemovedAt != nil || !leaving(*row) {
			return w.idle(ctx, args.RunID, cause, row != nil)
		}
		work := serviceWork{w: w, row: *row, run: args.RunID, phase: row.Open, cause: cause}
		kind := events.ReconcileRemove
		if row.Open == events.PhaseTeardown {
			kind = events.ReconcileRecreate
		}
		return work.do(ctx, commands.StartReconcile{RunID: args.RunID, ServiceID: row.ID, Kind: kind}, work.remove)
	})
}

// shown waits until the read models of services and devices have reached the job's position.
func (w *Workers) shown(ctx context.Context, position uint64) error {
	if err := w.cfg.Views.WaitFor(ctx, networkviews.ServicesName, position); err != nil {
		return err
	}
	return w.cfg.Views.WaitFor(ctx, networkviews.DevicesName, position)
}

// serviceWork does one phase of work on one service: apply, teardown or removal.
type serviceWork struct {
	w     *Workers
	row   networkviews.ServiceRow
	run   id.Run
	phase string
	cause jobs.Cause
	due   bool // only rows of former subnets are looked at: nobody should use them any more

	former *commands.ReportFormerSubnets // what was read of former subnets; nil = nothing to report
}

// do opens the router, does the work as a run and reports the outcome. The report comes before the end of the run, so
// that a run which has ended needs nothing more after a crash.
func (s *serviceWork) do(
	ctx context.Context, start commands.StartReconcile, work func(context.Context, *run) error,
) error {
	r, err := s.w.open(ctx, s.row.DeviceID)
	if err != nil {
		return s.conclude(ctx, nil, stop(ctx, commands.OperationConnect, err))
	}
	u, err := s.w.begin(ctx, r, s.cause, start)
	if err != nil || u.over {
		return err
	}
	return s.conclude(ctx, u, work(ctx, u))
}

// conclude reports the outcome and ends the run; u is nil when the router was not opened.
func (s *serviceWork) conclude(ctx context.Context, u *run, err error) error {
	var why *stopped
	var report commands.Command
	switch {
	case errors.As(err, &why):
		report = commands.ReportServiceFailure{
			ServiceID: s.row.ID, RunID: s.run, Generation: s.row.Generation, Phase: s.phase, Path: why.path,
			Operation: why.operation, Message: why.message, Refused: why.refused(),
		}
	case err != nil:
		return err
	case s.due:
		report = *s.former
	case s.phase == events.PhaseTeardown:
		report = commands.ReportTornDown{ServiceID: s.row.ID, RunID: s.run, Generation: s.row.Generation}
	case s.phase == events.PhaseRemoval:
		report = commands.ReportRemoved{ServiceID: s.row.ID, RunID: s.run}
	default:
		report = commands.ReportApplied{ServiceID: s.row.ID, RunID: s.run, Generation: s.row.Generation}
	}
	if _, err := s.w.report(ctx, s.cause, s.run.String(), report); err != nil && !gone(err) {
		return err
	}
	if s.former != nil && !s.due && why == nil { // after the report: work that is open is not over before
		if _, err := s.w.report(ctx, s.cause, s.run.String()+" former", *s.former); err != nil && !gone(err) {
			return err
		}
	}
	if u == nil {
		return nil
	}
	return u.finish(ctx, why)
}

// gone reports whether a report came too late: its service or router was removed or has moved on. The job ends then.
func gone(err error) bool {
	return failure.KindOf(err) == failure.NotFound ||
		failure.KindOf(err) == failure.Conflict && failure.CodeOf(err) != "concurrent_change"
}

// apply does the work of ApplyService. The interface is checked before the first write, with the same reading. When the
// router refuses a service that it never had, what was written of it is taken away again.
func (s *serviceWork) apply(ctx context.Context, u *run) error {
	version, err := u.r.version(ctx)
	if err != nil {
		return stop(ctx, commands.OperationRead, err)
	}
	wanted, err := s.w.wanted(ctx, s.row)
	if err != nil {
		return err
	}
	c, err := s.w.allowing(ctx, u.r.row, comparison{
		menus: routerplan.ApplyMenus(), compare: func(now routerplan.Snapshot) routerplan.Diff {
			return routerplan.CompareService(now, wanted, version)
		},
	})
	if err != nil {
		return err
	}
	snapshot, err := u.r.survey(ctx, union(c.menus, routerplan.BindingMenus(s.row.Binding)))
	if err != nil {
		return stop(ctx, commands.OperationRead, err)
	}
	if err := routerplan.CheckBinding(snapshot, s.row.ID, s.row.Binding); err != nil {
		return stop(ctx, commands.OperationRead, err)
	}
	err = u.converge(ctx, snapshot, c)
	if err == nil {
		s.former, err = u.formerOf(ctx, snapshot, s.row, false)
	}
	if err == nil {
		err = u.skipped()
	}
	var why *stopped
	if errors.As(err, &why) && why.refused() && s.row.AppliedAt == nil {
		if left := s.remove(ctx, u); left != nil {
			s.w.cfg.Logger.WarnContext(ctx, "rest of a refused service stays", "service_id", s.row.ID, "error", left)
		}
	}
	return err
}

// remove does the work of RemoveService: it plans the removal of every resource with the service's tag, and then ends
// its sessions.
func (s *serviceWork) remove(ctx context.Context, u *run) error {
	c, err := s.w.allowing(ctx, u.r.row, comparison{
		menus:   union(routerplan.ServiceMenus(), routerplan.SessionMenus()),
		compare: func(now routerplan.Snapshot) routerplan.Diff { return routerplan.CompareRemoval(now, s.row.ID) },
	})
	if err != nil {
		return err
	}
	snapshot, err := u.r.read(ctx, c.menus)
	if err != nil {
		return stop(ctx, commands.OperationRead, err)
	}
	return u.converge(ctx, snapshot, c)
}
