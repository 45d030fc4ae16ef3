package main

import (
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/subscribers"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases/subscribers"
)

// registerSubscribers adds subscribers, plans and subscriptions.
func registerSubscribers(b *bus.Bus) {
	bus.Register(b, subscribers.Subscribers())
	bus.Register(b, subscribers.Plans())
	bus.Register(b, subscribers.Subscriptions())
}

// subscriberRoutes are subscribers, their timelines, plans and subscriptions.
func (a *App) subscriberRoutes() [][]httpapi.Route {
	e := a.engines
	people := subscribersviews.SubscribersQuery{Views: e.views}
	return [][]httpapi.Route{
		subscribersapi.Subscribers{
			Cases: subscriberscases.Subscribers{Bus: e.bus}, Bus: e.bus, Subscribers: people,
			Access: subscribersviews.AccessQuery{Views: e.views}, Clock: a.clock,
		}.Routes(),
		subscribersapi.Plans{
			Cases: subscriberscases.Plans{Bus: e.bus}, Bus: e.bus, Plans: subscribersviews.PlansQuery{Views: e.views},
		}.Routes(),
		subscribersapi.Subscriptions{
			Cases: subscriberscases.Subscriptions{Bus: e.bus, Secrets: a.storage.vault.Secrets, Clock: a.clock},
			Bus:   e.bus, Subscriptions: subscribersviews.SubscriptionsQuery{Views: e.views}, Clock: a.clock,
		}.Routes(),
		subscribersapi.Timeline{
			Timeline: subscribersviews.TimelineQuery{Views: e.views}, Subscribers: people,
			Users: identityviews.UsersQuery{Views: e.views},
		}.Routes(),
	}
}
