package networkjobs

import (
	"context"
	"errors"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// ReconcileDevice brings a router in line with all its services and removes orphans. When the interface of a service
// has become reserved meanwhile nothing is written, and the run ends as refused, with the reason.
func (w *Workers) ReconcileDevice(ctx context.Context, args commands.ReconcileDevice, cause jobs.Cause) error {
	if err := w.shown(ctx, args.Position); err != nil {
		return err
	}
	start := commands.StartReconcile{RunID: args.RunID, Kind: events.ReconcileDevice}
	work := deviceWork{w: w, cause: cause, start: start}
	return w.exclusively(ctx, args.DeviceID, func(ctx context.Context) error {
		row, err := w.devices.Any(ctx, args.DeviceID)
		if err != nil || row == nil {
			return err
		}
		return work.do(ctx, *row, work.services)
	})
}

// ReconcileFirewall brings the platform's firewall rules of a router in line, order included. No other rule is touched.
func (w *Workers) ReconcileFirewall(ctx context.Context, args commands.ReconcileFirewall, cause jobs.Cause) error {
	if err := w.shown(ctx, args.Position); err != nil {
		return err
	}
	start := commands.StartReconcile{RunID: args.RunID, Kind: events.ReconcileFirewall}
	work := deviceWork{w: w, cause: cause, start: start}
	return w.exclusively(ctx, args.DeviceID, func(ctx context.Context) error {
		row, err := w.devices.Any(ctx, args.DeviceID)
		if err != nil || row == nil {
			return err
		}
		return work.do(ctx, *row, work.firewall)
	})
}

// deviceWork is a run over all services, or the firewall, of a router.
type deviceWork struct {
	w     *Workers
	cause jobs.Cause
	start commands.StartReconcile
}

// do begins the run, does the work and ends the run. The run begins before the router is reached, so that a router that
// is away ends it as unreachable.
func (d deviceWork) do(ctx context.Context, row networkviews.DeviceRow, work func(context.Context, *run) error) error {
	u, err := d.w.begin(ctx, router{row: row}, d.cause, d.start)
	if err != nil || u.over {
		return err
	}
	if u.r, err = d.w.openRow(ctx, row); err != nil {
		err = stop(ctx, commands.OperationConnect, err)
	} else {
		err = work(ctx, u)
	}
	var why *stopped
	if err != nil && !errors.As(err, &why) {
		return err
	}
	return u.finish(ctx, why)
}

// services does the work of ReconcileDevice. A service on an interface that has become reserved ends the run before
// anything is written. When a write fails, no service is reported as applied.
func (d deviceWork) services(ctx context.Context, u *run) error {
	rows, err := d.w.services.OfDevice(ctx, u.r.row.ID)
	if err != nil {
		return err
	}
	former, err := d.w.services.Former(ctx, u.r.row.OrgID)
	if err != nil {
		return err
	}
	version, err := u.r.version(ctx)
	if err != nil {
		return stop(ctx, commands.OperationRead, err)
	}
	services, err := d.w.allWanted(ctx, u.r.row.OrgID, rows)
	if err != nil {
		return err
	}
	c, err := d.w.allowing(ctx, u.r.row, comparison{
		menus: routerplan.ApplyMenus(), compare: func(now routerplan.Snapshot) routerplan.Diff {
			return routerplan.CompareDevice(now, services, version, former...)
		},
	})
	if err != nil {
		return err
	}
	snapshot, err := u.r.survey(ctx, union(c.menus, placeMenus(rows)))
	if err != nil {
		return stop(ctx, commands.OperationRead, err)
	}
	if err := checkBindings(snapshot, rows); err != nil {
		return stop(ctx, commands.OperationRead, err)
	}
	if failed := u.converge(ctx, snapshot, c); failed != nil {
		return failed // any service may still differ
	}
	if err := d.reportApplied(ctx, u, rows, snapshot); err != nil {
		return err
	}
	return u.skipped()
}

// reportApplied reports each service that is in line now and was not known to be, and what is left of former subnets.
// Services that are leaving have a job of their own.
func (d deviceWork) reportApplied(
	ctx context.Context, u *run, rows []networkviews.ServiceRow, s routerplan.Snapshot,
) error {
	for _, row := range rows {
		if leaving(row) || u.blocked[row.ID] != nil {
			continue
		}
		var reports []commands.Command
		if row.Open != "" || row.State != networkviews.StateActive {
			reports = append(reports, commands.ReportApplied{
				ServiceID: row.ID, RunID: u.id, Generation: row.Generation,
			})
		}
		former, err := u.formerOf(ctx, s, row, false)
		if err != nil {
			return err
		}
		if former != nil {
			reports = append(reports, *former)
		}
		for _, report := range reports {
			if err := u.command(ctx, report); err != nil && !gone(err) {
				return err
			}
		}
	}
	return nil
}

// firewall does the work of ReconcileFirewall.
func (d deviceWork) firewall(ctx context.Context, u *run) error {
	rules, err := d.w.firewallOf(ctx, u.r.row)
	if err != nil {
		return err
	}
	c := comparison{menus: routerplan.FirewallMenus(rules), compare: func(now routerplan.Snapshot) routerplan.Diff {
		return routerplan.CompareFirewall(now, rules)
	}}
	return u.safely(ctx, c, c)
}
