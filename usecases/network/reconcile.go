package networkcases

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Runs brings whole routers in line and reboots them. All fields are required. Safe for concurrent use.
type Runs struct {
	Bus     *bus.Bus
	Devices networkviews.DevicesQuery
	History networkviews.HistoryQuery
	Routers Routers
}

// RepairSetup is Reconcile for the setup of a router: RADIUS client, accounting, services and firewall. Writes that
// could cut the platform off, or take customers from another RADIUS server, need confirmed. Fails:
// setup_confirmation_required, and as Reconcile does.
func (r Runs) RepairSetup(
	ctx context.Context, asked usecases.Asked, device id.Device, confirmed bool,
) (Reconciled, error) {
	if err := OwnDevice(ctx, r.Bus, asked.Org(), device); err != nil {
		return Reconciled{}, err
	}
	if !confirmed {
		menus, err := r.Routers.SetupRisks(ctx, device)
		switch {
		case err != nil:
			return Reconciled{}, err
		case len(menus) > 0:
			return Reconciled{}, commands.ErrSetupConfirmation(menus)
		}
	}
	return r.Reconcile(ctx, asked, device, events.ReconcileSetup)
}

// Reconciled is a run that was asked for.
type Reconciled struct {
	Run   id.Run
	Ended *networkviews.RunRow // the result; nil when the run goes on
}

// Reconcile asks for a run that brings a router, or its firewall, in line, and waits for its end. A service on an
// interface that has become reserved is refused before anything is written. A crash in between leaves a run that a
// process carries out. A repeat under the same key waits for the same run. Fails: device_not_found, reserved_interface,
// router_refused, device_unreachable, router_changed.
func (r Runs) Reconcile(
	ctx context.Context, asked usecases.Asked, device id.Device, kind events.ReconcileKind,
) (Reconciled, error) {
	out := Reconciled{Run: usecases.NewID[id.Run](asked, "run")}
	if err := OwnDevice(ctx, r.Bus, asked.Org(), device); err != nil {
		return out, err
	}
	if kind == events.ReconcileDevice {
		if err := r.Routers.Placements(ctx, device); err != nil {
			return out, err
		}
	}
	command := commands.RequestReconcile{RunID: out.Run, OrgID: asked.Org(), DeviceID: device, Kind: kind}
	if _, err := r.Bus.Execute(ctx, command, asked.Meta); err != nil {
		return out, err
	}
	var row *networkviews.RunRow
	ended, err := usecases.Await(ctx, r.History.Views, networkviews.HistoryName, actionWait,
		func(ctx context.Context) (bool, error) {
			var err error
			row, err = r.History.Run(ctx, asked.Org(), out.Run)
			return row != nil, err
		})
	if err != nil || !ended {
		return out, err
	}
	out.Ended = row
	return out, errOfRun(*row)
}

// errOfRun is the failure of a run that has ended, nil when all is in line.
func errOfRun(r networkviews.RunRow) error {
	switch events.ReconcileOutcome(r.Outcome) {
	case events.ReconcileRefused:
		return errRefused(r.Message)
	case events.ReconcileUnreachable:
		return errUnreachable(r.Message)
	case events.ReconcileUnstable:
		return failure.NewConflict("router_changed",
			"The router still differs after several rounds, because something else changes it. Please try again later.")
	case events.ReconcileDone:
	}
	return nil
}

// Rebooted is a reboot that was asked for.
type Rebooted struct {
	Run    id.Run
	Device *networkviews.DeviceRow // the router once it accepted the reboot; nil when it has not answered in time
}

// Reboot checks that the router answers, unless it is being rebooted, asks for the reboot, and waits until the router
// accepts it; its return shows in its row later. A crash in between leaves a reboot that a process carries out, once. A
// repeat under the same key waits for the same reboot. Fails: device_not_found, device_unreachable, reboot_in_progress,
// router_refused.
func (r Runs) Reboot(ctx context.Context, asked usecases.Asked, device id.Device) (Rebooted, error) {
	out := Rebooted{Run: usecases.NewID[id.Run](asked, "run")}
	d, _, err := bus.LoadOwned[network.Device](ctx, r.Bus, asked.Org(), device)
	if err != nil {
		return out, err
	}
	if rebooting := !d.Reboot.RunID.IsZero() && !d.Reboot.Over; !rebooting { // which may silence it
		if _, err := r.Routers.Resource(ctx, device); err != nil {
			return out, err
		}
	}
	if _, err := r.Bus.Execute(ctx, commands.RequestReboot{DeviceID: device, RunID: out.Run}, asked.Meta); err != nil {
		return out, err
	}
	var row *networkviews.DeviceRow
	answered, err := usecases.Await(ctx, r.Devices.Views, networkviews.DevicesName, actionWait,
		func(ctx context.Context) (bool, error) {
			var err error
			if row, err = r.Devices.Get(ctx, asked.Org(), device); err != nil || row == nil {
				return row == nil, err
			}
			b := row.Reboot
			return b != nil && b.RunID == out.Run && b.Stage != networkviews.RebootRequested &&
				b.Stage != networkviews.RebootStarted, nil
		})
	switch {
	case err != nil || !answered:
		return out, err
	case row == nil:
		return out, commands.ErrNoDevice()
	case row.Reboot.Stage == networkviews.RebootFailed:
		return out, errRefused(row.Reboot.Message)
	}
	out.Device = row
	return out, nil
}
