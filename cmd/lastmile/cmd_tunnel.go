package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"

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
	File        string `default:"all" enum:"all,config,secrets,firewall,routes" help:"Of accel-ppp: one of its files."`
	Output      string `help:"File to write; only its owner may read it. Standard output when absent."`
	Platform    string `help:"On a router: the platform's address, as that router reaches it."`
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
	tunnel := routerplan.TunnelConfig{
		Port: cfg.TunnelPort, Certificate: c.Certificate, Key: c.Key, CPE: cfg.cpeServer(),
	}
	tunnel.Platform, _ = netip.ParseAddr(c.Platform)
	if tunnel.Clients, err = tunnelClients(ctx, s, r.Views()); err != nil {
		return err
	}
	if cfg.ACSTunnelAddress != "" {
		services, err := networkviews.ServicesQuery{Views: r.Views()}.Management(ctx)
		if err != nil {
			return err
		}
		lead(tunnel.Clients, services)
	}
	text, err := c.text(tunnel)
	if err != nil {
		return err
	}
	if c.Output != "" {
		if c.File == "routes" && c.Target != "router" {
			return replaceFile(c.Output, text, 0o700)
		}
		return writePrivate(c.Output, text)
	}
	_, err = fmt.Fprint(p.out, text)
	return err
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
			Router: row.ID,
		})
	}
	return clients, nil
}

// lead gives each router the subnets of its management networks, present and former ones. The services are in the order
// of their age.
func lead(clients []routerplan.TunnelClient, services []networkviews.ServiceRow) {
	networks := make([]routerplan.ManagementNetwork, 0, len(services))
	for _, s := range services {
		network := routerplan.ManagementNetwork{Router: s.DeviceID, Subnets: []string{s.Addressing.Subnet}}
		for _, former := range s.Former {
			network.Subnets = append(network.Subnets, former.Subnet)
		}
		networks = append(networks, network)
	}
	ways := routerplan.Ways(networks)
	for i := range clients {
		clients[i].Networks = ways[clients[i].Router]
	}
}

// text gives the file or the script that the flags choose.
func (c tunnelConfig) text(tunnel routerplan.TunnelConfig) (string, error) {
	if c.Target == "router" {
		return routerplan.RouterConcentrator(tunnel)
	}
	config, secrets, err := routerplan.AccelPPP(tunnel)
	if err != nil {
		return "", err
	}
	routes, err := routerplan.AccelWays(tunnel)
	if err != nil {
		return "", err
	}
	switch firewall := routerplan.AccelFirewall(tunnel.CPE); c.File {
	case "config":
		return config, nil
	case "secrets":
		return secrets, nil
	case "firewall":
		return firewall, nil
	case "routes":
		return routes, nil
	default:
		all := fmt.Sprintf("# /etc/accel-ppp.conf\n%s\n# /etc/accel-ppp/chap-secrets\n%s\n# "+
			"/etc/nftables.d/lastmile.nft\n%s",
			config, secrets, firewall)
		if tunnel.CPE.Address.IsValid() {
			all += "\n# " + routerplan.AccelWaysPath + "\n" + routes
		}
		return all, nil
	}
}

// writePrivate is replaceFile for one that only its owner may read.
func writePrivate(path, text string) error { return replaceFile(path, text, 0o600) }

// replaceFile replaces a file by one that only its owner may read, or run, from before the first byte is in it. A
// reader finds the old file or the whole new one.
func replaceFile(path, text string, mode os.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-") // with mode 0600
	if err != nil {
		return fmt.Errorf("make a private file: %w", err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if _, err = f.WriteString(text); err != nil {
		return fmt.Errorf("write %s: %w", f.Name(), err)
	}
	if err = f.Chmod(mode); err != nil {
		return fmt.Errorf("set the mode of %s: %w", f.Name(), err)
	}
	if err = f.Sync(); err != nil {
		return fmt.Errorf("write %s: %w", f.Name(), err)
	}
	if err = f.Close(); err != nil {
		return fmt.Errorf("write %s: %w", f.Name(), err)
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	return nil
}
