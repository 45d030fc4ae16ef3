package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// simulateACS is `lastmile simulate acs`: a CPE server with devices that inform by themselves.
type simulateACS struct {
	Addr      string `default:"127.0.0.1:8096" help:"Of the northbound interface and of /sim; port 0 picks a free one."`
	FilesAddr string `default:"127.0.0.1:8097" help:"Listen address of the file server; port 0 picks a free one."`
	Seed      uint64 `default:"1" help:"Serial numbers, keys and results follow from it."`
	Devices   int    `default:"2" help:"Devices at the beginning, of the newer and the older tree in turns."`
	Identify  string `default:"" help:"Address of POST /internal/cpe/identify; empty leaves the extension out."`
	SignIn    string `default:"" help:"The expression of cwmp.auth; empty lets every device in."`
	Key       string `default:"" help:"Sent by the extension as X-Internal-Key; that of ACS_INTERNAL_KEY when empty."`
}

// Run simulates the CPE server until a signal. It is refused in production.
func (c simulateACS) Run(ctx context.Context, p program) error {
	cfg, err := readConfig(p.environ)
	if err != nil {
		return err
	}
	if cfg.Production() {
		return errors.New("APP_ENV=production: simulators are refused")
	}
	l := newLifecycle(p.logger(cfg))
	defer l.stop()
	sim := acs.New(acs.Config{
		Addr: c.Addr, FilesAddr: c.FilesAddr, Seed: c.Seed, Clock: clock.System(), Logger: l.logger, Live: true,
		Identify: acs.Identify{URL: c.Identify, Key: cmp.Or(c.Key, cfg.ACSInternalKey.Reveal())},
		SignIn:   c.SignIn,
		Devices:  c.devices(),
	})
	if err := sim.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	l.started("simulator", stopServing, func(ctx context.Context) { _ = sim.Stop(ctx) })
	_, _ = fmt.Fprintln(p.out, sim.URL())
	if _, err := fmt.Fprintf(p.out, "files  %s\n", sim.FilesURL()); err != nil {
		return err
	}
	for _, d := range sim.Devices() {
		if _, err := fmt.Fprintf(p.out, "%s  %s\n", d.ID, d.Root); err != nil {
			return err
		}
	}
	return l.wait(ctx)
}

// devices are those that the flags describe.
func (c simulateACS) devices() []acs.DeviceConfig {
	var list []acs.DeviceConfig
	for i := range c.Devices {
		one := acs.DeviceConfig{Serial: fmt.Sprintf("SIM%02d%06d", c.Seed%100, i+1)}
		if i%2 == 1 {
			one.Root = "InternetGatewayDevice"
		}
		list = append(list, one)
	}
	return list
}
