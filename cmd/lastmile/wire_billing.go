package main

import (
	"context"
	"errors"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/billing"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/billing"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/billing/invoicing"
	"github.com/lastmile-isp/lastmile/processmanagers/billing/runs"
	"github.com/lastmile-isp/lastmile/processmanagers/billing/undoing"
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
			billingviews.Revenue{}, billingviews.Due{}, billingviews.Runs{}, billingviews.Batches{},
			billingviews.Fuses{},
		},
		processes: []processmanagers.Any{
			invoicing.Process(), invoicing.DocumentProcess(), runs.DaysProcess(), runs.Process(),
			undoing.Process(),
		},
		wire: (*App).wireBilling,
	}
}

// registerBilling adds accounts, number series, billing runs the undo of batches, and fuses.
func registerBilling(b *bus.Bus) {
	bus.Register(b, billing.Accounts())
	bus.Register(b, billing.NumberSeries())
	bus.Register(b, billing.Runs())
	bus.Register(b, billing.BatchUndos())
	bus.Register(b, billing.Fuses())
}

// asking finds what customers are asked to pay.
func (a *App) asking() billingcases.Asking {
	return billingcases.Asking{Views: a.engines.views, Settings: a.engines.settings, Clock: a.clock}
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
	work := billingcases.RunWork{Bus: e.bus, Views: e.views, Clock: a.clock, Logger: a.logger}
	jobrunner.AddWorker(e.jobs, func(ctx context.Context, job commands.MakeInvoicesDue, cause jobs.Cause) error {
		err := work.Work(ctx, job, cause.Meta)
		if errors.Is(err, billingcases.ErrRunBehind) {
			return jobrunner.Snooze(time.Second)
		}
		return err
	}, jobrunner.Options{Timeout: 20 * time.Minute, Again: true})
	return [][]httpapi.Route{
		a.wireBatches(),
		billingapi.Fuses{
			Bus: e.bus, Settings: a.engines.settings, Fuses: billingviews.FusesQuery{Views: e.views}, Clock: a.clock,
			Users: identityviews.UsersQuery{Views: e.views},
		}.Routes(),
		billingapi.Runs{
			Bus: e.bus, Runs: billingviews.RunsQuery{Views: e.views}, Users: identityviews.UsersQuery{Views: e.views},
			Cases: billingcases.BillingRuns{
				Bus: e.bus, Settings: a.engines.settings, Due: billingviews.DueQuery{Views: e.views}, Clock: a.clock,
			},
		}.Routes(),
		billingapi.Invoices{
			Cases: billingcases.Invoices{Bus: e.bus, Clock: a.clock}, Notes: billingcases.CreditNotes{Bus: e.bus},
			Bus: e.bus, Settings: a.engines.settings, Invoices: billingviews.InvoicesQuery{Views: e.views},
			Receipts: paymentsviews.ReceiptsQuery{Views: e.views}, Clock: a.clock,
			Signatures: billingviews.SignaturesQuery{Views: e.views},
		}.Routes(),
		billingapi.Statements{
			Statement:   billingviews.StatementQuery{Views: e.views},
			Subscribers: subscribersviews.SubscribersQuery{Views: e.views},
		}.Routes(),
		billingapi.Upcoming{Cases: billingcases.Upcoming{Bus: e.bus, Clock: a.clock}}.Routes(),
		billingapi.Collections{Cases: billingcases.Collections{
			Settings: a.engines.settings, Collections: billingviews.CollectionsQuery{Views: e.views},
			Receipts: paymentsviews.ReceiptsQuery{Views: e.views},
			Users:    identityviews.UsersQuery{Views: e.views}, Clock: a.clock,
		}}.Routes(),
		billingapi.Ageing{Cases: billingcases.Ageing{
			Settings: a.engines.settings, Invoices: billingviews.InvoicesQuery{Views: e.views},
			Subscribers: subscribersviews.SubscribersQuery{Views: e.views}, Clock: a.clock,
		}}.Routes(),
		billingapi.Revenue{Cases: billingcases.Revenue{
			Settings: a.engines.settings, Revenue: billingviews.RevenueQuery{Views: e.views},
			Plans: subscribersviews.PlansQuery{Views: e.views}, Clock: a.clock,
		}}.Routes(),
		billingapi.Churn{Cases: billingcases.Churn{
			Settings: a.engines.settings, Subscriptions: subscribersviews.SubscriptionsQuery{Views: e.views},
			Revenue: billingviews.RevenueQuery{Views: e.views}, Clock: a.clock,
		}}.Routes(),
	}, nil
}
