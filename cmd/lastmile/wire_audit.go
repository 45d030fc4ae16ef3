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

// auditArea is the area as the program holds it.
func auditArea() area {
	return area{
		aggregates: registerAudit,
		readModels: []runner.Projection{auditviews.Log{}, outbox.Outbox{}},
		wire:       (*App).wireAudit,
	}
}

// registerAudit adds what remembers refused writes.
func registerAudit(b *bus.Bus) {
	bus.Register(b, audit.Refusals())
}

// wireAudit makes the endpoints of the audit log and of the integration events.
func (a *App) wireAudit(context.Context) ([][]httpapi.Route, error) {
	views := a.engines.views
	return [][]httpapi.Route{
		auditapi.Log{Log: auditviews.LogQuery{Views: views}}.Routes(),
		auditapi.Outbox{Messages: outbox.Query{Views: views}}.Routes(),
	}, nil
}
