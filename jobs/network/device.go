package network

import (
	"context"
	"errors"
	"slices"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// ReconcileDevice brings a router in line with all its services and removes orphans. A service whose port has become
// reserved meanwhile is left as it is, and told.
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

// deviceWork is a run over a whole router.
type deviceWork struct {
	w     *Workers
	cause jobs.Cause
	start commands.StartReconcile
}

// do begins the run, does the work and ends the run. The run begins before the router is reached, so that it ends as a run
// of a router that is not.
func (d deviceWork) do(ctx context.Context, row network.DeviceRow, work func(context.Context, *run) error) error {
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

// services is the work of ReconcileDevice.
func (d deviceWork) services(ctx context.Context, u *run) error {
	rows, err := d.w.services.OfDevice(ctx, u.r.row.ID)
	if err != nil {
		return err
	}
	version, err := u.r.version(ctx)
	if err != nil {
		return stop(ctx, commands.OperationRead, err)
	}
	menus := routerplan.ServiceMenus()
	snapshot, err := u.r.read(ctx, union(menus, routerplan.InterfaceMenus()))
	if err != nil {
		return stop(ctx, commands.OperationRead, err)
	}
	services := make([]routerplan.Service, 0, len(rows))
	for _, row := range rows {
		services = append(services, wanted(row))
		if leaving(row) {
			continue
		}
		if err := routerplan.CheckBinding(snapshot, row.ID, row.Binding); err != nil {
			u.blocked[row.ID] = err
		}
	}
	failed := u.converge(ctx, snapshot, comparison{menus: menus, compare: func(now routerplan.Snapshot) routerplan.Diff {
		return routerplan.CompareDevice(now, services, version)
	}})
	if failed != nil {
		return failed // no service is known to be in line
	}
	if err := d.reportApplied(ctx, u, rows); err != nil {
		return err
	}
	return u.skipped()
}

// reportApplied tells each service that was brought in line that it is. Those whose old resources had to go first have a
// job of their own.
func (d deviceWork) reportApplied(ctx context.Context, u *run, rows []network.ServiceRow) error {
	for _, row := range rows {
		if leaving(row) || u.blocked[row.ID] != nil || row.Open == "" && row.State == network.StateActive {
			continue
		}
		report := commands.ReportApplied{ServiceID: row.ID, RunID: u.id, Generation: row.Generation}
		if err := u.command(ctx, report); err != nil && !gone(err) {
			return err
		}
	}
	return nil
}

// firewall is the work of ReconcileFirewall.
func (d deviceWork) firewall(ctx context.Context, u *run) error {
	menus := routerplan.FirewallMenus()
	snapshot, err := u.r.read(ctx, menus)
	if err != nil {
		return stop(ctx, commands.OperationRead, err)
	}
	rules := d.w.firewallOf(u.r.row)
	return u.converge(ctx, snapshot, comparison{menus: menus, compare: func(now routerplan.Snapshot) routerplan.Diff {
		return routerplan.CompareFirewall(now, rules)
	}})
}

// firewallOf is what the platform's rules on a router depend on.
func (w *Workers) firewallOf(row network.DeviceRow) routerplan.Firewall {
	return routerplan.Firewall{RadiusHost: w.cfg.Script.RadiusHost, CoAPort: row.Details.CoAPort}
}

// maxDrifted bounds the differences that the report of a drift lists: an event has a largest size. The hash is of all.
const maxDrifted = 100

// CheckDrift compares a router with all its services and writes nothing to it. The number of reads is the same however many
// services there are, and an unchanged difference is told once.
func (w *Workers) CheckDrift(ctx context.Context, args commands.CheckDrift, cause jobs.Cause) error {
	row, err := w.devices.Any(ctx, args.DeviceID)
	if err != nil || row == nil {
		return err
	}
	rows, err := w.services.OfDevice(ctx, row.ID)
	if err != nil || len(rows) == 0 {
		return err
	}
	r, err := w.openRow(ctx, *row)
	if err != nil {
		return nil //nolint:nilerr // the fleet poll shows it
	}
	diff, err := r.drift(ctx, rows)
	if err != nil {
		w.cfg.Logger.InfoContext(ctx, "drift was not checked", "device_id", row.ID, "error", err)
		return nil // the breaker and the fleet poll show it; the next check comes
	}
	cause.OrgID = row.OrgID
	for _, s := range rows {
		if !watched(s) {
			continue
		}
		part := diff.Of(s.ID)
		if s.Drift == nil && part.InSync() || s.Drift != nil && s.Drift.Hash == part.Hash() {
			continue
		}
		told := part.Resources()
		report := commands.ReportDrift{ServiceID: s.ID, Generation: s.Generation, Hash: part.Hash(), Resources: told[:min(len(told), maxDrifted)]}
		if _, err := w.report(ctx, cause, s.ID.String(), report); err != nil && !gone(err) {
			return err
		}
	}
	return nil
}

// watched tells that a service is as it was applied, or drifted since.
func watched(s network.ServiceRow) bool {
	return s.Open == "" && slices.Contains([]string{network.StateActive, network.StateDegraded}, s.State)
}

// drift reads a router and compares it with its services.
func (r router) drift(ctx context.Context, rows []network.ServiceRow) (routerplan.Diff, error) {
	version, err := r.version(ctx)
	if err != nil {
		return routerplan.Diff{}, err
	}
	snapshot, err := r.read(ctx, routerplan.ServiceMenus())
	if err != nil {
		return routerplan.Diff{}, err
	}
	services := make([]routerplan.Service, 0, len(rows))
	for _, row := range rows {
		services = append(services, wanted(row))
	}
	return routerplan.CompareDevice(snapshot, services, version), nil
}
