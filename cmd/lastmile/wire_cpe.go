package main

import (
	"context"
	"errors"
	"net/netip"
	"net/url"
	"strings"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/gateways/genieacs/script"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/cpe"
	"github.com/lastmile-isp/lastmile/jobs/cpe"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/cpe/onurelease"
	"github.com/lastmile-isp/lastmile/processmanagers/cpe/onusetup"
	"github.com/lastmile-isp/lastmile/processmanagers/cpe/operating"
	"github.com/lastmile-isp/lastmile/processmanagers/cpe/provisioning"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases/cpe"
)

// cpeArea gives the equipment in customers' homes.
func cpeArea() area {
	return area{
		aggregates: registerCPE, readModels: []runner.Projection{
			cpeviews.CPEs{}, cpeviews.Operations{}, cpeviews.Provisions{},
		},
		processes: []processmanagers.Any{
			operating.Process(), provisioning.Process(), onusetup.Process(), onurelease.Process(),
		},
		wire: (*App).wireCPE,
	}
}

// registerCPE adds CPEs and the writes to them.
func registerCPE(b *bus.Bus) {
	bus.Register(b, cpe.CPEs())
	bus.Register(b, cpe.Operations())
	bus.Register(b, cpe.Provisions())
	bus.Register(b, cpe.Onus())
}

// wireCPE begins to keep the calls of CPEs, registers the jobs of the area, and makes its endpoints.
func (a *App) wireCPE(ctx context.Context) ([][]httpapi.Route, error) {
	informs, err := cpejobs.OpenInforms(ctx, a.storage.db, a.clock, a.logger)
	if err != nil {
		return nil, err
	}
	if err := a.life.start(ctx, "calls of cpes", stopStorage, informs); err != nil {
		return nil, err
	}
	rows, operations := cpeviews.CPEsQuery{Views: a.engines.views}, cpeviews.OperationsQuery{Views: a.engines.views}
	provisions := cpeviews.ProvisionsQuery{Views: a.engines.views}
	server, err := a.wireCPEServer(informs, rows, operations, provisions)
	if err != nil {
		return nil, err
	}
	onus, optical := a.wireOnus(server, rows, operations)
	cases := cpecases.CPEs{
		Bus: a.engines.bus, Row: rows.Any, Services: subscribersviews.SubscriptionsQuery{Views: a.engines.views},
		Secrets: a.storage.vault.Secrets, Informs: informs, Onus: onus, Logger: a.logger,
	}
	return [][]httpapi.Route{
		cpeapi.API{Cases: cases, Rows: rows, Informs: informs, Clock: a.clock}.Routes(),
		cpeapi.Operations{
			CPEs: rows, Rows: operations, Users: identityviews.UsersQuery{Views: a.engines.views}.Names,
		}.Routes(),
		cpeapi.Writes{
			Cases: cpecases.Operations{
				Bus: a.engines.bus, Secrets: a.storage.vault.Secrets, Allows: a.cpeMayReach,
			},
			Rows: operations, Server: a.cfg.ACSNBIURL != "", Files: a.cfg.ACSFSURL != "",
		}.Routes(),
		cpeapi.Provisions{
			Cases: cpecases.Provisions{Bus: a.engines.bus, Ready: server.ready, Check: faultOfScript},
			Rows:  provisions, Views: a.engines.views, Users: identityviews.UsersQuery{Views: a.engines.views}.Names,
		}.Routes(),
		optical,
		cpeapi.Identification{Cases: cases, Key: a.cfg.ACSInternalKey}.Routes(),
	}, nil
}

// wireCPEServer makes the gateway to the CPE server, and registers the jobs that use it. Without a server the jobs are
// known all the same: what was asked for earlier ends.
func (a *App) wireCPEServer(
	informs *cpejobs.Informs, rows cpeviews.CPEsQuery, operations cpeviews.OperationsQuery,
	provisions cpeviews.ProvisionsQuery,
) (cpeServer, error) {
	var server cpejobs.Server = cpejobs.NoServer{}
	found := cpeServer{ready: cpejobs.NoServer{}.Ready, boxes: cpejobs.NoServer{}}
	scripts := cpejobs.Provisions{
		Bus: a.engines.bus, Row: provisions.Any, Held: provisions.Held, Server: cpejobs.NoServer{}, Logger: a.logger,
	}
	if a.cfg.ACSNBIURL != "" {
		gateway, err := genieacs.New(genieacs.Config{
			NBI: a.cfg.ACSNBIURL, Guard: a.breakers, Clock: a.clock, Logger: a.logger,
		})
		if err != nil {
			return cpeServer{}, err
		}
		a.life.startedBeside("gateway to the cpe server", stopStorage, func(context.Context) { gateway.Close() })
		acs := cpejobs.ACS{Gateway: gateway, Clock: a.clock, Files: a.cfg.ACSFSURL}
		server, found = acs, cpeServer{ready: gateway.Ready, boxes: acs}
		scripts.Server = gateway
		cpejobs.Preparation{Gateway: gateway, Provisions: scripts, Logger: a.logger}.Register(a.engines.jobs)
		cpejobs.Sync{
			Bus: a.engines.bus, Gateway: gateway, Informs: informs, Rows: rows.Some, Clock: a.clock, Logger: a.logger,
			Every: a.cfg.CPESyncInterval,
		}.Register(a.engines.jobs)
	}
	scripts.Register(a.engines.jobs)
	cpejobs.Operations{
		Bus: a.engines.bus, Rows: operations, CPE: rows.Any, Values: a.storage.vault.Secrets.Get,
		Drop: a.storage.vault.Secrets.Delete, Server: server,
	}.Register(a.engines.jobs)
	return found, nil
}

// faultOfScript gives the first fault of an organization's script; line 0 = it has none.
func faultOfScript(source, tagPrefix string) (line int, text string) {
	var fault *script.Fault
	if errors.As(script.Check(source, tagPrefix), &fault) {
		return fault.Line, fault.Text
	}
	return 0, ""
}

// cpeMayReach refuses addresses of the CPE itself and of its neighbours on the wire; simulated CPEs load from this
// machine.
func (a *App) cpeMayReach(address string) error {
	if !a.cfg.Production() {
		return nil
	}
	parsed, err := url.Parse(address)
	if err != nil {
		return errors.New("must be an address")
	}
	host := strings.TrimSuffix(strings.ToLower(parsed.Hostname()), ".")
	at, err := netip.ParseAddr(host)
	local := host == "localhost" || strings.HasSuffix(host, ".localhost")
	if at = at.Unmap(); err == nil {
		local = at.IsUnspecified() || at.IsLoopback() || at.IsLinkLocalUnicast() || at.IsMulticast()
	}
	if local {
		return errors.New("must not be an address of the device itself or of its neighbours")
	}
	return nil
}
