package main

import (
	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/billing"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// registerBilling adds accounts and number series.
func registerBilling(b *bus.Bus) {
	bus.Register(b, billing.Accounts())
	bus.Register(b, billing.NumberSeries())
}

// billingRoutes are invoices, statements and reports about money.
func (a *App) billingRoutes() [][]httpapi.Route {
	e := a.engines
	return [][]httpapi.Route{
		billingapi.Invoices{
			Cases: billingcases.Invoices{Bus: e.bus, Clock: a.clock}, Notes: billingcases.CreditNotes{Bus: e.bus},
			Bus: e.bus, Invoices: billingviews.InvoicesQuery{Views: e.views}, Clock: a.clock,
		}.Routes(),
		billingapi.Statements{
			Statement:   billingviews.StatementQuery{Views: e.views},
			Subscribers: subscribersviews.SubscribersQuery{Views: e.views},
		}.Routes(),
		billingapi.Collections{Cases: billingcases.Collections{
			Bus: e.bus, Collections: billingviews.CollectionsQuery{Views: e.views},
			Users: identityviews.UsersQuery{Views: e.views}, Clock: a.clock,
		}}.Routes(),
	}
}
