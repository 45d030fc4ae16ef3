// Package networkjobs does the outside calls of the area network: it reads routers, compares them with what they should
// be, writes the difference step by step with each step recorded, and asks them how they are. What should stand on a
// router and how it gets there is decided in aggregates/network/routerplan.
package networkjobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

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

// Config is what the workers need; all of it is required unless said.
type Config struct {
	Bus      *bus.Bus
	Views    *runner.Views
	DB       *postgres.DB
	Secrets  *vault.Secrets
	Tokens   *vault.CallbackSecrets
	Gateway  *routeros.Gateway
	Breakers *breaker.Set
	Polls    *Polls
	Clock    clock.Clock
	Logger   *slog.Logger
	// Overrides lets a device's management address stand for its tunnel address: outside production only
	// (docs/rules/network.md#router-inputs).
	Overrides bool
	// Script says what bootstrap scripts tell routers about the platform.
	Script ScriptSettings

	PollEvery  time.Duration // FLEET_POLL_INTERVAL
	DriftEvery time.Duration // DRIFT_CHECK_INTERVAL
	PollsKept  time.Duration // history of polls
}

// Workers make the outside calls. Safe for concurrent use.
type Workers struct {
	cfg      Config
	devices  networkviews.DevicesQuery
	services networkviews.ServicesQuery
	soon     chan soon
	phases   chan breaker.State
	owners   sync.Map // id of a device as text -> its organization
	looked   sync.Map // id of a device -> when it was asked for its bootstrap script
}

// New makes the workers.
func New(cfg Config) *Workers {
	return &Workers{
		cfg: cfg, devices: networkviews.DevicesQuery{Views: cfg.Views},
		services: networkviews.ServicesQuery{Views: cfg.Views}, soon: make(chan soon, 1024),
		phases: make(chan breaker.State, 4096),
	}
}

// Register adds the workers to the queue. Each may be repeated after a crash at any step.
func (w *Workers) Register(r *jobrunner.Runner) {
	patient := jobrunner.Options{
		Queue: "routers", Timeout: 30 * time.Second, MaxAttempts: 1000,
		Backoff: jobrunner.Doubling(time.Second, time.Minute),
	}
	jobrunner.AddWorker(r, w.ApplyService, patient)
	jobrunner.AddWorker(r, w.RemoveService, patient)
	jobrunner.AddWorker(r, w.ReconcileDevice, patient)
	jobrunner.AddWorker(r, w.ReconcileFirewall, patient)
	jobrunner.AddWorker(r, w.RebootDevice, jobrunner.Options{
		Queue: "routers", Timeout: 30 * time.Second, MaxAttempts: 20,
	})
	jobrunner.AddWorker(r, w.VerifyReboot, jobrunner.Options{
		Queue: "routers", Timeout: 30 * time.Second, MaxAttempts: 5,
	})
	jobrunner.AddWorker(r, w.ProbeDevice, jobrunner.Options{
		Queue: "routers", Timeout: 30 * time.Second, MaxAttempts: 3,
	})
	jobrunner.AddWorker(r, w.CheckDrift, jobrunner.Options{Queue: "drift", Timeout: 30 * time.Second, MaxAttempts: 1})
}

// platformActor acts when nobody else does.
var platformActor = events.Actor{Kind: events.ActorProcess, ID: "network"}

// reportPatience bounds the recording of an outcome.
const reportPatience = 15 * time.Second

// report executes an outcome command for the one who caused the job, named by its use: the same use acts once in all
// attempts of the job. It outlives a cancelled job: what a router did must not be lost.
func (w *Workers) report(ctx context.Context, cause jobs.Cause, use string, cmd commands.Command) (bus.Result, error) {
	meta := cause.Meta(cmd.CommandName() + " " + use)
	meta.Actor = actorOf(cause)
	return w.execute(ctx, cmd, meta)
}

// actorOf is who acts through a job.
func actorOf(cause jobs.Cause) events.Actor {
	if cause.Actor.Kind == "" {
		return platformActor
	}
	return cause.Actor
}

// note executes a command that nobody asked for: what was observed about a router.
func (w *Workers) note(ctx context.Context, org id.Organization, cmd commands.Command) {
	_, err := w.execute(ctx, cmd, commands.Meta{CommandID: id.New[id.Command](), OrgID: org, Actor: platformActor})
	if err != nil && ctx.Err() == nil && failure.KindOf(err) != failure.NotFound {
		w.cfg.Logger.WarnContext(ctx, "an observation was not recorded", "command", cmd.CommandName(), "error", err)
	}
}

// execute runs a command beyond the end of the job that found its facts.
func (w *Workers) execute(ctx context.Context, cmd commands.Command, meta commands.Meta) (bus.Result, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportPatience)
	defer cancel()
	return w.cfg.Bus.Execute(ctx, cmd, meta)
}

// lockRetry is when a job that found its router taken looks again.
const lockRetry = 250 * time.Millisecond

// exclusively runs work as the one writer of a router. While another one writes the job comes again later; the lock of
// a program that died is free at once.
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

// lockKey is where a context carries the lock of the router that is worked on.
type lockKey struct{}

// alone fails when the lock of the router is lost: another program may be its writer by now.
func alone(ctx context.Context) error {
	lock, ok := ctx.Value(lockKey{}).(*postgres.Lock)
	if !ok {
		return errors.New("a write to a router without its lock")
	}
	if err := lock.Conn().Ping(ctx); err != nil {
		return fmt.Errorf("the lock of the router is lost: %w", err)
	}
	return nil
}
