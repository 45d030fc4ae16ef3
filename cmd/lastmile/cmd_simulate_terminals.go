package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/simulators/terminals"
)

// simulateTerminals is `lastmile simulate terminals`: the system of one optical line terminal.
type simulateTerminals struct {
	Addr         string `default:"127.0.0.1:8098" help:"Listen address; port 0 picks a free one."`
	Token        string `default:"" help:"The only one that is accepted; that of OLT_TOKEN when empty."`
	Organization string `default:"demo" help:"Slug of the organization whose terminal it is."`
	OLT          string `default:"hill" help:"Name of the terminal."`
	Onus         int    `default:"4" help:"On the fibre of port 0/1/1, with serials LMSM00000001 and so on."`
	VLANs        []int  `name:"vlans" default:"100,200" help:"That the terminal carries."`
}

// Run simulates the terminal until a signal. It is refused in production.
func (c simulateTerminals) Run(ctx context.Context, p program) error {
	cfg, err := readConfig(p.environ)
	if err != nil {
		return err
	}
	if cfg.Production() {
		return errors.New("APP_ENV=production: simulators are refused")
	}
	l := newLifecycle(p.logger(cfg))
	defer l.stop()
	token := c.Token
	if token == "" {
		token = cfg.OLTToken.Reveal()
	}
	sim := terminals.New(terminals.Config{Addr: c.Addr, Token: token, Clock: clock.System(), Logger: l.logger})
	one := terminals.Terminal{
		Organization: c.Organization, Name: c.OLT, Ports: []string{"0/1/1", "0/1/2"}, VLANs: c.VLANs,
		Seen: map[string][]string{},
	}
	for n := range c.Onus {
		one.Seen["0/1/1"] = append(one.Seen["0/1/1"], fmt.Sprintf("LMSM%08X", n+1))
	}
	sim.Put(one)
	if err := sim.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	l.started("simulator", stopServing, func(ctx context.Context) { _ = sim.Stop(ctx) })
	_, err = fmt.Fprintf(p.out, "%s\n%s: port 0/1/1, %s ONUs\n", sim.URL(), c.OLT, strconv.Itoa(c.Onus))
	if err != nil {
		return err
	}
	return l.wait(ctx)
}
