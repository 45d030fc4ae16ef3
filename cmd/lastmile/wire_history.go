package main

import (
	"context"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/history"
	"github.com/lastmile-isp/lastmile/usecases/history"
)

// historyArea gives the past of aggregates, which it reads from the log: it has no read models.
func historyArea() area { return area{wire: (*App).wireHistory} }

// wireHistory makes the endpoints of histories.
func (a *App) wireHistory(context.Context) ([][]httpapi.Route, error) {
	return [][]httpapi.Route{historyapi.History{
		Cases: historycases.Histories{Bus: a.engines.bus}, Clock: a.clock, Zone: a.zoneOf, Names: a.auditNames,
	}.Routes()}, nil
}
