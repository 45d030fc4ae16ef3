package main

import (
	"context"
	"fmt"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// tunnelCommands has the sub-commands of `lastmile tunnel`.
type tunnelCommands struct {
	Config tunnelConfig `cmd:"" help:"Print the SSTP concentrator's configuration. It has every router's secrets."`
}

// tunnelConfig is `lastmile tunnel config`. Its output holds secrets.
type tunnelConfig struct {
	Target      string `default:"accel-ppp" enum:"accel-ppp,router" help:"accel-ppp (for Debian) or router (RouterOS)."`
	File        string `default:"all" enum:"all,config,secrets" help:"Of accel-ppp: which of its two files."`
	Certificate string `default:"/etc/accel-ppp/fullchain.pem" help:"Path of the certificate; on a router its name."`
	Key         string `default:"/etc/accel-ppp/privkey.pem" help:"Path of the certificate's key."`
}

// Run prints the configuration for all routers of all organizations.
func (c tunnelConfig) Run(ctx context.Context, p program) error {
	cfg, err := p.config()
	if err != nil {
		return err
	}
	l := newLifecycle(quiet(p, cfg))
	defer l.stop()
	now := productClock(cfg)
	s, err := openStorage(ctx, cfg, now, l, storageMode{node: true, attach: true})
	if err != nil {
		return err
	}
	f, err := startFeed(ctx, s, l)
	if err != nil {
		return err
	}
	r := newProjections(s, f, now, l.logger, true)
	if err := l.start(ctx, "projections", stopEngines, r); err != nil {
		return err
	}
	tunnel := routerplan.TunnelConfig{Port: cfg.TunnelPort, Certificate: c.Certificate, Key: c.Key}
	if tunnel.Clients, err = tunnelClients(ctx, s, r.Views()); err != nil {
		return err
	}
	return c.print(p, tunnel)
}

// tunnelClients reads all routers with their tunnel credentials.
func tunnelClients(ctx context.Context, s *storage, views *runner.Views) ([]routerplan.TunnelClient, error) {
	rows, err := networkviews.DevicesQuery{Views: views}.Every(ctx)
	if err != nil {
		return nil, err
	}
	clients := make([]routerplan.TunnelClient, 0, len(rows))
	for _, row := range rows {
		secret, err := s.vault.Secrets.Get(ctx, row.TunnelRef)
		if err != nil {
			return nil, fmt.Errorf("tunnel password of %s: %w", row.ID, err)
		}
		clients = append(clients, routerplan.TunnelClient{
			User: row.TunnelUser, Secret: string(secret), Address: row.TunnelAddress, Name: row.Details.Name,
		})
	}
	return clients, nil
}

// print writes the file or the script that the flags choose.
func (c tunnelConfig) print(p program, tunnel routerplan.TunnelConfig) error {
	if c.Target == "router" {
		script, err := routerplan.RouterConcentrator(tunnel)
		if err == nil {
			_, err = fmt.Fprint(p.out, script)
		}
		return err
	}
	config, secrets, err := routerplan.AccelPPP(tunnel)
	if err != nil {
		return err
	}
	switch c.File {
	case "config":
		_, err = fmt.Fprint(p.out, config)
	case "secrets":
		_, err = fmt.Fprint(p.out, secrets)
	default:
		_, err = fmt.Fprintf(p.out, "# /etc/accel-ppp.conf\n%s\n# /etc/accel-ppp/chap-secrets\n%s", config, secrets)
	}
	return err
}
