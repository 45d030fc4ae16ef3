package networkjobs

import (
	"context"
	"errors"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// RebootDevice sends the command once. An attempt that finds it begun by an earlier attempt cannot know whether the
// router got it; it does not send again, and the router's uptime decides. A connection that breaks after the command is
// a success.
func (w *Workers) RebootDevice(ctx context.Context, args commands.RebootDevice, cause jobs.Cause) error {
	if err := w.shown(ctx, args.Position); err != nil {
		return err
	}
	return w.exclusively(ctx, args.DeviceID, func(ctx context.Context) error { return w.reboot(ctx, args, cause) })
}

// reboot does the work of RebootDevice under the router's lock.
func (w *Workers) reboot(ctx context.Context, args commands.RebootDevice, cause jobs.Cause) error {
	r, err := w.open(ctx, args.DeviceID)
	if err != nil {
		return w.failReboot(ctx, args, cause, err)
	}
	begun, err := w.report(ctx, cause, args.RunID.String(), commands.BeginReboot{
		DeviceID: args.DeviceID, RunID: args.RunID,
	})
	if err != nil {
		return err
	}
	if begun.Changed {
		if err := r.Reboot(ctx); err != nil {
			return w.failReboot(ctx, args, cause, err)
		}
	}
	_, err = w.report(ctx, cause, args.RunID.String(), commands.AcceptReboot{
		DeviceID: args.DeviceID, RunID: args.RunID,
	})
	return err
}

// failReboot reports why the router was not rebooted: in its own words, or that it was not reached. Our own errors are
// returned, so that the job is tried again.
func (w *Workers) failReboot(ctx context.Context, args commands.RebootDevice, cause jobs.Cause, why error) error {
	if failure.KindOf(why) == failure.Internal {
		return why
	}
	_, err := w.report(ctx, cause, args.RunID.String(), commands.FailReboot{
		DeviceID: args.DeviceID, RunID: args.RunID, Message: messageOf(why),
	})
	return err
}

// VerifyReboot asks for the router's uptime. An uptime longer than the time since the command means that the router has
// not rebooted.
func (w *Workers) VerifyReboot(ctx context.Context, args commands.VerifyReboot, cause jobs.Cause) error {
	row, err := w.devices.Any(ctx, args.DeviceID)
	if err != nil || row == nil || row.Reboot == nil || row.Reboot.RunID != args.RunID {
		return err
	}
	if s := row.Reboot.Stage; s == networkviews.RebootConfirmed || s == networkviews.RebootFailed {
		return nil
	}
	uptime, err := w.uptime(ctx, *row)
	since := w.cfg.Clock.Now().Sub(row.Reboot.At)
	switch {
	case err == nil && uptime <= since+rebootSlack:
		_, err = w.report(ctx, cause, args.RunID.String(), commands.ConfirmReboot{
			DeviceID: row.ID, RunID: args.RunID, UptimeSeconds: int64(uptime.Seconds()),
		})
	case !args.Final:
		return nil // the process asks again
	case err == nil:
		_, err = w.report(ctx, cause, args.RunID.String(), commands.FailReboot{DeviceID: row.ID, RunID: args.RunID,
			Message: "The router answers, but its uptime shows no reboot."})
	default:
		_, err = w.report(ctx, cause, args.RunID.String(), commands.FailReboot{DeviceID: row.ID, RunID: args.RunID,
			Message: "The router did not come back: " + messageOf(err)})
	}
	return err
}

// rebootSlack is the allowed difference between uptime and the time since the command: routers count whole seconds.
const rebootSlack = 2 * time.Second

// errNoUptime answers a system/resource without a readable uptime.
var errNoUptime = errors.New("the router gives no uptime")

// uptime asks a router; its precision is one second.
func (w *Workers) uptime(ctx context.Context, row networkviews.DeviceRow) (time.Duration, error) {
	r, err := w.openRow(ctx, row)
	if err != nil {
		return 0, err
	}
	resource, err := r.resource(ctx)
	if err != nil {
		return 0, err
	}
	uptime, ok := routerplan.ParseDuration(resource["uptime"])
	if !ok {
		return 0, errNoUptime
	}
	return uptime, nil
}
