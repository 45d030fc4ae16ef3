package main

import (
	"context"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/cpe"
	"github.com/lastmile-isp/lastmile/jobs/cpe"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases/cpe"
)

// cpeArea gives the equipment in customers' homes.
func cpeArea() area {
	return area{
		aggregates: registerCPE, readModels: []runner.Projection{cpeviews.CPEs{}, cpeviews.Operations{}},
		wire: (*App).wireCPE,
	}
}

// registerCPE adds CPEs and the writes to them.
func registerCPE(b *bus.Bus) {
	bus.Register(b, cpe.CPEs())
	bus.Register(b, cpe.Operations())
}

// wireCPE begins to keep the calls of CPEs, and makes the endpoints of the area.
func (a *App) wireCPE(ctx context.Context) ([][]httpapi.Route, error) {
	informs, err := cpejobs.OpenInforms(ctx, a.storage.db, a.clock, a.logger)
	if err != nil {
		return nil, err
	}
	if err := a.life.start(ctx, "calls of cpes", stopStorage, informs); err != nil {
		return nil, err
	}
	rows := cpeviews.CPEsQuery{Views: a.engines.views}
	cases := cpecases.CPEs{
		Bus: a.engines.bus, Row: rows.Any, Services: subscribersviews.SubscriptionsQuery{Views: a.engines.views},
		Secrets: a.storage.vault.Secrets, Informs: informs, Logger: a.logger,
	}
	return [][]httpapi.Route{
		cpeapi.API{Cases: cases, Rows: rows, Informs: informs, Clock: a.clock}.Routes(),
		cpeapi.Operations{
			CPEs: rows, Rows: cpeviews.OperationsQuery{Views: a.engines.views},
			Users: identityviews.UsersQuery{Views: a.engines.views}.Names,
		}.Routes(),
		cpeapi.Identification{Cases: cases, Key: a.cfg.ACSInternalKey}.Routes(),
	}, nil
}
