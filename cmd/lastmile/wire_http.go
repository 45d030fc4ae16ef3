package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/changes"
	"github.com/lastmile-isp/lastmile/httpapi/identity"
	"github.com/lastmile-isp/lastmile/httpapi/network"
	"github.com/lastmile-isp/lastmile/httpapi/payments"
	"github.com/lastmile-isp/lastmile/httpapi/subscribers"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// serve registers the metrics, makes the HTTP server, and opens the door to it. A program without the role api has
// metrics only.
func (a *App) serve(ctx context.Context, areas [][]httpapi.Route) error {
	a.metrics.MustRegister(httpapi.BreakerMetrics(a.breakerStates),
		paymentsapi.ReceiptMetrics(paymentsviews.ReceiptsQuery{Views: a.engines.views}, a.clock),
		paymentsapi.SuspenseMetrics(paymentsviews.ReceiptsQuery{Views: a.engines.views}, a.clock),
		paymentsapi.PromptMetrics(paymentsviews.PaymentsQuery{Views: a.engines.views}, a.clock),
		paymentsapi.RefundMetrics(paymentsviews.RefundsQuery{Views: a.engines.views}))
	a.metrics.MustRegister(changesapi.Metrics(a.changes)...)
	for _, c := range slices.Concat(httpapi.ProjectionMetrics(a.engines.shown), networkapi.RouterMetrics(
		networkviews.DevicesQuery{Views: a.engines.views}, networkviews.ServicesQuery{Views: a.engines.views})) {
		a.metrics.MustRegister(c)
	}
	if a.listener == nil {
		return nil
	}
	tokens := a.tokens()
	if err := tokens.Check(); err != nil {
		return err
	}
	var limiter vault.SeveralLimiter = a.storage.vault.Limits
	if a.storage.sole(a.roles) { // otherwise all replicas share the counters in PostgreSQL
		limiter = vault.NewLocalLimits(a.clock)
	}
	refusals := httpapi.NewRefusalMeter(httpapi.BusRefusals{Bus: a.engines.bus}, limiter, a.clock, a.logger)
	if err := a.life.start(ctx, "refusals", stopStorage, refusals); err != nil {
		return err
	}
	server, err := httpapi.New(httpapi.Config{
		ServiceDomain: a.cfg.ServiceDomain, Production: a.cfg.Production(), TrustedProxies: a.cfg.TrustedProxy,
		CursorKey: a.storage.vault.Key(secrets.Cursors),
		Limits: httpapi.Limits{
			User: a.cfg.RateLimitUser, Login: a.cfg.RateLimitLogin, Webhook: a.cfg.RateLimitWebhook,
		},

		Organizations: identityapi.OrganizationDirectory{Directory: a.engines.directory, Access: a.engines.access},
		Authenticator: tokens, Keys: a.keys(),
		Idempotency: a.storage.vault.Idempotency, Limiter: limiter, Visibility: a.engines,
		Storage:     a.storage.writes,
		Subscribers: subscribersapi.Names(subscribersviews.SubscribersQuery{Views: a.engines.views}),
		Refusals:    refusals, Metrics: a.metrics, Clock: a.clock, Logger: a.logger,
	}, areas...)
	if err != nil {
		return err
	}
	if err := a.startChanges(ctx); err != nil {
		return err
	}
	a.door.open(a.throughGate(server))
	l := a.listener
	a.life.started("http requests", stopServing, func(context.Context) { l.Stop() })
	a.life.started("open streams", stopServing, func(context.Context) { a.changes.End() })
	return nil
}

// systemRoutes gives the endpoints of health, readiness, projections, breakers and processes.
func (a *App) systemRoutes() []httpapi.Route {
	return append(httpapi.SystemAPI{
		Checks: a.checks(), Projections: a.engines.projections.Status, Breakers: a.breakerStates, Logger: a.logger,
		Name: a.nameBreakers, Parts: a.parts,
	}.Routes(), httpapi.ProcessesAPI{Processes: shownProcesses{a.engines.processes}}.Routes()...)
}

// breakerStates gives the state of all breakers as the API shows it.
func (a *App) breakerStates() []httpapi.BreakerState {
	states := a.breakers.States()
	out := make([]httpapi.BreakerState, len(states))
	for i, s := range states {
		out[i] = httpapi.BreakerState{Target: s.Target, Kind: s.Kind, State: string(s.State), Failures: s.Failures,
			OpenedAt: null.Time(s.OpenedAt), RetryAt: null.Time(s.RetryAt), OrgID: a.breakerOwner(s)}
		if s.LastError != "" {
			out[i].LastError = &s.LastError
		}
	}
	return out
}

// noteBreaker logs a change of an outside system's condition.
func (a *App) noteBreaker(s breaker.State) {
	a.noteRouter(s)
	a.tellBreaker(s)
	a.logger.Warn("outside system changed condition", "kind", s.Kind, "target", s.Target, "state", string(s.State),
		"failures", s.Failures)
}

// parts asks how the parts of the program do that are neither read models nor processes.
func (a *App) parts(ctx context.Context) []httpapi.Part { return httpapi.Parts(ctx, a.partChecks()) }

// saves fails while nothing can be saved, because the event store or the database takes nothing.
func (a *App) saves(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, savesLimit)
	defer cancel()
	return cmp.Or(a.probeWrites(ctx), a.storage.store.Ping(ctx))
}

// savesLimit bounds the question whether the event store answers, for which the reports of organizations wait.
const savesLimit = 2 * time.Second

// checks lists the dependencies that /readyz asks, by name.
func (a *App) checks() []httpapi.Check {
	checks := a.partChecks()
	if a.roles.has(roleProcesses) {
		checks = append(checks, httpapi.Check{Name: "processes", Probe: a.probeProcesses})
	}
	for _, s := range a.engines.projections.Status() {
		checks = append(checks, httpapi.Check{
			Name: s.Name, Probe: func(context.Context) error { return a.probeProjection(s.Name) },
		})
	}
	return checks
}

// The parts without which others cannot do their work.
const (
	databasePart = "postgres"
	logPart      = "eventstore"
)

// asksLog are the parts for which a directory in memory waits: it is read from the log, which is in the database.
var asksLog = []string{databasePart, logPart}

// partChecks lists those of them that are neither read models nor processes. Whether writes are taken and jobs wait is
// asked of the database.
func (a *App) partChecks() []httpapi.Check {
	checks := []httpapi.Check{
		{Name: databasePart, Probe: a.storage.db.Owner.Ping},
		{Name: "writes", Probe: a.probeWrites, WaitsFor: []string{databasePart}},
		{Name: logPart, Probe: a.probeLog, WaitsFor: a.logWaits()},
		{
			Name: identityviews.DirectoryName, WaitsFor: asksLog,
			Probe: func(ctx context.Context) error {
				return down(cmp.Or(a.engines.access.Fault(), old(ctx, a.engines.fresh)))
			},
		},
		{Name: "jobs", Probe: a.probeJobs, WaitsFor: []string{databasePart}},
	}
	if a.kept != nil {
		checks = append(checks, httpapi.Check{Name: "callbacks", Probe: a.probeCallbacks})
	}
	return append(checks, a.radiusChecks()...)
}

// down makes the failure of a check from the reason; nil for "".
func down(why string) error {
	if why == "" {
		return nil
	}
	return failure.NewUnavailable("stopped", "This part of the program has stopped. The log says why.", 0,
		fmt.Errorf("stopped: %s", why))
}

// probeWrites fails while the database takes no writes. It asks the watch, which writes whether anybody asks or not.
func (a *App) probeWrites(context.Context) error {
	switch a.storage.writes.State() {
	case postgres.WritesFull:
		return failure.NewUnavailable("database_full", "The database has no room left, and refuses every write.", 0,
			nil)
	case postgres.WritesReadOnly:
		return failure.NewUnavailable("database_read_only", "The database is read-only, and refuses every write.", 0,
			nil)
	case postgres.WritesAway:
		return failure.NewUnavailable("database_silent", "The database does not answer.", 0, nil)
	case postgres.WritesTaken:
	}
	return nil
}

// probeLog fails while the event store does not answer, and while its log ends before what this program has read of it.
func (a *App) probeLog(ctx context.Context) error {
	if err := a.storage.store.Ping(ctx); err != nil {
		return err
	}
	if err := a.engines.feed.Short(); err != nil {
		return failure.NewUnavailable("log_shorter",
			"The event store's log ends before what was read of it. Everything waits until it has that again.", 0, err)
	}
	return nil
}

// logWaits are the parts for which the log waits: its own node is in the database, one of somebody else is not.
func (a *App) logWaits() []string {
	if a.cfg.EventStoreURL != "" {
		return nil
	}
	return []string{databasePart}
}

// serves tells open pages what the database lets the program do, as the watch of writes knows it.
func (a *App) serves() changesapi.Serving {
	switch a.storage.writes.State() {
	case postgres.WritesAway:
		return changesapi.ServesNothing
	case postgres.WritesFull, postgres.WritesReadOnly:
		return changesapi.ServesReads
	case postgres.WritesTaken:
	}
	return changesapi.ServesAll
}

// probeCallbacks fails while callbacks wait on the disk because the inbox takes none.
func (a *App) probeCallbacks(context.Context) error {
	why := a.kept.Fault()
	if why == "" {
		return nil
	}
	return failure.NewUnavailable("callbacks_not_stored",
		"Callbacks about money wait on the disk, because the database does not take them. The log says why.", 0,
		errors.New(why))
}

// probeProjection fails when a read model has stopped, or when it does not show what it should: it is being built, it
// has not caught up since the start, or a newer version of the program has replaced it.
func (a *App) probeProjection(name string) error {
	for _, s := range a.engines.projections.Status() {
		if s.Name == name {
			return projectionFault(s)
		}
	}
	return nil
}

// projectionFault is the failure that a state of a read model means for readiness; nil when it can be read.
func projectionFault(s runner.Status) error {
	where := fmt.Errorf("at position %d of %d", s.Position, s.Head)
	switch {
	case s.State == runner.StateStopped:
		return down(fmt.Sprintf("at position %d: %s", s.Position, s.Error))
	case s.State == runner.StateOutdated:
		return failure.NewUnavailable("read_model_outdated",
			"A newer version of the program has replaced this read model. Stop this program.", 0, where)
	case s.State == runner.StateBuilding:
		if s.Rebuild != nil {
			where = fmt.Errorf("at position %d of %d", s.Rebuild.Position, s.Rebuild.Head)
		}
		return failure.NewUnavailable("read_model_not_built", "This read model is being built.", 0, where)
	case !s.CaughtUp:
		return failure.NewUnavailable("read_model_catching_up",
			"This read model does not show all events from before the start yet.", 0, where)
	}
	return nil
}

// probeProcesses fails when a process has stopped at an input that it cannot take.
func (a *App) probeProcesses(context.Context) error {
	for _, s := range a.engines.processes.Status() {
		if s.State == processrunner.StateStopped {
			return down(fmt.Sprintf("%s: %s", s.Name, s.Error))
		}
	}
	return nil
}

// probeJobs fails when due jobs have been waiting for two minutes, which means that no program works on them.
func (a *App) probeJobs(ctx context.Context) error {
	var waiting bool
	err := a.storage.db.Owner.QueryRow(ctx,
		`select exists (select from `+a.storage.db.Namespace.Schema("river")+`.river_job
		where state = 'available' and scheduled_at < $1)`, a.clock.Now().Add(-2*time.Minute)).Scan(&waiting)
	if err == nil && waiting {
		err = down("jobs wait for more than two minutes")
	}
	return err
}
