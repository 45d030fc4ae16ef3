// Package networkjobs makes the outside calls of the area network: it reads routers, compares them with the wanted
// state, writes the difference step by step, records each step, and polls the fleet. Package
// aggregates/network/routerplan decides the wanted state of a router and the steps to it.
package networkjobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Config is shared by the workers and Background; every field is required, except Gate, Overrides,
// Script and Garden.
type Config struct {
	Bus      *bus.Bus
	Views    *runner.Views
	DB       *postgres.DB
	Secrets  *vault.Secrets
	Tokens   *vault.CallbackSecrets
	Limiter  vault.Limiter // counts the reports of bootstrap scripts
	Gateway  *routeros.Gateway
	Breakers *breaker.Set
	Polls    *Polls
	Clock    clock.Clock
	// Gate keeps polls out while the clock is moved, so that no answer is measured over the move; nil is always open.
	Gate   *clock.Gate
	Logger *slog.Logger
	// Overrides makes a device's management address replace its tunnel address: outside production only
	// (docs/rules/network.md#router-inputs).
	Overrides bool
	// Script has the platform's values in bootstrap scripts and firewall rules.
	Script ScriptSettings

	// DNS lists the name servers that customers are told (ROUTER_DNS).
	DNS []string
	// ACS is the address of the CPE server that devices in management networks are told (ACS_CWMP_URL); empty = none.
	ACS string
	// CPE is the CPE server as management networks reach it through the tunnel (ACS_TUNNEL_ADDRESS); zero = not at all.
	CPE routerplan.CPEServer
	// Masquerade makes routers translate customers' addresses where no rule of the operator's does (ROUTER_NAT).
	Masquerade bool
	// Garden says what customers in the walled garden reach; zero = routers have none.
	Garden GardenSettings

	PollEvery  time.Duration // FLEET_POLL_INTERVAL
	DriftEvery time.Duration // DRIFT_CHECK_INTERVAL
	PollsKept  time.Duration // how long the history of polls is kept
}

// Workers make the outside calls of the area network. Safe for concurrent use.
type Workers struct {
	cfg      Config
	devices  networkviews.DevicesQuery
	services networkviews.ServicesQuery
	soon     chan soon
	phases   chan breaker.State
	owners   sync.Map // id of a device as text -> its organization
	looked   sync.Map // id of a device -> when it was asked for its bootstrap script
	pings    pings
}

// New dials nothing; Register and NewBackground put the workers to use.
func New(cfg Config) *Workers {
	return &Workers{
		cfg: cfg, devices: networkviews.DevicesQuery{Views: cfg.Views},
		services: networkviews.ServicesQuery{Views: cfg.Views}, soon: make(chan soon, 1024),
		phases: make(chan breaker.State, 4096),
	}
}

// slowRouter bounds an attempt of a job that reads a router as a whole, about 25 menus, and writes to it: a router that
// polls accept, with up to pollPatience for an answer, gets done. A router that does not answer ends the attempt at its
// first call.
const slowRouter = 5 * time.Minute

// Register adds the workers to the queue. Each job may be repeated after a crash at any step.
func (w *Workers) Register(r *jobrunner.Runner) {
	patient := jobrunner.Options{
		Queue: "routers", Timeout: slowRouter, MaxAttempts: 1000,
		Backoff: jobrunner.Doubling(time.Second, time.Minute),
	}
	jobrunner.AddWorker(r, w.ApplyService, patient)
	jobrunner.AddWorker(r, w.RemoveService, patient)
	jobrunner.AddWorker(r, w.ReconcileDevice, patient)
	jobrunner.AddWorker(r, w.ReconcileFirewall, patient)
	jobrunner.AddWorker(r, w.ReconcileSetup, patient)
	jobrunner.OnDiscarded(r, func(ctx context.Context, j commands.ReconcileDevice, c jobs.Cause, code string) error {
		return w.RunLost(ctx, j.RunID, c, code)
	})
	jobrunner.OnDiscarded(r, func(ctx context.Context, j commands.ReconcileFirewall, c jobs.Cause, code string) error {
		return w.RunLost(ctx, j.RunID, c, code)
	})
	jobrunner.OnDiscarded(r, func(ctx context.Context, j commands.ReconcileSetup, c jobs.Cause, code string) error {
		return w.RunLost(ctx, j.RunID, c, code)
	})
	jobrunner.AddWorker(r, w.RebootDevice, jobrunner.Options{
		Queue: "routers", Timeout: 30 * time.Second, MaxAttempts: 20,
	})
	jobrunner.AddWorker(r, w.VerifyReboot, jobrunner.Options{
		Queue: "routers", Timeout: 30 * time.Second, MaxAttempts: 5,
	})
	jobrunner.AddWorker(r, w.ProbeDevice, jobrunner.Options{
		Queue: "routers", Timeout: 30 * time.Second, MaxAttempts: 3,
	})
	jobrunner.AddWorker(r, w.CheckDrift, jobrunner.Options{Queue: "drift", Timeout: slowRouter, MaxAttempts: 1})
}

// platformActor is the actor of commands that no person caused.
var platformActor = events.Actor{Kind: events.ActorProcess, ID: "network"}

// reportPatience bounds the recording of an outcome; a cancelled job waits that long at most.
const reportPatience = 15 * time.Second

// report executes an outcome command on behalf of the actor who caused the job. use names its purpose: the same command
// and use act once in all attempts of the job. A cancelled job still reports: what a router did must not be lost.
func (w *Workers) report(ctx context.Context, cause jobs.Cause, use string, cmd commands.Command) (bus.Result, error) {
	meta := cause.Meta(cmd.CommandName() + " " + use)
	meta.Actor = actorOf(cause)
	return w.execute(ctx, cmd, meta)
}

// actorOf gives the actor who caused a job, or the platform for periodic work.
func actorOf(cause jobs.Cause) events.Actor {
	if cause.Actor.Kind == "" {
		return platformActor
	}
	return cause.Actor
}

// note executes a command about something observed on a router. A failure is only logged: the next poll observes it
// again.
func (w *Workers) note(ctx context.Context, org id.Organization, cmd commands.Command) {
	_, err := w.execute(ctx, cmd, commands.Meta{CommandID: id.New[id.Command](), OrgID: org, Actor: platformActor})
	if err != nil && ctx.Err() == nil && failure.KindOf(err) != failure.NotFound {
		w.cfg.Logger.WarnContext(ctx, "observation was not recorded", "command", cmd.CommandName(), "error", err)
	}
}

// execute runs a command with a context that outlives the job, for at most reportPatience.
func (w *Workers) execute(ctx context.Context, cmd commands.Command, meta commands.Meta) (bus.Result, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportPatience)
	defer cancel()
	return w.cfg.Bus.Execute(ctx, cmd, meta)
}

// lockRetry is the wait of a job that found its router locked by another one.
const lockRetry = 250 * time.Millisecond

// exclusively runs work as the only writer of a router. While another job writes, this one comes again later without
// using up an attempt. The lock of a program that died is free at once.
func (w *Workers) exclusively(ctx context.Context, device id.Device, work func(ctx context.Context) error) error {
	lock, got, err := w.cfg.DB.TryLock(ctx, "router "+device.String())
	switch {
	case err != nil:
		return err
	case !got:
		return jobrunner.Snooze(lockRetry)
	}
	defer lock.Unlock()
	return work(context.WithValue(ctx, lockKey{}, lock))
}

// lockKey is the context's key of the lock of the router that is worked on.
type lockKey struct{}

// alone fails when the lock of the router is lost, because another program may be the writer by now.
func alone(ctx context.Context) error {
	lock, ok := ctx.Value(lockKey{}).(*postgres.Lock)
	if !ok {
		return errors.New("a write to a router without its lock")
	}
	if err := lock.Ping(ctx); err != nil {
		return fmt.Errorf("the lock of the router is lost: %w", err)
	}
	return nil
}
