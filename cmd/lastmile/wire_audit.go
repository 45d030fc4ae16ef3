package main

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/audit"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/audit"
	"github.com/lastmile-isp/lastmile/projections/audit"
	"github.com/lastmile-isp/lastmile/projections/outbox"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// auditArea gives the audit log, the outbox and the record of refused writes.
func auditArea() area {
	return area{
		aggregates: registerAudit,
		readModels: []runner.Projection{auditviews.Log{}, outbox.Outbox{}},
		wire:       (*App).wireAudit,
	}
}

// registerAudit adds the aggregates that record refused writes, and questions who had an address.
func registerAudit(b *bus.Bus) {
	bus.Register(b, audit.Refusals())
	bus.Register(b, audit.Lookups())
}

// wireAudit makes the endpoints of the audit log and of the outbox.
func (a *App) wireAudit(context.Context) ([][]httpapi.Route, error) {
	views := a.engines.views
	return [][]httpapi.Route{
		auditapi.Log{
			Log: auditviews.LogQuery{Views: views}, Zone: a.zoneOf, Names: a.auditNames,
			Organizations: a.auditOrganizations,
		}.Routes(),
		auditapi.Outbox{Messages: outbox.Query{Views: views}}.Routes(),
	}, nil
}
