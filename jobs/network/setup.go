package networkjobs

import (
	"context"
	"errors"
	"slices"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// ReconcileSetup brings the setup of a router in line: RADIUS client, accounting, incoming requests, services and
// firewall. Writes that could cut the platform's own way arm a rollback on the router first, which is disarmed only
// after the router was reached again over a new connection.
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
	compare := comparison{menus: routerplan.SetupMenus(), compare: func(now routerplan.Snapshot) routerplan.Diff {
		return routerplan.CompareSetup(now, want, version)
	}}
	given := want
	given.SecretStale = false // as soon as it is written: the router hides it
	written := comparison{menus: compare.menus, compare: func(now routerplan.Snapshot) routerplan.Diff {
		return routerplan.CompareSetup(now, given, version)
	}}
	if err := u.safely(ctx, compare, written); err != nil {
		return err
	}
	report := commands.ReportSetupApplied{DeviceID: u.r.row.ID, RunID: u.id, RadiusRef: u.r.row.RadiusRef}
	if err := u.command(ctx, report); err != nil && !gone(err) {
		return err
	}
	why := u.skipped()
	if why != nil {
		if err := u.remains(ctx, written); err != nil {
			return err
		}
	}
	return why
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

// safely makes the first round of writes of a comparison under a rollback when they could cut the way to the router,
// and then converges on after. The rollback stays armed when the router is not reached afterwards.
func (u *run) safely(ctx context.Context, first, after comparison) error {
	steps, err := u.guarded(ctx, first)
	if err != nil {
		return err
	}
	risky := len(routerplan.Risky(steps)) > 0
	if len(steps) > 0 {
		if _, err := u.writeAll(ctx, steps); err != nil {
			return u.unsafe(ctx, risky, err)
		}
	}
	u.r.Device = u.w.again(u.r)
	snapshot, err := u.r.permitted(ctx, union(after.menus, []string{routerplan.MenuScheduler}))
	if err != nil {
		return u.unsafe(ctx, risky, stop(ctx, commands.OperationVerify, err))
	}
	if err := u.converge(ctx, snapshot, after); err != nil {
		return u.unsafe(ctx, risky, err)
	}
	return u.disarm(ctx)
}

// guarded gives the writes of a comparison; when they could cut the way to the router, the one that arms the rollback
// comes first. A rollback that an earlier run left is removed before, over a new connection: it would undo later what
// is compared now.
func (u *run) guarded(ctx context.Context, c comparison) ([]routerplan.Step, error) {
	for range maxRounds {
		snapshot, err := u.r.permitted(ctx, union(c.menus, []string{routerplan.MenuScheduler}))
		if err != nil {
			return nil, stop(ctx, commands.OperationRead, err)
		}
		left, steps := routerplan.Disarm(snapshot), c.compare(snapshot).Plan()
		if len(left) == 0 && len(routerplan.Risky(steps)) > 0 {
			steps = append([]routerplan.Step{routerplan.Arm(snapshot, steps)}, steps...)
		}
		if err := u.settle(ctx, slices.Concat(left, steps)); err != nil || len(left) == 0 {
			return steps, err
		}
		u.r.Device = u.w.again(u.r)
		if _, err := u.writeAll(ctx, left); err != nil {
			return nil, err
		}
	}
	return nil, &stopped{outcome: events.ReconcileUnstable, path: routerplan.MenuScheduler,
		operation: commands.OperationVerify, message: "The rollback of an earlier run cannot be removed."}
}

// unsafe ends a run in the middle. The rollback of a router that still answers is removed, because what was written is
// known; one that does not answer keeps it and restores itself.
func (u *run) unsafe(ctx context.Context, risky bool, err error) error {
	var why *stopped
	if !risky || !errors.As(err, &why) {
		return err
	}
	if why.outcome == events.ReconcileUnreachable {
		why.message += " It restores its former setup by itself within three minutes."
		return err
	}
	u.r.Device = u.w.again(u.r)
	if left := u.disarm(ctx); left != nil {
		u.w.cfg.Logger.WarnContext(ctx, "rollback stays armed", "device_id", u.r.row.ID, "error", left)
	}
	return err
}

// disarm removes the rollback from the router.
func (u *run) disarm(ctx context.Context) error {
	snapshot, err := u.r.read(ctx, []string{routerplan.MenuScheduler})
	if err != nil {
		return stop(ctx, commands.OperationVerify, err)
	}
	if steps := routerplan.Disarm(snapshot); len(steps) > 0 {
		_, err = u.writeAll(ctx, steps)
	}
	return err
}

// again gives the device of a router with new connections: kept ones would not show that the way is cut.
func (w *Workers) again(r router) *routeros.Device {
	target := r.Target()
	w.cfg.Gateway.Forget(target.ID)
	return w.cfg.Gateway.Device(target)
}

// permitted reads menus like read, and leaves those out that the API user may not read.
func (r router) permitted(ctx context.Context, menus []string) (routerplan.Snapshot, error) {
	snapshot := routerplan.Snapshot{}
	for _, menu := range menus {
		err := r.refresh(ctx, snapshot, []string{menu})
		if err != nil && !routeros.IsDenied(err) {
			return nil, err
		}
	}
	return snapshot, nil
}

// setupOf gives the desired setup of a router, with its secrets.
func (w *Workers) setupOf(ctx context.Context, row networkviews.DeviceRow) (routerplan.Setup, error) {
	want := routerplan.Setup{
		Firewall: w.firewallOf(row), APIPort: row.Details.APIPort, AllowReboot: w.cfg.Script.AllowReboot,
		Tunnel: routerplan.TunnelLink{
			Concentrator: w.cfg.Script.Concentrator, Port: w.cfg.Script.ConcentratorPort, User: row.TunnelUser,
		},
		SecretStale: !row.RadiusGiven.IsZero() && row.RadiusGiven != row.RadiusRef,
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
	snapshot, err := r.permitted(ctx, routerplan.SetupMenus())
	if err != nil {
		return routerplan.Diff{}, err
	}
	return routerplan.CompareSetup(snapshot, want, version), nil
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
