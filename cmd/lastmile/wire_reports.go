package main

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/reports"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/reports"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases/reports"
)

// reportsArea tells how an organization and the platform do. It reads what the other areas have, so it is wired last.
func reportsArea() area {
	return area{readModels: []runner.Projection{reportsviews.Changes{}}, wire: (*App).wireReports}
}

// wireReports makes the endpoints.
func (a *App) wireReports(context.Context) ([][]httpapi.Route, error) {
	e := a.engines
	return [][]httpapi.Route{
		reportsapi.Today{Cases: a.today()}.Routes(),
		reportsapi.Changes{
			Changes: reportsviews.ChangesQuery{Views: e.views}, Devices: networkviews.DevicesQuery{Views: e.views},
			Zone: a.zoneOf,
		}.Routes(),
		reportsapi.Platform{
			Organizations: identityviews.OrganizationsQuery{Views: e.views},
			Receipts:      paymentsviews.ReceiptsQuery{Views: e.views}, Breakers: a.breakerStates,
			Projections: e.projections.Status, Processes: shownProcesses{e.processes}, Clock: a.clock,
			Parts: a.parts,
		}.Routes(),
	}, nil
}

// today makes what answers how an organization does. Whoever asks by it at the same time shares one reading.
func (a *App) today() reportscases.Today {
	e := a.engines
	return reportscases.Today{
		Settings: e.settings, Views: e.views, Sessions: a.telemetry, Polls: a.polls, ProviderAway: a.providerAway,
		Saves: a.saves, Hit: a.outageCases().Count,
		Shared: &a.reports, SharedGone: &a.gone, Unreachable: &a.unreachable, Clock: a.clock,
	}
}

// offBehind lists the customers who are off because a router does not answer.
func (a *App) offBehind(ctx context.Context, org id.Organization, device id.Device) ([]id.Subscriber, error) {
	return a.today().OffBehind(ctx, org, device)
}

// away gives the routers that do not answer, and since when.
func (a *App) away(ctx context.Context, org id.Organization) (map[id.Device]time.Time, error) {
	return a.today().Away(ctx, org)
}

// outagesAmong gives the routers that do not answer, behind which some customers are off.
func (a *App) outagesAmong(
	ctx context.Context, org id.Organization, subscribers []id.Subscriber,
) (map[id.Subscriber]reportscases.RouterAway, error) {
	return a.today().OutagesAmong(ctx, org, subscribers)
}

// unheard counts the customers with an open session who are off because a router does not answer.
func (a *App) unheard(ctx context.Context, org id.Organization) (int, error) {
	return a.today().OnlineUnheard(ctx, org)
}
