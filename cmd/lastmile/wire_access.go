package main

import (
	"cmp"
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/access"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/access/dunning"
	"github.com/lastmile-isp/lastmile/processmanagers/access/enforcement"
	"github.com/lastmile-isp/lastmile/processmanagers/access/forgetting"
	"github.com/lastmile-isp/lastmile/processmanagers/access/nofault"
	"github.com/lastmile-isp/lastmile/processmanagers/access/topups"
	"github.com/lastmile-isp/lastmile/processmanagers/access/usage"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/radius/directory"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// accessArea gives the dunning rules of organizations, and answers routers over RADIUS and keeps what they report.
func accessArea() area {
	return area{
		aggregates: registerAccess,
		readModels: []runner.Projection{
			accessviews.Dunning{}, accessviews.Vouchers{}, accessviews.Usage{}, accessviews.Differences{},
		},
		processes: []processmanagers.Any{
			dunning.Process(), dunning.RulesProcess(), usage.Process(), forgetting.Process(), enforcement.Process(),
			nofault.Process(), topups.Process(),
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
	bus.Register(b, access.Outages())
	bus.Register(b, access.Differences())
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
		Clock: a.clock, Lines: a.telemetry.Lines, Looks: a.telemetry.Looks, LookEvery: a.cfg.AuditInterval,
		AddTopUp:     accesscases.TopUps{Bus: e.bus, Store: a.telemetry, Clock: a.clock}.Pay,
		ProviderAway: a.providerAway, Outage: a.paymentOutage,
		PoliciesOf: subscribersviews.SubscriptionsQuery{Views: e.views}.DunningPolicies,
	}.Register()
	return append(sessions,
		accessapi.Disconnect{End: disconnects{enforcer}.end}.Routes(),
		accessapi.Dunning{Policies: accesscases.DunningPolicies{
			Bus: e.bus, Named: subscribersviews.PlansQuery{Views: e.views}.NamedPolicies,
		}}.Routes(),
		accessapi.Board{
			Cases:   accesscases.Board{Settings: a.engines.settings, Clock: a.clock},
			Holds:   accesscases.Holds{Bus: e.bus, Clock: a.clock},
			Dunning: accessviews.DunningQuery{Views: e.views},
		}.Routes(),
		accessapi.Access{
			Cases: a.explanations(), Zone: a.zoneOf, Names: networkviews.DevicesQuery{Views: e.views}.Names,
		}.Routes(),
		accessapi.Days{Cases: accesscases.Days{
			Bus: e.bus, Settings: a.engines.settings, Subscribers: subscribersviews.SubscribersQuery{Views: e.views},
			Subscriptions: subscribersviews.SubscriptionsQuery{Views: e.views},
			Timeline:      subscribersviews.TimelineQuery{Views: e.views},
			Routers:       networkviews.HistoryQuery{Views: e.views}, Telemetry: a.telemetry, Clock: a.clock,
		}}.Routes(),
		accessapi.Refusals{
			Store: a.telemetry, Devices: networkviews.DevicesQuery{Views: e.views}, Clock: a.clock,
		}.Routes(),
		a.voucherRoutes(),
		a.auditorRoutes(),
	), nil
}

// explanations answers why subscribers are on or off.
func (a *App) explanations() accesscases.Explanations {
	views := a.engines.views
	return accesscases.Explanations{
		Bus: a.engines.bus, Settings: a.engines.settings, Subscribers: subscribersviews.SubscribersQuery{Views: views},
		Subscriptions: subscribersviews.SubscriptionsQuery{Views: views},
		Dunning:       accessviews.DunningQuery{Views: views}, Network: a.telemetry, Kept: a.cfg.SessionsKept,
		Away: a.away, SignIns: signIns{a.customers}, Clock: a.clock, Logger: a.logger,
		Auditor: &accesscases.Auditor{
			Open: accessviews.DifferencesQuery{Views: views}.List, Looks: a.telemetry.Looks,
			Reported: func(ctx context.Context, seen telemetry.Shown) (bool, error) {
				return a.telemetry.Reported(ctx, seen, a.clock.Now(), lostAfter)
			},
			Every: a.cfg.AuditInterval,
		},
	}
}

// signIns compares with the directory of this program, and refusals of all programs with what it knows.
type signIns struct{ *radiusParts }

// Differs implements accesscases.SignIns.
func (s signIns) Differs(
	ctx context.Context, org id.Organization, of id.Subscription, expected entitlement.Access, at time.Time,
) string {
	if s.directory.Incomplete(org) {
		return "a sign-in gets no answer: an event of the organization cannot be read"
	}
	p := s.directory.Present(of, at)
	if p.Grant.Access == expected || s.fresh.Current(ctx) == nil {
		return "" // the read models may be a moment behind
	}
	return "a sign-in gets " + p.Grant.Access.String() + ", as " + string(p.Code) + ": what answers it is old"
}

// Wronged implements accesscases.SignIns.
func (s signIns) Wronged(of id.Subscription, code string, refused time.Time) bool {
	return s.directory.Wronged(of, directory.Code(code), refused)
}

// providerAway is since when an organization's provider of mobile money cannot be reached; zero = it can, as far as is
// known. Each program has breakers of its own, and forgets them when it ends. So what the log says lasts until the
// provider has answered this program, also when a breaker of it has opened since.
func (a *App) providerAway(ctx context.Context, org id.Organization) (time.Time, error) {
	gateway, _, err := bus.LoadUnchecked[payments.Gateway](ctx, a.engines.bus, org) // the id is the organization's own
	if err != nil {
		return time.Time{}, err
	}
	host := a.providerHosts[cmp.Or(gateway.Environment, a.cfg.PaymentEnv)]
	var known breaker.State // zero before the first call
	for _, s := range a.breakers.States() {
		if s.Kind == mobilemoney.BreakerKind && s.Target == host {
			known = s
		}
	}
	outage, _, err := bus.LoadUnchecked[access.Outage](ctx, a.engines.bus, org)
	if err == nil && outage.Lasts() && outage.Evidence == accessjobs.EvidenceProvider &&
		!known.AnsweredAt.After(outage.From) {
		return outage.From, nil
	}
	return known.OpenedAt, err
}

// paymentOutage is since when customers of an organization cannot pay, from the log; zero = they can.
func (a *App) paymentOutage(ctx context.Context, org id.Organization) (time.Time, error) {
	outage, _, err := bus.LoadUnchecked[access.Outage](ctx, a.engines.bus, org) // the id is the organization's own
	if err != nil || !outage.Lasts() {
		return time.Time{}, err
	}
	return outage.From, nil
}
