package main

import (
	"context"
	"net/netip"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/search"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/access"
	"github.com/lastmile-isp/lastmile/usecases/search"
)

// searchArea gives the search, which asks the read models of all areas and has none of its own.
func searchArea() area { return area{wire: (*App).wireSearch} }

// wireSearch makes the endpoints of the search. It comes after access, which opens the tables of sessions.
func (a *App) wireSearch(context.Context) ([][]httpapi.Route, error) {
	lookups := accesscases.Lookups{Bus: a.engines.bus}
	return [][]httpapi.Route{searchapi.Search{Cases: searchcases.Search{
		Views: a.engines.views, Sessions: a.telemetry, Codes: a.voucherCodes(), Clock: a.clock,
		LookedUp: func(
			ctx context.Context, asked usecases.Asked, ip netip.Addr, at time.Time, who []id.Subscriber,
		) error {
			return lookups.Record(ctx, asked, accesscases.Lookup{Address: ip, HadAt: at, Holders: who})
		},
	}}.Routes()}, nil
}
