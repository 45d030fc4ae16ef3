package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// simulateCommands are `lastmile simulate ...`.
type simulateCommands struct {
	Provider simulateProvider `cmd:"" help:"A mobile-money provider, driven over HTTP under /sim."`
}

// simulateProvider is `lastmile simulate provider`.
type simulateProvider struct {
	Addr string `default:"127.0.0.1:8090" help:"Listen address; port 0 picks a free one."`
	Seed uint64 `default:"1" help:"Ids, receipt numbers and faults follow from it."`
}

// Run simulates until a signal. Production has a real provider.
func (c simulateProvider) Run(ctx context.Context, p program) error {
	cfg, err := readConfig(p.environ)
	if err != nil {
		return err
	}
	if cfg.Production() {
		return errors.New("APP_ENV=production: simulators are refused")
	}
	l := newLifecycle(p.logger(cfg))
	defer l.stop()
	sim := provider.New(provider.Config{Addr: c.Addr, Seed: c.Seed, Clock: clock.System(), Logger: l.logger})
	if err := sim.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	l.started("simulator", stopServing, func(ctx context.Context) { _ = sim.Stop(ctx) })
	if _, err := fmt.Fprintln(p.out, sim.URL()); err != nil {
		return err
	}
	return l.wait(ctx)
}
