package main

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/access"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// accessArea gives the dunning rules of organizations, and answers routers over RADIUS.
func accessArea() area {
	return area{aggregates: registerAccess, wire: (*App).wireAccess}
}

// registerAccess adds the dunning rules and the dunning of subscriptions.
func registerAccess(b *bus.Bus) {
	bus.Register(b, access.DunningPolicies())
	bus.Register(b, access.Dunnings())
}

// wireAccess starts to answer routers, and makes the endpoints of the area.
func (a *App) wireAccess(ctx context.Context) ([][]httpapi.Route, error) {
	if err := a.startRadius(ctx); err != nil {
		return nil, err
	}
	return [][]httpapi.Route{
		accessapi.Dunning{Policies: accesscases.DunningPolicies{Bus: a.engines.bus}}.Routes(),
	}, nil
}
