package networkjobs

import (
	"context"
	"errors"
	"slices"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// maxDrifted bounds the differences that a drift report lists, because an event has a largest size. The hash covers all
// differences.
const maxDrifted = 100

// CheckDrift compares a router with all its services, and with its setup, and writes nothing to it. The number of reads
// of an unchanged router does not depend on its services, and an unchanged difference is reported once. A new
// difference is read again under the router's lock, because a run in progress is not drift; only the part that differs
// is. A router that answers and cannot be compared is told, too.
func (w *Workers) CheckDrift(ctx context.Context, args commands.CheckDrift, cause jobs.Cause) error {
	row, err := w.devices.Any(ctx, args.DeviceID)
	if err != nil || row == nil {
		return err
	}
	r, err := w.openRow(ctx, *row)
	if err != nil {
		return nil //nolint:nilerr // the fleet poll shows it
	}
	found, err := w.newDrift(ctx, r, parts{services: true, setup: true})
	if err != nil {
		return w.unchecked(ctx, r, err)
	}
	w.checked(ctx, r)
	if len(found) == 0 {
		return nil
	}
	return w.exclusively(ctx, args.DeviceID, func(ctx context.Context) error {
		row, err := w.devices.Any(ctx, args.DeviceID)
		if err != nil || row == nil {
			return err
		}
		r.row = *row
		found, err := w.newDrift(ctx, r, partsOf(found))
		if err != nil {
			return w.unchecked(ctx, r, err)
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

// parts are the parts of a router that are compared.
type parts struct{ services, setup bool }

// partsOf gives the parts that reports are about.
func partsOf(found []commands.Command) parts {
	var p parts
	for _, report := range found {
		_, is := report.(commands.ReportSetupDrift)
		p.setup, p.services = p.setup || is, p.services || !is
	}
	return p
}

// newDrift reads parts of a router and gives the reports of those services, and of the setup, whose difference is not
// the recorded one.
func (w *Workers) newDrift(ctx context.Context, r router, p parts) (found []commands.Command, err error) {
	if p.services {
		if found, err = w.serviceDrift(ctx, r); err != nil {
			return nil, err
		}
	}
	if p.setup {
		setup, err := w.setupDrift(ctx, r)
		if err != nil {
			return nil, err
		}
		if setup != nil {
			found = append(found, *setup)
		}
	}
	return found, nil
}

// unchecked records that a router answers and could not be compared. One that the breaker keeps away is shown as
// unreachable already. An error of our own is given back.
func (w *Workers) unchecked(ctx context.Context, r router, failed error) error {
	var why *stopped
	message := "The router answers too slowly to be compared."
	switch err := stop(ctx, commands.OperationRead, failed); {
	case errors.As(err, &why):
		message = ended(why.message)
	case !errors.Is(err, context.DeadlineExceeded):
		return err
	}
	w.tellUnchecked(ctx, r.row, message)
	return nil
}

// tellUnchecked records why a router that answers was not compared, unless that is known already.
func (w *Workers) tellUnchecked(ctx context.Context, row networkviews.DeviceRow, why string) {
	if row.DriftUnchecked == nil && w.cfg.Breakers.Ready(routeros.BreakerKind, row.ID.String()) == nil {
		w.note(ctx, row.OrgID, commands.ReportDriftCheck{DeviceID: row.ID, Error: why})
	}
}

// checked records that a router can be compared again.
func (w *Workers) checked(ctx context.Context, r router) {
	if r.row.DriftUnchecked != nil {
		w.note(ctx, r.row.OrgID, commands.ReportDriftCheck{DeviceID: r.row.ID})
	}
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
	services, err := w.allWanted(ctx, r.row.OrgID, rows)
	return routerplan.CompareDevice(snapshot, services, version, former...), err
}
