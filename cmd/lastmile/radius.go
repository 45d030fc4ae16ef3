package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/radius"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// radiusParts answers routers.
type radiusParts struct {
	directory *directory.Directory
	refusals  *directory.Refusals
	shows     *runner.Memory    // fills the directory from the log
	loader    *directory.Loader // brings passwords and secrets
	server    *radius.Server
	logger    *slog.Logger
	loops     *loop.Group
}

// startRadius starts to answer routers, in a program that has the role and the addresses for it.
func (a *App) startRadius(ctx context.Context) error {
	if !a.answersRouters() {
		return nil
	}
	p := &radiusParts{refusals: directory.NewRefusals(), logger: a.logger, loops: loop.New(a.logger)}
	p.directory = directory.New(directory.Config{
		ClassKey: a.storage.vault.Key(secrets.Classes), Refusals: p.refusals, Development: !a.cfg.Production(),
		SetNAS: func(list []*radius.NAS) { p.server.SetNAS(list) },
	})
	var err error
	p.server, err = radius.New(radius.Config{
		AccessAddr: a.cfg.RadiusAuthAddr, AccountingAddr: a.cfg.RadiusAcctAddr, Directory: p.directory,
		Accounting: unrecorded{}, Clock: a.clock, Logger: a.logger, Metrics: a.metrics,
	})
	if err != nil {
		return err
	}
	p.loader = directory.NewLoader(p.directory, a.storage.vault.Secrets, a.logger)
	p.shows = runner.NewMemory(p.directory, a.engines.feed, a.logger)
	if err := a.life.startBeside(ctx, "access directory", stopEngines, p.shows); err != nil {
		return err
	}
	if err := a.life.startBeside(ctx, "radius", stopEngines, p); err != nil {
		return fmt.Errorf("RADIUS_AUTH_ADDR, RADIUS_ACCT_ADDR: %w", err)
	}
	a.radius = p
	return nil
}

// answersRouters reports whether this program has RADIUS.
func (a *App) answersRouters() bool { return a.roles.has(roleRadius) && a.cfg.RadiusAuthAddr != "" }

// incompletePause is how often a directory that has stopped at an event is looked at.
const incompletePause = time.Second

// Start opens the ports when the directory knows everybody and their passwords. A directory that has stopped at an
// event before it was complete would refuse customers who have paid. So routers get no answer until it goes on, which
// leaves the sessions that they have alone, and the rest of the program starts without it.
func (p *radiusParts) Start(ctx context.Context) error {
	return p.loops.Start(ctx, func(ctx context.Context) error {
		if p.shows.Status().CaughtUp {
			return p.open(ctx)
		}
		p.logger.ErrorContext(ctx, "routers are not answered", "error", p.shows.Fault())
		p.loops.Go("radius waits for its directory", func(ctx context.Context) {
			for !p.shows.Status().CaughtUp {
				if !loop.Sleep(ctx, incompletePause) {
					return
				}
			}
			if err := p.open(ctx); err != nil && ctx.Err() == nil {
				p.logger.ErrorContext(ctx, "routers are not answered", "error", err)
			}
		})
		return nil
	})
}

// open fetches the passwords and opens the ports.
func (p *radiusParts) open(ctx context.Context) error {
	if err := p.loader.Start(ctx); err != nil {
		return err
	}
	if err := p.server.Start(ctx); err != nil {
		p.loader.Stop()
		return err
	}
	p.logger.InfoContext(ctx, "radius", "access", p.server.AccessAddr().String(), "accounting",
		p.server.AccountingAddr().String())
	return nil
}

// Stop closes the ports.
func (p *radiusParts) Stop() {
	p.loops.Stop()
	p.server.Stop()
	p.loader.Stop()
}

// unrecorded takes no accounting record: nothing makes records durable yet, and only what is durable is acknowledged.
// Routers repeat their records.
type unrecorded struct{}

// Take implements radius.Accounting.
func (unrecorded) Take(r *radius.Record) { r.Refuse() }

// radiusChecks is the readiness of sign-ins. A directory that has stopped at an event answers from what it knew before.
func (a *App) radiusChecks() []httpapi.Check {
	if !a.answersRouters() {
		return nil
	}
	return []httpapi.Check{{Name: directory.Name, Probe: func(context.Context) error {
		if a.radius == nil {
			return down("not started")
		}
		return down(a.radius.shows.Fault())
	}}}
}
