package main

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/billing"
	"github.com/lastmile-isp/lastmile/jobs/billing"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/billing/invoicing"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// billingArea gives accounts, numbers, invoices and reports.
func billingArea() area {
	return area{
		aggregates: registerBilling,
		readModels: []runner.Projection{
			billingviews.Invoices{}, billingviews.Statement{}, billingviews.Collections{}, billingviews.Numbering{},
		},
		processes: []processmanagers.Any{invoicing.Process(), invoicing.DocumentProcess()},
		wire:      (*App).wireBilling,
	}
}

// registerBilling adds accounts and number series.
func registerBilling(b *bus.Bus) {
	bus.Register(b, billing.Accounts())
	bus.Register(b, billing.NumberSeries())
}

// wireBilling makes the endpoints of invoices, statements and reports about money, and starts the numbering of
// documents beside the processes.
func (a *App) wireBilling(ctx context.Context) ([][]httpapi.Route, error) {
	e := a.engines
	if a.roles.has(roleProcesses) {
		numberer := billingjobs.NewNumberer(billingjobs.Config{
			Bus: e.bus, Query: billingviews.NumberingQuery{Views: e.views}, Clock: a.clock, Logger: a.logger,
		})
		if err := a.life.startBeside(ctx, "numbering", stopEngines, numberer); err != nil {
			return nil, err
		}
	}
	return [][]httpapi.Route{
		billingapi.Invoices{
			Cases: billingcases.Invoices{Bus: e.bus, Clock: a.clock}, Notes: billingcases.CreditNotes{Bus: e.bus},
			Bus: e.bus, Settings: a.settings(), Invoices: billingviews.InvoicesQuery{Views: e.views},
			Receipts: paymentsviews.ReceiptsQuery{Views: e.views}, Clock: a.clock,
		}.Routes(),
		billingapi.Statements{
			Statement:   billingviews.StatementQuery{Views: e.views},
			Subscribers: subscribersviews.SubscribersQuery{Views: e.views},
		}.Routes(),
		billingapi.Collections{Cases: billingcases.Collections{
			Settings: a.settings(), Collections: billingviews.CollectionsQuery{Views: e.views},
			Receipts: paymentsviews.ReceiptsQuery{Views: e.views},
			Users:    identityviews.UsersQuery{Views: e.views}, Clock: a.clock,
		}}.Routes(),
	}, nil
}
