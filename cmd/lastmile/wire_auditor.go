package main

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/access"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/jobs/network"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// auditorRoutes registers the jobs of the auditor and makes its endpoints.
func (a *App) auditorRoutes() []httpapi.Route {
	views := a.engines.views
	auditor := &accessjobs.Auditor{
		Enforcer: a.customers.enforcer, Shown: shownRouters{sessionRouters{a}}, Every: a.cfg.AuditInterval,
		Devices: networkviews.DevicesQuery{Views: views}, Open: accessviews.DifferencesQuery{Views: views},
		Passes: accessjobs.NewPasses(a.metrics), Behind: a.accountingBehind, LostAfter: lostAfter,
	}
	auditor.Register()
	return accessapi.Differences{
		Open: auditor.Open.List, Audit: auditor.Now, Looks: a.telemetry.Looks, Devices: auditor.Devices.List,
		Missing: a.telemetry.Missing, Names: auditor.Devices.Names,
		Repair: func(ctx context.Context, difference id.Difference, meta commands.Meta) (string, string, error) {
			done, err := auditor.Repair(ctx, difference, meta)
			return string(done.Outcome), done.Message, err
		},
	}.Routes()
}

// auditBehind is for how long reports may wait on the disk before the sessions of the tables count as old. What began
// a moment ago at a router is left alone by the auditor anyway.
const auditBehind = 5 * time.Second

// accountingBehind reports whether reports of an organization's routers wait for long on the disk of this program or of
// another one, or whether that is not known. What waits of others is taken in turns with its own, so it says nothing.
func (a *App) accountingBehind(ctx context.Context, org id.Organization) bool {
	own := ""
	if a.customers.recorder != nil {
		if a.customers.recorder.Waits()[org] > auditBehind {
			return true
		}
		own = a.customers.spool
	}
	waits, err := a.telemetry.OthersWait(ctx, org, own, auditBehind)
	return err != nil || waits
}

// hears reports whether all that the routers of an organization have told about customers for some time has come, and
// is in the tables. Otherwise the silence of one of them, which went away at an instant, may be this program's.
func (a *App) hears(ctx context.Context, org id.Organization, went time.Time, within time.Duration) (bool, error) {
	own := ""
	if a.customers.keeper != nil {
		own = a.customers.spool
		if a.customers.keeper.HeardFor(org) < within {
			return false, nil
		}
	}
	hear, err := a.telemetry.OthersHear(ctx, own, within)
	if err != nil || !hear || a.accountingBehind(ctx, org) {
		return false, err
	}
	cutOff, err := a.telemetry.CutOff(ctx, org, went, a.clock.Now(), within)
	return !cutOff, err
}

// shownRouters reads routers for the auditor, through the gateway of the network area.
type shownRouters struct{ sessionRouters }

// workers gives the jobs of the network area, once they are there.
func (r shownRouters) workers() (*networkjobs.Workers, error) {
	if w := r.app.routers.Load(); w != nil {
		return w, nil
	}
	return nil, routeros.ErrUnreachable(0, nil)
}

// Observe implements accessjobs.Shown.
func (r shownRouters) Observe(ctx context.Context, device id.Device) (routerplan.Observed, error) {
	w, err := r.workers()
	if err != nil {
		return routerplan.Observed{}, err
	}
	return w.Observe(ctx, device)
}

// PlanLocal implements accessjobs.Shown.
func (r shownRouters) PlanLocal(
	ctx context.Context, device id.Device, l accessjobs.LocalLogin,
) ([]accessjobs.LocalWrite, error) {
	w, err := r.workers()
	if err != nil {
		return nil, err
	}
	list, err := w.PlanLocal(ctx, device, networkjobs.LocalLogin{
		Session: networkjobs.OnlineSession(l.Session), Local: l.Local, Bypass: l.Bypass, MAC: l.MAC,
	})
	out := make([]accessjobs.LocalWrite, len(list))
	for i, step := range list {
		out[i] = accessjobs.LocalWrite(step)
	}
	return out, err
}

// WriteLocal implements accessjobs.Shown.
func (r shownRouters) WriteLocal(ctx context.Context, device id.Device, step accessjobs.LocalWrite) (bool, error) {
	w, err := r.workers()
	if err != nil {
		return false, err
	}
	return w.WriteLocal(ctx, device, networkjobs.LocalWrite(step))
}
