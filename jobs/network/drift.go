package networkjobs

import (
	"context"
	"slices"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// maxDrifted bounds the differences that a drift report lists, because an event has a largest size. The hash covers all
// differences.
const maxDrifted = 100

// CheckDrift compares a router with all its services, and with its setup, and writes nothing to it. The number of reads
// of an unchanged router does not depend on its services, and an unchanged difference is reported once. A new
// difference is read again under the router's lock: a run in progress is not drift.
func (w *Workers) CheckDrift(ctx context.Context, args commands.CheckDrift, cause jobs.Cause) error {
	found, err := w.newDrift(ctx, args.DeviceID)
	if err != nil || len(found) == 0 {
		return err
	}
	return w.exclusively(ctx, args.DeviceID, func(ctx context.Context) error {
		found, err := w.newDrift(ctx, args.DeviceID)
		if err != nil {
			return err
		}
		for _, report := range found {
			use := report.Target().ID.String()
			if _, err := w.report(ctx, cause, use, report); err != nil && !gone(err) {
				return err
			}
		}
		return nil
	})
}

// newDrift reads a router and gives the reports of its services, and of its setup, whose difference is not the recorded
// one. For a router that is not reached it gives none: the breaker and the fleet poll show that.
func (w *Workers) newDrift(ctx context.Context, device id.Device) ([]commands.Command, error) {
	row, err := w.devices.Any(ctx, device)
	if err != nil || row == nil {
		return nil, err
	}
	r, err := w.openRow(ctx, *row)
	if err != nil {
		return nil, nil //nolint:nilerr // the fleet poll shows it
	}
	found, err := w.serviceDrift(ctx, r)
	if err == nil {
		var setup *commands.ReportSetupDrift
		if setup, err = w.setupDrift(ctx, r); setup != nil {
			found = append(found, *setup)
		}
	}
	if err != nil {
		w.cfg.Logger.InfoContext(ctx, "drift was not checked", "device_id", row.ID, "error", err)
		return nil, nil
	}
	return found, nil
}

// serviceDrift gives the reports of those services of a router whose difference is not the recorded one.
func (w *Workers) serviceDrift(ctx context.Context, r router) ([]commands.Command, error) {
	rows, err := w.services.OfDevice(ctx, r.row.ID)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	diff, err := w.drift(ctx, r, rows, nil) // orphans are no drift of a service
	if err != nil {
		return nil, err
	}
	var found []commands.Command
	for _, s := range rows {
		part := diff.Of(s.ID)
		if !watched(s) || s.Drift == nil && part.InSync() || s.Drift != nil && s.Drift.Hash == part.Hash() {
			continue
		}
		told := part.Resources()
		found = append(found, commands.ReportDrift{
			ServiceID: s.ID, Generation: s.Generation, Hash: part.Hash(), Resources: told[:min(len(told), maxDrifted)],
		})
	}
	return found, nil
}

// watched reports whether a service is checked for drift: it was applied, and no change of it is open.
func watched(s networkviews.ServiceRow) bool {
	return s.Open == "" && slices.Contains([]string{networkviews.StateActive, networkviews.StateDegraded}, s.State)
}

// drift reads a router and compares it with its services, orphans included.
func (w *Workers) drift(
	ctx context.Context, r router, rows []networkviews.ServiceRow, former []id.Service,
) (routerplan.Diff, error) {
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
		services = append(services, w.wanted(row))
	}
	return routerplan.CompareDevice(snapshot, services, version, former...), nil
}
