package main

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/outages"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/outages"
	"github.com/lastmile-isp/lastmile/jobs/outages"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/outages/detecting"
	"github.com/lastmile-isp/lastmile/processmanagers/outages/giving"
	"github.com/lastmile-isp/lastmile/processmanagers/outages/outagetelling"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/messaging"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/outages"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases/outages"
)

// outagesArea gives outages of the network, what customers get for them, and the public status page.
func outagesArea() area {
	return area{
		aggregates: registerOutages,
		readModels: []runner.Projection{outagesviews.Outages{}, outagesviews.Compensations{}},
		processes:  []processmanagers.Any{detecting.Process(), outagetelling.Process(), giving.Process()},
		wire:       (*App).wireOutages,
	}
}

// registerOutages adds outages, the rules about them, and compensations.
func registerOutages(b *bus.Bus) {
	bus.Register(b, outages.Outages())
	bus.Register(b, outages.Rules())
	bus.Register(b, outages.Compensations())
}

// outageCases begins and ends outages, and finds their customers.
func (a *App) outageCases() outagescases.Outages {
	e := a.engines
	return outagescases.Outages{Bus: e.bus, Clock: a.clock, Hears: a.hears, Places: outagescases.Places{
		Bus: e.bus, Sessions: a.telemetry, Area: subscribersviews.AreaQuery{
			Subscribers:   subscribersviews.SubscribersQuery{Views: e.views},
			Subscriptions: subscribersviews.SubscriptionsQuery{Views: e.views},
		},
	}}
}

// wireOutages registers the jobs of the area and makes its endpoints.
func (a *App) wireOutages(context.Context) ([][]httpapi.Route, error) {
	e := a.engines
	cases := a.outageCases()
	giving := outagescases.Compensations{
		Bus: e.bus, Places: cases.Places, Limiter: a.storage.vault.Limits, Clock: a.clock, Logger: a.logger,
	}
	outagesjobs.Workers{
		Begin: cases.Detected, Watch: cases.Watched, Give: giving.GivePart, Queue: e.jobs,
		Tell: outagescases.Telling{Outages: cases, Views: e.views}.Messages,
	}.Register()
	named := outagesapi.Places{
		Devices: networkviews.DevicesQuery{Views: e.views}, Services: networkviews.ServicesQuery{Views: e.views},
	}
	users := identityviews.UsersQuery{Views: e.views}.Names
	list := outagesviews.OutagesQuery{Views: e.views}
	return [][]httpapi.Route{
		outagesapi.Outages{
			Bus: e.bus, Outages: list, Places: named, Told: messagingviews.MessagesQuery{Views: e.views}, Cases: cases,
			Users: users, Zone: a.zoneOf,
		}.Routes(),
		outagesapi.Compensations{
			Compensations: outagesviews.CompensationsQuery{Views: e.views}, Places: named, Cases: giving, Users: users,
			Zone: a.zoneOf,
		}.Routes(),
		outagesapi.Status{Outages: list, Zone: a.zoneOf, Clock: a.clock}.Routes(),
	}, nil
}
