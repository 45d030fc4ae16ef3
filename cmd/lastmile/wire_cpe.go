package main

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/gateways/genieacs/script"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/cpe"
	"github.com/lastmile-isp/lastmile/internal/egress"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/cpe"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/cpe/campaigning"
	"github.com/lastmile-isp/lastmile/processmanagers/cpe/firmwareremoval"
	"github.com/lastmile-isp/lastmile/processmanagers/cpe/following"
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
			cpeviews.CPEs{}, cpeviews.Operations{}, cpeviews.Firmware{}, cpeviews.Campaigns{}, cpeviews.Provisions{},
		},
		processes: []processmanagers.Any{
			operating.Process(), following.Process(), campaigning.Process(), provisioning.Process(),
			onusetup.Process(), onurelease.Process(), firmwareremoval.Process(),
		},
		wire: (*App).wireCPE,
	}
}

// registerCPE adds CPEs, the writes to them, and firmware.
func registerCPE(b *bus.Bus) {
	bus.Register(b, cpe.CPEs())
	bus.Register(b, cpe.Operations())
	bus.Register(b, cpe.FirmwareFiles())
	bus.Register(b, cpe.Campaigns())
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
	gateway, err := a.cpeGateway()
	if err != nil {
		return nil, err
	}
	faults := cpejobs.Faults{
		Gateway: gateway, Informs: informs, Rows: rows.Some, Pauses: a.cpePauses(gateway, informs), Clock: a.clock,
		Logger: a.logger, Every: a.cfg.CPEFaultPollInterval,
	}
	if gateway != nil {
		faults.Register(a.engines.jobs)
	}
	uploads := cpejobs.Uploads{Informs: informs}
	provisions := cpeviews.ProvisionsQuery{Views: a.engines.views}
	server := a.wireCPEServer(gateway, informs, uploads)
	onus, optical := a.wireOnus(server, rows, operations)
	cases := cpecases.CPEs{
		Bus: a.engines.bus, Told: a.engines.told, Passwords: cpecases.NewPasswords(a.storage.vault.Secrets),
		Services: subscribersviews.SubscriptionsQuery{Views: a.engines.views},
		Secrets:  a.storage.vault.Secrets, Informs: informs, SignIns: a.signIns(informs), Onus: onus, Logger: a.logger,
	}
	return [][]httpapi.Route{
		cpeapi.API{
			Cases: cases, Rows: rows, Informs: informs, Wifi: operations.LastWifi, Onu: operations.AskedOnu,
			Clock: a.clock, Terminals: a.cfg.OLTURL != "",
		}.Routes(),
		cpeapi.Dashboards{
			Firmware: a.firmwareOfCPEs(rows), CountSince: cpejobs.NewCounts(informs).Since, Clock: a.clock,
		}.Routes(),
		cpeapi.Operations{
			CPEs: rows, Rows: operations, Users: identityviews.UsersQuery{Views: a.engines.views}.Names,
		}.Routes(),
		a.cpeWrites(rows, operations, server).Routes(),
		cpeapi.Faults{Cases: cpecases.Faults{Bus: a.engines.bus, Store: faults}, List: faults.List}.Routes(),
		cpeapi.Uploads{Cases: cpecases.Uploads{
			Secrets: a.storage.vault.Secrets, Count: uploads.Count,
		}}.Routes(),
		cpeapi.Identification{
			Cases: cases, Key: a.cfg.ACSInternalKey, Version: genieacs.OwnVersion,
		}.Routes(),
		a.wireFirmware(informs, rows, server),
		cpeapi.Provisions{
			Cases: cpecases.Provisions{
				Bus: a.engines.bus, Ready: server.Ready, Check: a.faultOfScript, Limiter: a.storage.vault.Limits,
			},
			Rows: provisions, Views: a.engines.views, Users: identityviews.UsersQuery{Views: a.engines.views}.Names,
		}.Routes(),
		optical,
	}, nil
}

// firmwareOfCPEs counts versions in memory; where the memory cannot say, in the read model.
func (a *App) firmwareOfCPEs(rows cpeviews.CPEsQuery) func(context.Context, id.Organization) (map[string]int, error) {
	return func(ctx context.Context, org id.Organization) (map[string]int, error) {
		if a.engines.indexed.Fault() == "" {
			if counts, known := a.engines.index.Firmware(org); known {
				return counts, nil
			}
		}
		return rows.Firmware(ctx, org)
	}
}

// signIns makes what lets CPEs in at the CPE server; nil when all are.
func (a *App) signIns(informs *cpejobs.Informs) *cpecases.SignIns {
	if a.cfg.CPESignIn != "on" {
		return nil
	}
	return cpecases.NewSignIns(a.clock, func(i events.CpeIdentity) string {
		return genieacs.Username(i.OUI, i.ProductClass, i.SerialNumber)
	}, informs.Refused)
}

// cpeWrites makes the endpoints of writes.
func (a *App) cpeWrites(
	rows cpeviews.CPEsQuery, operations cpeviews.OperationsQuery, server cpeServer,
) cpeapi.Writes {
	base := a.cfg.CPEUploadURL
	if base == "" && !a.cfg.Production() {
		base = a.ownURL()
	}
	return cpeapi.Writes{
		Cases: cpecases.Operations{
			Bus: a.engines.bus, Secrets: a.storage.vault.Secrets, Waiting: operations.Waiting, Clock: a.clock,
			Limiter: a.storage.vault.Limits, Allows: a.cpeMayReach, UploadBase: base,
		},
		Networks: server.wifi.Networks,
		Rows:     operations, CPEs: rows, Server: a.cfg.ACSNBIURL != "", Files: a.cfg.ACSFSURL != "",
		Uploads: base != "",
	}
}

// cpeGateway makes the gateway to the CPE server; nil without one.
func (a *App) cpeGateway() (*genieacs.Server, error) {
	if a.cfg.ACSNBIURL == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	gateway, err := genieacs.New(genieacs.Config{
		NBI: a.cfg.ACSNBIURL, Guard: a.breakers, Clock: a.clock, Logger: a.logger,
		Turns: a.turns,
	})
	if err != nil {
		return nil, err
	}
	a.life.startedBeside("gateway to the cpe server", stopStorage, func(context.Context) { gateway.Close() })
	return gateway, nil
}

// wireCPEServer registers the jobs that use the CPE server. Without a server the jobs are known all the same: what was
// asked for earlier ends. It gives the server.
func (a *App) wireCPEServer(
	gateway *genieacs.Server, informs *cpejobs.Informs, uploads cpejobs.Uploads,
) cpeServer {
	rows, operations := cpeviews.CPEsQuery{Views: a.engines.views}, cpeviews.OperationsQuery{Views: a.engines.views}
	secrets := a.storage.vault.Secrets
	none := cpejobs.NoServer{}
	server, scripts := cpeServer{none, none, none, none}, a.cpeScripts(gateway)
	if gateway != nil {
		acs := cpejobs.ACS{Gateway: gateway, Clock: a.clock, Files: a.cfg.ACSFSURL}
		server = cpeServer{acs, acs, acs, acs}
		cpejobs.Preparation{Gateway: gateway, Provisions: scripts, Logger: a.logger}.Register(a.engines.jobs)
		cpejobs.Sync{
			Bus: a.engines.bus, Gateway: gateway, Informs: informs, Rows: rows.Some, Clock: a.clock, Logger: a.logger,
			Every: a.cfg.CPESyncInterval,
		}.Register(a.engines.jobs)
	}
	scripts.Register(a.engines.jobs)
	cpejobs.Following{
		Bus: a.engines.bus, Gateway: gateway, Informs: informs, Rows: rows, Operations: operations,
		Pauses: a.cpePauses(gateway, informs), Secrets: secrets, Queue: a.engines.jobs,
	}.Register(a.engines.jobs)
	cpejobs.Operations{
		Bus: a.engines.bus, Rows: operations, CPE: rows.Any, Values: secrets.Get, Drop: secrets.Delete,
		Server: server.Server, Clock: a.clock, Files: cpeviews.FirmwareQuery{Views: a.engines.views},
		Campaigns: cpeviews.CampaignsQuery{Views: a.engines.views}, Uploads: uploads,
		Password: func(ctx context.Context, ref id.Secret) (string, error) {
			return cpejobs.PasswordOf(ctx, secrets, ref)
		},
	}.Register(a.engines.jobs)
	return server
}

// cpeScripts brings scripts of organizations to the CPE server; without one it fails.
func (a *App) cpeScripts(gateway *genieacs.Server) cpejobs.Provisions {
	rows := cpeviews.ProvisionsQuery{Views: a.engines.views}
	scripts := cpejobs.Provisions{
		Bus: a.engines.bus, Row: rows.Any, Held: rows.Held, Server: cpejobs.NoServer{}, Logger: a.logger,
	}
	if gateway != nil {
		scripts.Server = gateway
	}
	return scripts
}

// cpePauses ends pauses at the CPE server.
func (a *App) cpePauses(gateway *genieacs.Server, informs *cpejobs.Informs) cpejobs.Pauses {
	rows := cpeviews.CPEsQuery{Views: a.engines.views}
	return cpejobs.Pauses{
		Gateway: gateway, Informs: informs,
		Devices: func(ctx context.Context, org id.Organization, max int) ([]cpeviews.CPERow, error) {
			return rows.List(ctx, org, cpeviews.CPEFilter{}, cpeviews.CPEKey{}, max)
		},
		Scripts: cpeviews.ProvisionsQuery{Views: a.engines.views}.Stored,
		Refuse:  a.cpeScripts(gateway).Refuse,
	}
}

// wireFirmware registers the jobs of campaigns and files, and makes the endpoints of firmware.
func (a *App) wireFirmware(
	informs *cpejobs.Informs, rows cpeviews.CPEsQuery, server cpeServer,
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
	cpejobs.FirmwareFiles{Bus: e.bus, Campaigns: campaigns, Server: server.files}.Register(e.jobs)
	cases := cpecases.Firmware{
		Bus: e.bus, Ready: server.Ready, Store: server.Store, Delete: server.files.Delete, CPEs: rows,
		Campaigns: campaigns, Settings: a.engines.settings, Clock: a.clock, Logger: a.logger,
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

// faultOfScript gives the first fault of an organization's script; line 0 = it has none. Fails: parsing_busy.
func (a *App) faultOfScript(
	ctx context.Context, org id.Organization, source, tagPrefix string,
) (line int, text string, err error) {
	_, err = script.Counted(ctx, a.turns, org, source, tagPrefix)
	var fault *script.Fault
	if errors.As(err, &fault) {
		return fault.Line, fault.Text, nil
	}
	return 0, "", err
}

// cpeMayReach refuses addresses of the CPE itself, of its neighbours on the wire, and of the platform. A file server in
// the operator's own network may have a private address. Simulated CPEs load from this machine.
func (a *App) cpeMayReach(address string) error {
	parsed, err := url.Parse(address)
	if err != nil {
		return errors.New("must be an address")
	}
	guard := egress.Guard{Development: !a.cfg.Production(), Private: true, Domain: a.cfg.ServiceDomain}
	err = guard.CheckURL(parsed)
	if errors.Is(err, egress.ErrRefused) {
		return errors.New("must not be an address of the device itself, of its neighbours or of the platform")
	}
	return err //nolint:wrapcheck // the text goes behind the name of a field
}
