package main

import (
	"context"
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/cpe"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/cpe"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/cpe/campaigning"
	"github.com/lastmile-isp/lastmile/processmanagers/cpe/operating"
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
			cpeviews.CPEs{}, cpeviews.Operations{}, cpeviews.Firmware{}, cpeviews.Campaigns{},
		},
		processes: []processmanagers.Any{operating.Process(), campaigning.Process()}, wire: (*App).wireCPE,
	}
}

// registerCPE adds CPEs, the writes to them, and firmware.
func registerCPE(b *bus.Bus) {
	bus.Register(b, cpe.CPEs())
	bus.Register(b, cpe.Operations())
	bus.Register(b, cpe.FirmwareFiles())
	bus.Register(b, cpe.Campaigns())
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
	server, err := a.wireCPEServer(informs, rows, operations)
	if err != nil {
		return nil, err
	}
	cases := cpecases.CPEs{
		Bus: a.engines.bus, Row: rows.Any, Services: subscribersviews.SubscriptionsQuery{Views: a.engines.views},
		Secrets: a.storage.vault.Secrets, Informs: informs, Logger: a.logger,
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
		cpeapi.Identification{Cases: cases, Key: a.cfg.ACSInternalKey}.Routes(),
		a.wireFirmware(informs, rows, server),
	}, nil
}

// wireCPEServer makes the gateway to the CPE server, and registers the jobs that use it. Without a server the jobs are
// known all the same: what was asked for earlier ends.
func (a *App) wireCPEServer(
	informs *cpejobs.Informs, rows cpeviews.CPEsQuery, operations cpeviews.OperationsQuery,
) (cpejobs.Server, error) {
	var server cpejobs.Server = cpejobs.NoServer{}
	if a.cfg.ACSNBIURL != "" {
		gateway, err := genieacs.New(genieacs.Config{
			NBI: a.cfg.ACSNBIURL, Guard: a.breakers, Clock: a.clock, Logger: a.logger,
		})
		if err != nil {
			return nil, err
		}
		a.life.startedBeside("gateway to the cpe server", stopStorage, func(context.Context) { gateway.Close() })
		server = cpejobs.ACS{Gateway: gateway, Clock: a.clock, Files: a.cfg.ACSFSURL}
		cpejobs.Preparation{Gateway: gateway, Logger: a.logger}.Register(a.engines.jobs)
		cpejobs.Sync{
			Bus: a.engines.bus, Gateway: gateway, Informs: informs, Rows: rows.Some, Clock: a.clock, Logger: a.logger,
			Every: a.cfg.CPESyncInterval,
		}.Register(a.engines.jobs)
	}
	cpejobs.Operations{
		Bus: a.engines.bus, Rows: operations, CPE: rows.Any, Values: a.storage.vault.Secrets.Get,
		Drop: a.storage.vault.Secrets.Delete, Server: server, Clock: a.clock,
		Files:     cpeviews.FirmwareQuery{Views: a.engines.views},
		Campaigns: cpeviews.CampaignsQuery{Views: a.engines.views},
	}.Register(a.engines.jobs)
	return server, nil
}

// wireFirmware registers the job of campaigns, and makes the endpoints of firmware.
func (a *App) wireFirmware(
	informs *cpejobs.Informs, rows cpeviews.CPEsQuery, server cpejobs.Server,
) []httpapi.Route {
	e, is := a.engines, a.cfg.ACSNBIURL != ""
	campaigns := cpeviews.CampaignsQuery{Views: e.views}
	work := cpecases.CampaignWork{
		Bus: e.bus, Views: e.views, CPEs: rows, Campaigns: campaigns, Since: informs.Since, Ready: server.Ready,
		Clock: a.clock,
	}
	jobrunner.AddWorker(e.jobs, func(ctx context.Context, job commands.AdvanceCpeCampaign, cause jobs.Cause) error {
		cause.OrgID = job.OrgID
		err := work.Advance(ctx, job, cause.Meta)
		if errors.Is(err, cpecases.ErrCampaignBehind) {
			return jobrunner.Snooze(time.Second)
		}
		return err
	}, jobrunner.Options{})
	cases := cpecases.Firmware{
		Bus: e.bus, Store: server.Store, CPEs: rows, Settings: a.settings(), Clock: a.clock,
	}
	users := identityviews.UsersQuery{Views: e.views}.Names
	return slices.Concat(
		cpeapi.Firmware{
			Cases: cases, Rows: cpeviews.FirmwareQuery{Views: e.views}, Users: users, Server: is,
		}.Routes(),
		cpeapi.Campaigns{
			Bus: e.bus, Cases: cases, Rows: campaigns, CPEs: rows, Users: users, Server: is,
		}.Routes(),
	)
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
