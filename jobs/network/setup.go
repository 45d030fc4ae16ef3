package networkjobs

import (
	"context"
	"errors"
	"slices"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// ReconcileSetup brings the setup of a router in line: RADIUS client, accounting, incoming requests, services and
// firewall.
func (w *Workers) ReconcileSetup(ctx context.Context, args commands.ReconcileSetup, cause jobs.Cause) error {
	if err := w.shown(ctx, args.Position); err != nil {
		return err
	}
	start := commands.StartReconcile{RunID: args.RunID, Kind: events.ReconcileSetup}
	work := deviceWork{w: w, cause: cause, start: start}
	return w.exclusively(ctx, args.DeviceID, func(ctx context.Context) error {
		row, err := w.devices.Any(ctx, args.DeviceID)
		if err != nil || row == nil {
			return err
		}
		return work.do(ctx, *row, work.setup)
	})
}

// setup does the work of ReconcileSetup.
func (d deviceWork) setup(ctx context.Context, u *run) error {
	want, err := d.w.setupOf(ctx, u.r.row)
	if err != nil {
		return err
	}
	version, err := u.r.version(ctx)
	if err != nil {
		return stop(ctx, commands.OperationRead, err)
	}
	report := commands.ReportSetupApplied{DeviceID: u.r.row.ID, RunID: u.id, RadiusRef: u.r.row.RadiusGiven}
	want.Running = []id.Run{u.id} // those of others are removed before anything is compared
	with := func(want routerplan.Setup) comparison {
		menus := routerplan.SetupMenus(want.Firewall)
		return comparison{menus: menus, compare: func(now routerplan.Snapshot) routerplan.Diff {
			if _, read := now[routerplan.MenuRadius]; read { // else its secret is not written
				report.RadiusRef = u.r.row.RadiusRef
			}
			return routerplan.CompareSetup(now, want, version)
		}}
	}
	given := want
	given.SecretStale = false // as soon as its write was answered: the router hides it
	written := with(given)
	if err := u.safely(ctx, with(want), written); err != nil {
		return err
	}
	if err := u.command(ctx, report); err != nil && !gone(err) {
		return err
	}
	rest := u.rest()
	if rest == nil {
		return nil
	}
	if err := u.remains(ctx, written); err != nil {
		return err
	}
	return rest
}

// rest ends a repair of the setup that has written all it may, with what only the bootstrap script can repair; nil =
// nothing is left. Such a run is done, because the router refused nothing and a repeat would not do more.
func (u *run) rest() error {
	var why *stopped
	if !errors.As(u.skipped(), &why) {
		return nil
	}
	return &stopped{
		outcome: events.ReconcileDone, path: why.path, operation: why.operation, message: why.message,
	}
}

// remains records what differs after a repair because no write could repair it, so that it stays told.
func (u *run) remains(ctx context.Context, c comparison) error {
	snapshot, err := u.r.permitted(ctx, c.menus)
	if err != nil {
		return nil //nolint:nilerr // the next check tells it
	}
	d := c.compare(snapshot)
	told := d.Resources()
	err = u.command(ctx, commands.ReportSetupDrift{
		DeviceID: u.r.row.ID, Hash: d.Hash(), Resources: told[:min(len(told), maxDrifted)],
	})
	if gone(err) {
		return nil
	}
	return err
}

// setupOf gives the desired setup of a router, with its secrets.
func (w *Workers) setupOf(ctx context.Context, row networkviews.DeviceRow) (routerplan.Setup, error) {
	firewall, err := w.firewallOf(ctx, row)
	if err != nil {
		return routerplan.Setup{}, err
	}
	want := routerplan.Setup{
		Firewall: firewall, APIPort: row.Details.APIPort, AllowReboot: w.cfg.Script.AllowReboot,
		Tunnel: routerplan.TunnelLink{
			Concentrator: w.cfg.Script.Concentrator, Port: w.cfg.Script.ConcentratorPort, User: row.TunnelUser,
		},
		TunnelAddress: row.TunnelAddress, SecretStale: row.RadiusGiven != row.RadiusRef,
	}
	user, err := w.credentials(ctx, row.APIRef)
	if err != nil {
		return want, err
	}
	want.APIUser = user.User
	want.RadiusSecret, err = w.secret(ctx, row.RadiusRef)
	return want, err
}

// compareSetup reads a router and gives the difference to its desired setup; nothing is recorded.
func (w *Workers) compareSetup(ctx context.Context, r router) (routerplan.Diff, error) {
	want, err := w.setupOf(ctx, r.row)
	if err != nil {
		return routerplan.Diff{}, err
	}
	version, err := r.version(ctx)
	if err != nil {
		return routerplan.Diff{}, err
	}
	snapshot, err := r.permitted(ctx, routerplan.SetupMenus(want.Firewall))
	if err != nil {
		return routerplan.Diff{}, err
	}
	if want.Running, err = w.running(ctx, r, snapshot); err != nil {
		return routerplan.Diff{}, err
	}
	return routerplan.CompareSetup(snapshot, want, version), nil
}

// running lists those runs in progress on a router, also between two attempts, that have a rollback there.
func (w *Workers) running(ctx context.Context, r router, s routerplan.Snapshot) ([]id.Run, error) {
	var list []id.Run
	for _, run := range routerplan.RollbackRuns(s) {
		state, _, err := bus.LoadUnchecked[network.Run](ctx, w.cfg.Bus, run)
		if err != nil {
			return nil, err
		}
		if state.Device == r.row.ID && !state.Finished {
			list = append(list, run)
		}
	}
	return list, nil
}

// SetupDrift compares the setup of a router with the desired one, at once and without recording anything.
func (w *Workers) SetupDrift(ctx context.Context, device id.Device) (networkviews.LiveDiff, error) {
	return ask(ctx, w, device, func(ctx context.Context, r router) (networkviews.LiveDiff, error) {
		d, err := w.compareSetup(ctx, r)
		return liveDiff(d), err
	})
}

// SetupRisks lists the menus of those writes of a repair of the setup that could cut the platform's own way, or that
// put the platform's RADIUS client before another one.
func (w *Workers) SetupRisks(ctx context.Context, device id.Device) ([]string, error) {
	return ask(ctx, w, device, func(ctx context.Context, r router) ([]string, error) {
		d, err := w.compareSetup(ctx, r)
		var menus []string
		for _, step := range slices.Concat(routerplan.Risky(d.Plan()), routerplan.Takes(d.Plan())) {
			menus = append(menus, step.Path)
		}
		slices.Sort(menus)
		return slices.Compact(menus), err
	})
}

// setupDrift gives the report of a router's setup when its difference is not the recorded one; nil otherwise. A router
// that the script never ran on has no setup to differ.
func (w *Workers) setupDrift(ctx context.Context, r router) (*commands.ReportSetupDrift, error) {
	if r.row.BootstrapVersion == 0 {
		return nil, nil
	}
	d, err := w.compareSetup(ctx, r)
	if err != nil {
		return nil, err
	}
	known := ""
	if r.row.SetupDrift != nil {
		known = r.row.SetupDrift.Hash
	}
	if d.Hash() == known {
		return nil, nil
	}
	told := d.Resources()
	return &commands.ReportSetupDrift{
		DeviceID: r.row.ID, Hash: d.Hash(), Resources: told[:min(len(told), maxDrifted)],
	}, nil
}
