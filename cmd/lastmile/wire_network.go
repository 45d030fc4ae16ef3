package main

import (
	"context"
	"maps"
	"slices"

	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/network"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/access"
	"github.com/lastmile-isp/lastmile/jobs/network"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/network/provisioning"
	"github.com/lastmile-isp/lastmile/processmanagers/network/rebooting"
	"github.com/lastmile-isp/lastmile/processmanagers/network/reconciling"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases/network"
)

// networkArea gives routers, services and address plans.
func networkArea() area {
	return area{
		aggregates: registerNetwork,
		readModels: []runner.Projection{networkviews.Devices{}, networkviews.Services{}, networkviews.History{}},
		processes:  []processmanagers.Any{provisioning.Process(), reconciling.Process(), rebooting.Process()},
		wire:       (*App).wireNetwork,
	}
}

// registerNetwork adds routers, services, address plans and reconcile runs.
func registerNetwork(b *bus.Bus) {
	bus.Register(b, network.Devices())
	bus.Register(b, network.Services())
	bus.Register(b, network.AddressPlans())
	bus.Register(b, network.Runs())
	bus.Register(b, network.Topologies())
}

// wireNetwork makes the gateway to routers, registers the jobs of the area, and makes its endpoints. Fleet polls and
// drift checks begin when jobs can be enqueued.
func (a *App) wireNetwork(ctx context.Context) ([][]httpapi.Route, error) {
	gateway, err := routeros.New(routeros.Config{
		Guard: a.breakers, Policy: routerPolicy(a.cfg), Dial: a.dialRouter, Clock: a.clock, Logger: a.logger,
		CalledEvery: a.cfg.FleetPollInterval,
	})
	if err != nil {
		return nil, err
	}
	a.life.startedBeside("router gateway", stopStorage, func(context.Context) { gateway.Close() })
	polls, err := networkjobs.OpenPolls(ctx, a.storage.db)
	if err != nil {
		return nil, err
	}
	a.polls = polls
	workers := networkjobs.New(networkjobs.Config{
		Bus: a.engines.bus, Views: a.engines.views, DB: a.storage.db, Secrets: a.storage.vault.Secrets,
		Tokens: a.storage.vault.CallbackSecrets, Gateway: gateway, Breakers: a.breakers,
		Polls: polls, Clock: a.clock, Gate: &a.gates.jobs, Logger: a.logger,
		Overrides: !a.cfg.Production(), Script: a.scriptSettings(),
		DNS: a.cfg.routerDNS(), Masquerade: a.cfg.RouterNAT == "auto", ACS: a.cfg.ACSCWMPURL,
		CPE:       a.cfg.cpeServer(),
		Garden:    a.gardenSettings(),
		Limiter:   a.storage.vault.Limits,
		PollEvery: a.cfg.FleetPollInterval, DriftEvery: a.cfg.DriftCheckInterval, PollsKept: a.cfg.FleetHistoryKept,
	})
	workers.Register(a.engines.jobs)
	a.routers.Store(workers)
	a.rounds = networkjobs.NewBackground(workers, a.engines.jobs, a.roles.has(roleJobs))
	api := a.networkAPI(workers, polls, gateway)
	return [][]httpapi.Route{api.Routes(), networkapi.Bootstrap{Reports: workers}.Routes()}, nil
}

// networkAPI makes the endpoints of routers and services, and the use cases behind them.
func (a *App) networkAPI(
	workers *networkjobs.Workers, polls *networkjobs.Polls, gateway *routeros.Gateway,
) networkapi.API {
	b, views := a.engines.bus, a.engines.views
	devices, services := networkviews.DevicesQuery{Views: views}, networkviews.ServicesQuery{Views: views}
	history := networkviews.HistoryQuery{Views: views}
	return networkapi.API{
		Bus: b, Devices: devices, Services: services, History: history,
		DeviceCases: networkcases.Devices{
			Bus: b, Secrets: a.storage.vault.Secrets, Soon: workers.Soon,
			Forget: func(device id.Device) { a.forgetRouter(gateway, polls, device) },
			Script: liveRouters{workers}.BootstrapScript,
			RevokeReports: func(ctx context.Context, device id.Device) error {
				return a.storage.vault.CallbackSecrets.Revoke(ctx, networkjobs.TokenBootstrap, device.UUID())
			},
			Limiter:             a.storage.vault.Limits,
			Count:               devices.Count,
			PerOrganization:     a.cfg.RoutersPerOrganization,
			CountAt:             devices.CountAt,
			PerAddress:          a.routersPerAddress(),
			SecretLength:        a.radiusSecretLength(),
			ManagementAddresses: !a.cfg.Production(),
		},
		ServiceCases: networkcases.Services{Bus: b, Services: services, Routers: workers},
		RunCases:     networkcases.Runs{Bus: b, Devices: devices, History: history, Routers: workers},
		Routers:      liveRouters{workers}, Fleet: polls, Online: whoIsOnline{a},
		Users:            identityviews.UsersQuery{Views: views}.Names,
		Holders:          subscribersviews.SubscriptionsQuery{Views: views}.Holders,
		BootstrapVersion: networkjobs.BootstrapVersion,
		Clock:            a.clock,
	}
}

// whoIsOnline reads telemetry, which is opened after this area is wired.
type whoIsOnline struct{ app *App }

// CustomersAt implements networkapi.Online.
func (w whoIsOnline) CustomersAt(
	ctx context.Context, org id.Organization, devices []id.Device,
) (map[id.Device]int, error) {
	return w.app.telemetry.CustomersAt(ctx, org, devices)
}

// SessionsOn implements networkapi.Online. Sessions tell the name of their server, which has its service in it.
func (w whoIsOnline) SessionsOn(
	ctx context.Context, org id.Organization, services map[id.Service]id.Device,
) (map[id.Service]int, error) {
	at := make(map[telemetry.Place]id.Service, 2*len(services))
	for service, device := range services {
		for _, server := range routerplan.ServerNames(service) {
			at[telemetry.Place{Device: device, Server: server}] = service
		}
	}
	counts, err := w.app.telemetry.SessionsAt(ctx, org, slices.Collect(maps.Keys(at)))
	out := make(map[id.Service]int, len(counts))
	for place, n := range counts {
		out[at[place]] += n
	}
	return out, err
}

// routersPerAddress is how many routers an organization may have at one WAN address: 8, or any number outside
// production, where simulated routers share this machine's address (docs/rules/access-radius.md#floods).
func (a *App) routersPerAddress() int {
	if a.cfg.Production() {
		return 8
	}
	return 0
}

// radiusSecretLength is how many characters a new RADIUS secret has at least: 16, or one outside production, where
// anybody may try the demo with a short one (docs/rules/access-radius.md#known-routers).
func (a *App) radiusSecretLength() int {
	if a.cfg.Production() {
		return 16
	}
	return 1
}

// startRounds begins fleet polls and drift checks, and the upgrade of what older versions recorded. It is called when
// jobs can be enqueued.
func (a *App) startRounds(ctx context.Context) error {
	if err := a.life.startBeside(ctx, "router rounds", stopEngines, a.rounds); err != nil || !a.roles.has(roleJobs) {
		return err
	}
	return a.startNetworkUpgrade(ctx)
}

// liveRouters asks routers while a request waits.
type liveRouters struct{ *networkjobs.Workers }

// BootstrapScript makes the script; the actor of meta is recorded when it needs new credentials.
func (l liveRouters) BootstrapScript(
	ctx context.Context, device id.Device, meta commands.Meta,
) (script string, radius id.Secret, err error) {
	return l.Workers.BootstrapScript(ctx, device, jobs.Cause{
		OrgID: meta.OrgID, Actor: meta.Actor, CorrelationID: meta.CorrelationID, JobID: id.Any(meta.CommandID),
	})
}

// routerPolicy says which addresses may be dialled: in production those of the tunnel alone
// (docs/rules/engine.md#addresses-we-dial).
func routerPolicy(cfg Config) routeros.Policy {
	if cfg.Production() {
		return routeros.Within(commands.TunnelPlan)
	}
	return routeros.Anywhere
}

// scriptSettings gives the platform's addresses and policies for the bootstrap script.
func (a *App) scriptSettings() networkjobs.ScriptSettings {
	s := networkjobs.ScriptSettings{
		Concentrator: a.cfg.TunnelHost, ConcentratorPort: a.cfg.TunnelPort, RadiusHost: commands.TunnelGateway.String(),
		AllowReboot: a.cfg.RouterAllowReboot,
	}
	if s.Concentrator == "" {
		s.Concentrator = a.cfg.ServiceDomain
	}
	switch own := a.ownURL(); {
	case a.cfg.Production():
		s.ReportURL = "https://" + a.cfg.ServiceDomain + networkapi.BootstrapPath
	case own != "":
		s.ReportURL = own + networkapi.BootstrapPath
	}
	return s
}

// forgetRouter drops connections, breaker, polls and memory of a router that was decommissioned.
func (a *App) forgetRouter(gateway *routeros.Gateway, polls *networkjobs.Polls, device id.Device) {
	gateway.Forget(device.String())
	a.breakers.Forget(routeros.BreakerKind, device.String())
	a.breakers.Forget(accessjobs.BreakerKind, device.String())
	if w := a.routers.Load(); w != nil {
		w.Forget(device)
	}
	if err := polls.Forget(context.Background(), device); err != nil {
		a.logger.Warn("polls of a deleted router stay", "device_id", device, "error", err)
	}
}

// noteRouter records that a router became unreachable or recovered, by the state of its breaker.
func (a *App) noteRouter(s breaker.State) {
	if w := a.routers.Load(); w != nil {
		w.NoteBreaker(s)
	}
}

// breakerOwner is the organization whose router a breaker guards, "" for the platform's own systems.
func (a *App) breakerOwner(s breaker.State) string {
	if w := a.routers.Load(); w != nil && (s.Kind == routeros.BreakerKind || s.Kind == accessjobs.BreakerKind) {
		return w.OwnerOf(s.Target)
	}
	return ""
}
