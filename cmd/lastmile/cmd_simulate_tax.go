package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/simulators/taxauthority"
)

// simulateTax is `lastmile simulate tax`: a tax authority that several programs may use.
type simulateTax struct {
	Addr   string `default:"127.0.0.1:8093" help:"Listen address; port 0 picks a free one."`
	Secret string `default:"" help:"Of the devices; empty accepts any."`
}

// Run simulates the tax authority until a signal. It is refused in production.
func (c simulateTax) Run(ctx context.Context, p program) error {
	cfg, err := readConfig(p.environ)
	if err != nil {
		return err
	}
	if cfg.Production() {
		return errors.New("APP_ENV=production: simulators are refused")
	}
	l := newLifecycle(p.logger(cfg))
	defer l.stop()
	sim := taxauthority.New(taxauthority.Config{
		Addr: c.Addr, Secret: c.Secret, Clock: clock.System(), Logger: l.logger,
	})
	if err := sim.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	l.started("simulator", stopServing, func(ctx context.Context) { _ = sim.Stop(ctx) })
	if _, err := fmt.Fprintln(p.out, sim.URL()); err != nil {
		return err
	}
	return l.wait(ctx)
}
