package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/simulators/provider"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// simulateCommands has the sub-commands of `lastmile simulate`, all refused in production.
type simulateCommands struct {
	Provider simulateProvider `cmd:"" help:"A mobile-money provider, driven over HTTP under /sim."`
	Router   simulateRouter   `cmd:"" help:"Routers, driven over HTTP under /sim."`
	Tax      simulateTax      `cmd:"" help:"A tax authority that signs invoices, driven over HTTP under /sim."`
	ACS      simulateACS      `cmd:"" name:"acs" help:"A CPE server with devices, driven over HTTP under /sim."`
	// Terminals is the system of an optical line terminal.
	Terminals simulateTerminals `cmd:"" help:"An optical line terminal, driven over HTTP under /sim."`
	Handset   simulateHandset   `cmd:"" help:"Customers who sign in at a RADIUS server, driven over HTTP under /sim."`
}

// simulateProvider is `lastmile simulate provider`: one simulator that several programs may use.
type simulateProvider struct {
	Addr string `default:"127.0.0.1:8090" help:"Listen address; port 0 picks a free one."`
	Seed uint64 `default:"1" help:"Ids, receipt numbers and faults follow from it."`
	// Sandbox is the provider's sandbox, which takes the addresses of a shortcode as often as they are registered.
	Sandbox bool `help:"Paybill addresses may be registered again, as in the provider's sandbox."`
}

// Run simulates the provider until a signal. It is refused in production.
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
	sim := provider.New(provider.Config{
		Addr: c.Addr, Seed: c.Seed, Clock: clock.System(), Logger: l.logger, Sandbox: c.Sandbox,
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

// simulateRouter is `lastmile simulate router`: routers that answer on loopback ports.
type simulateRouter struct {
	Addr     string   `default:"127.0.0.1:8091" help:"Listen address of the control surface; port 0 picks a free one."`
	Seed     uint64   `default:"1" help:"Counters, addresses and faults follow from it."`
	Versions []string `default:"7.16" help:"One router of each version, such as 6.49.10,7.6,7.16,7.23.7."`
	Password string   `default:"" help:"Of the user admin."`
	Port     int      `default:"0" help:"First of each router's ports (www, www-ssl, api, api-ssl); 0 picks free."`
	// Radius is empty for routers whose customers imaginary servers check.
	Radius string `default:"" help:"RADIUS server behind 10.99.0.1 in the routers' settings, as HOST or HOST:PORT."`
	// AccountingPort of the RADIUS server.
	AccountingPort uint16 `default:"0" help:"Of the RADIUS server; 0 is the port after that for sign-ins."`
	CoAPort        uint16 `name:"coa-port" default:"0" help:"First router's for changes, others follow; 0 picks free."`
}

// Run simulates routers until a signal. It is refused in production.
func (c simulateRouter) Run(ctx context.Context, p program) error {
	cfg, err := readConfig(p.environ)
	if err != nil {
		return err
	}
	if cfg.Production() {
		return errors.New("APP_ENV=production: simulators are refused")
	}
	l := newLifecycle(p.logger(cfg))
	defer l.stop()
	routers, err := c.routers(ctx)
	if err != nil {
		return err
	}
	sim, err := router.New(router.Config{
		Routers: routers, Addr: c.Addr, Seed: c.Seed, Clock: clock.System(), Logger: l.logger,
	})
	if err != nil {
		return err
	}
	if err := sim.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	l.started("simulator", stopServing, func(ctx context.Context) { _ = sim.Stop(ctx) })
	_, _ = fmt.Fprintln(p.out, sim.URL())
	for _, r := range sim.Routers() {
		s := r.Summary()
		if _, err := fmt.Fprintf(p.out, "%s  version %s  %v\n", s.Name, s.Version, s.Addresses); err != nil {
			return err
		}
	}
	return l.wait(ctx)
}

// routers are those that the flags describe.
func (c simulateRouter) routers(ctx context.Context) ([]router.RouterConfig, error) {
	var radius func(netip.AddrPort) netip.AddrPort
	if c.Radius != "" {
		server, err := findRADIUS(ctx, c.Radius, c.AccountingPort)
		if err != nil {
			return nil, err
		}
		radius = server.at
	}
	var list []router.RouterConfig
	for i, v := range c.Versions {
		one := router.RouterConfig{Name: fmt.Sprintf("r%d", i+1), Version: v, Password: c.Password, RADIUS: radius}
		if c.Port > 0 {
			first := c.Port + 4*i
			one.Ports = router.Ports{WWW: first, WWWSSL: first + 1, API: first + 2, APISSL: first + 3}
		}
		if c.CoAPort > 0 {
			one.CoAPort = c.CoAPort + uint16(i) //nolint:gosec // a few routers
		}
		list = append(list, one)
	}
	return list, nil
}
