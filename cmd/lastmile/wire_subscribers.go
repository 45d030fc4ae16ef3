package main

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/exports"
	"github.com/lastmile-isp/lastmile/httpapi/subscribers"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/jobs/subscribers"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/subscribers/erasing"
	"github.com/lastmile-isp/lastmile/processmanagers/subscribers/exporting"
	"github.com/lastmile-isp/lastmile/processmanagers/subscribers/importing"
	"github.com/lastmile-isp/lastmile/processmanagers/subscribers/planchange"
	"github.com/lastmile-isp/lastmile/processmanagers/subscribers/planmoves"
	"github.com/lastmile-isp/lastmile/processmanagers/subscribers/renewal"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases/access"
	"github.com/lastmile-isp/lastmile/usecases/billing"
	"github.com/lastmile-isp/lastmile/usecases/exports"
	"github.com/lastmile-isp/lastmile/usecases/subscribers"
)

// subscribersArea gives subscribers, plans and subscriptions.
func subscribersArea() area {
	return area{
		aggregates: registerSubscribers,
		readModels: []runner.Projection{
			subscribersviews.Subscribers{}, subscribersviews.Plans{}, subscribersviews.Subscriptions{},
			subscribersviews.Timeline{}, subscribersviews.Imports{},
		},
		processes: []processmanagers.Any{
			renewal.Process(), planchange.Process(), planmoves.Process(), importing.Process(),
			exporting.Process(), erasing.Process(),
		},
		wire: (*App).wireSubscribers,
	}
}

// registerSubscribers adds subscribers, plans and subscriptions.
func registerSubscribers(b *bus.Bus) {
	bus.Register(b, subscribers.Subscribers())
	bus.Register(b, subscribers.Plans())
	bus.Register(b, subscribers.Subscriptions())
	bus.Register(b, subscribers.PlanMoves())
	bus.Register(b, subscribers.Imports())
	bus.Register(b, subscribers.Exports())
}

// wireSubscribers makes the endpoints of subscribers, their timelines, plans and subscriptions.
func (a *App) wireSubscribers(context.Context) ([][]httpapi.Route, error) {
	e := a.engines
	people := subscribersviews.SubscribersQuery{Views: e.views, Open: telemetry.OpenSQL(a.DB().Namespace)}
	imports, asking := a.imports(), a.asking()
	exports := exportscases.Exports{
		Bus: e.bus, Views: e.views, Files: a.storage.vault.Files, Limiter: a.storage.vault.Limits, Clock: a.clock,
	}
	moves := subscriberscases.PlanMoves{Bus: e.bus, Views: e.views, Logger: a.logger}
	subscribersjobs.Workers{
		Part: imports.RunPart, PartLost: imports.LosePart, Export: exports.Run, ExportLost: exports.Lose,
		Move: moves.Part, Queue: e.jobs,
	}.Register()
	jobrunner.OnDiscarded(e.jobs, jobrunner.OnceMore[commands.MovePlanPart](e.jobs, time.Minute))
	persons, err := a.wirePersons()
	if err != nil {
		return nil, err
	}
	return [][]httpapi.Route{
		persons,
		subscribersapi.Proposals{Cases: a.proposals()}.Routes(),
		exportsapi.Exports{Cases: exports, Clock: a.clock}.Routes(),
		subscribersapi.Imports{Cases: imports, Imports: subscribersviews.ImportsQuery{Views: e.views}}.Routes(),
		subscribersapi.Subscribers{
			Cases:     subscriberscases.Subscribers{Bus: e.bus, Limiter: a.storage.vault.Limits},
			WriteOffs: billingcases.WriteOffs{Bus: e.bus}, Bus: e.bus,
			Subscribers: people,
			Clock:       a.clock, Zone: a.zoneOf, OffBehind: a.offBehind, Outages: a.outagesAmong, Unheard: a.unheard,
			Asked: asking.Of, Whole: (&billingcases.Customers{Asking: asking, People: people}).Whole,
		}.Routes(),
		subscribersapi.Plans{
			Cases: subscriberscases.Plans{Bus: e.bus, PolicyKnown: accesscases.DunningPolicies{Bus: e.bus}.Known},
			Moves: moves, Bus: e.bus, Plans: subscribersviews.PlansQuery{Views: e.views},
		}.Routes(),
		subscribersapi.Subscriptions{
			Cases: subscriberscases.Subscriptions{
				Bus: e.bus, Secrets: a.storage.vault.Secrets, Limiter: a.storage.vault.Limits, Clock: a.clock,
				Overlapping: subscribersviews.SubscriptionsQuery{Views: e.views}.Overlapping,
			},
			Bus: e.bus, Subscriptions: subscribersviews.SubscriptionsQuery{Views: e.views}, Clock: a.clock,
			Invoices: billingviews.InvoicesQuery{Views: e.views},
			Dunning:  accessviews.DunningQuery{Views: e.views},
			Changes:  billingcases.PlanChanges{Bus: e.bus, Clock: a.clock},
		}.Routes(),
		subscribersapi.Extras{
			Cases: subscriberscases.Extras{Bus: e.bus}, Clock: a.clock,
			Subscriptions: subscribersviews.SubscriptionsQuery{Views: e.views},
		}.Routes(),
		subscribersapi.Timeline{
			Timeline: subscribersviews.TimelineQuery{Views: e.views}, Subscribers: people,
			Users: identityviews.UsersQuery{Views: e.views}, Keys: identityviews.APIKeysQuery{Views: e.views},
			Zone: a.zoneOf,
		}.Routes(),
	}, nil
}

// imports takes customers in from files.
func (a *App) imports() subscriberscases.Imports {
	e := a.engines
	return subscriberscases.Imports{
		Bus: e.bus, Subscribers: subscriberscases.Subscribers{Bus: e.bus},
		Subscriptions: subscriberscases.Subscriptions{
			Bus: e.bus, Secrets: a.storage.vault.Secrets, Limiter: a.storage.vault.Limits, Clock: a.clock,
			Overlapping: subscribersviews.SubscriptionsQuery{Views: e.views}.Overlapping,
		},
		Files: a.storage.vault.Files, Key: a.storage.vault.FileKey,
		PersonKeys: a.storage.vault.SubjectKeys.EnsureKeys,
		Plans:      subscribersviews.PlansQuery{Views: e.views}.All,
		Taken:      subscribersviews.SubscriptionsQuery{Views: e.views}.Taken,
		ByPhones:   subscribersviews.SubscribersQuery{Views: e.views}.ByPhones,
		Served:     subscribersviews.SubscriptionsQuery{Views: e.views}.Served, Clock: a.clock, Logger: a.logger,
	}
}

// proposals makes customers of what a router knows. The router is asked through the workers of the area network.
func (a *App) proposals() subscriberscases.Proposals {
	cases := proposalsOn(a.engines.bus, a.engines.views, a.storage.vault, a.clock)
	cases.Read = func(ctx context.Context, device id.Device) (routerplan.Customers, error) {
		return a.routers.Load().Customers(ctx, device)
	}
	return cases
}

// proposalsOn makes them without the way to routers.
func proposalsOn(b *bus.Bus, views *runner.Views, v *vault.Vault, c clock.Clock) subscriberscases.Proposals {
	return subscriberscases.Proposals{
		Bus: b, Files: v.Files, Limiter: v.Limits, Clock: c,
		Plans: subscribersviews.PlansQuery{Views: views}.WithArchived,
		Taken: subscribersviews.SubscriptionsQuery{Views: views}.Taken,
	}
}
