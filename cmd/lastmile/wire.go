package main

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/changes"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/web"
)

// area has the parts of one area of the business; each area has a file wire_<area>.go. A nil field means that the area
// has no such part.
type area struct {
	// aggregates registers the area's definitions.
	aggregates func(b *bus.Bus)
	// readModels lists the projections of the area.
	readModels []runner.Projection
	// processes lists the process managers of the area.
	processes []processmanagers.Any
	// wire registers the area's jobs, starts the parts that belong to the area alone, and makes its endpoints. Jobs and
	// processes start afterwards.
	wire func(a *App, ctx context.Context) ([][]httpapi.Route, error)
}

// areas lists all areas of the program, in the order in which their parts are registered.
func areas() []area {
	return []area{
		identityArea(), subscribersArea(), billingArea(), taxArea(), paymentsArea(), billsArea(), networkArea(),
		accessArea(), cpeArea(), messagingArea(), outagesArea(), approvalsArea(), auditArea(), historyArea(),
		webhooksArea(),
		searchArea(), reportsArea(), documentsArea(),
	}
}

// registerAggregates adds the aggregates of all areas.
func registerAggregates(b *bus.Bus) {
	for _, part := range areas() {
		if part.aggregates != nil {
			part.aggregates(b)
		}
	}
}

// readModels lists the projections of all areas.
func readModels() []runner.Projection {
	var all []runner.Projection
	for _, part := range areas() {
		all = append(all, part.readModels...)
	}
	return all
}

// processes lists the process managers of all areas.
func processes() []processmanagers.Any {
	var all []processmanagers.Any
	for _, part := range areas() {
		all = append(all, part.processes...)
	}
	return all
}

// wireAreas registers the jobs of all areas and makes their endpoints, and those of the program itself.
func (a *App) wireAreas(ctx context.Context) ([][]httpapi.Route, error) {
	pages, err := web.New()
	if err != nil {
		return nil, err
	}
	if a.gateways, err = a.openMessageGateways(ctx); err != nil {
		return nil, err
	}
	all := [][]httpapi.Route{
		a.systemRoutes(), changesapi.API{Hub: a.changes}.Routes(), a.devRoutes(), pages.Routes(),
	}
	for _, part := range areas() {
		if part.wire == nil {
			continue
		}
		routes, err := part.wire(a, ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, routes...)
	}
	return all, nil
}
