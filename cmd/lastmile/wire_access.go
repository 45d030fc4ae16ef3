package main

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/access"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/access/dunning"
	"github.com/lastmile-isp/lastmile/processmanagers/access/enforcement"
	"github.com/lastmile-isp/lastmile/processmanagers/access/forgetting"
	"github.com/lastmile-isp/lastmile/processmanagers/access/usage"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// accessArea gives the dunning rules of organizations, and answers routers over RADIUS and keeps what they report.
func accessArea() area {
	return area{
		aggregates: registerAccess,
		readModels: []runner.Projection{accessviews.Dunning{}, accessviews.Vouchers{}, accessviews.Usage{}},
		processes: []processmanagers.Any{
			dunning.Process(), dunning.RulesProcess(), usage.Process(), forgetting.Process(), enforcement.Process(),
		},
		wire: (*App).wireAccess,
	}
}

// registerAccess adds the dunning rules, and the dunning and usage of subscriptions.
func registerAccess(b *bus.Bus) {
	bus.Register(b, access.DunningPolicies())
	bus.Register(b, access.Dunnings())
	bus.Register(b, access.VoucherBatches())
	bus.Register(b, access.Vouchers())
	bus.Register(b, access.Usages())
	bus.Register(b, access.Enforcements())
}

// wireAccess starts to answer routers, registers the jobs of the area, and makes its endpoints.
func (a *App) wireAccess(ctx context.Context) ([][]httpapi.Route, error) {
	sessions, err := a.wireSessions(ctx)
	if err != nil {
		return nil, err
	}
	if err := a.startRadius(ctx); err != nil {
		return nil, err
	}
	e := a.engines
	enforcer := a.customers.enforcer
	enforcer.Register()
	accessjobs.Workers{
		Bus: e.bus, Views: e.views, Queue: e.jobs, Telemetry: a.telemetry, Leave: enforcer.Leave,
	}.Register()
	return append(sessions,
		accessapi.Disconnect{End: disconnects{enforcer}.end}.Routes(),
		accessapi.Dunning{Policies: accesscases.DunningPolicies{
			Bus: e.bus, Named: subscribersviews.PlansQuery{Views: e.views}.NamedPolicies,
		}}.Routes(),
		accessapi.Board{
			Cases: accesscases.Board{Bus: e.bus, Clock: a.clock}, Holds: accesscases.Holds{Bus: e.bus},
			Dunning: accessviews.DunningQuery{Views: e.views},
		}.Routes(),
		accessapi.Access{Cases: a.explanations()}.Routes(),
		accessapi.Refusals{
			Store: a.telemetry, Devices: networkviews.DevicesQuery{Views: e.views}, Clock: a.clock,
		}.Routes(),
		a.voucherRoutes(),
	), nil
}

// explanations answers why subscribers are on or off.
func (a *App) explanations() accesscases.Explanations {
	views := a.engines.views
	return accesscases.Explanations{
		Bus: a.engines.bus, Subscribers: subscribersviews.SubscribersQuery{Views: views},
		Subscriptions: subscribersviews.SubscriptionsQuery{Views: views},
		Dunning:       accessviews.DunningQuery{Views: views}, Network: a.telemetry, Kept: a.cfg.SessionsKept,
		Clock: a.clock, Logger: a.logger,
	}
}
