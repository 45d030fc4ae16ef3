package main

import (
	"github.com/lastmile-isp/lastmile/aggregates/audit"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/audit"
	"github.com/lastmile-isp/lastmile/projections/audit"
	"github.com/lastmile-isp/lastmile/projections/outbox"
)

// registerAudit adds what remembers refused writes.
func registerAudit(b *bus.Bus) {
	bus.Register(b, audit.Refusals())
}

// auditRoutes are the audit log and the integration events.
func (a *App) auditRoutes() []httpapi.Route {
	views := a.engines.views
	return append(auditapi.Log{Log: auditviews.LogQuery{Views: views}}.Routes(),
		auditapi.Outbox{Messages: outbox.Query{Views: views}}.Routes()...)
}
