package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/httpapi/network"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs/network"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/network"
)

// gardenSettings gives what customers in the walled garden reach: the payment page of their organization, the payment
// provider, and WALLED_GARDEN_SITES.
func (a *App) gardenSettings() networkjobs.GardenSettings {
	return networkjobs.GardenSettings{
		Host: func(ctx context.Context, org id.Organization) (string, error) {
			slug, err := a.slugOf(ctx, org)
			return slug + "." + a.cfg.ServiceDomain, err
		},
		Sites: append(a.providerSites(), a.cfg.gardenSites()...), Redirect: a.cfg.WalledGardenAddr != "",
	}
}

// providerSites gives the host of the payment provider; nothing while it is simulated.
func (a *App) providerSites() []string {
	if a.cfg.GatewayMode != gatewayLive {
		return nil
	}
	base := a.cfg.PaymentBaseURL
	switch {
	case base != "":
	case a.cfg.PaymentEnv == string(mobilemoney.Production):
		base = mobilemoney.ProductionURL
	default:
		base = mobilemoney.SandboxURL
	}
	u, err := url.Parse(base)
	if err != nil || len(siteFaults([]string{u.Hostname()})) > 0 {
		return nil
	}
	return []string{u.Hostname()}
}

// slugOf gives the first label of an organization's host.
func (a *App) slugOf(ctx context.Context, org id.Organization) (string, error) {
	row, err := identityviews.OrganizationsQuery{Views: a.engines.views}.Get(ctx, org)
	if err != nil {
		return "", err
	}
	if row == nil {
		return "", fmt.Errorf("organization %s has no host", org)
	}
	return row.Slug, nil
}

// payPage gives the address of an organization's payment page, as customers reach it.
func (a *App) payPage(slug string) string {
	host := slug + "." + a.cfg.ServiceDomain
	if a.cfg.Production() {
		return "https://" + host + "/pay"
	}
	if a.listener != nil {
		if _, port, err := net.SplitHostPort(a.listener.Addr()); err == nil {
			host = net.JoinHostPort(host, port)
		}
	}
	return "http://" + host + "/pay"
}

// openGarden begins to answer at WALLED_GARDEN_ADDR, in a program that answers HTTP.
func (a *App) openGarden(ctx context.Context) {
	if a.gardenDoor == nil {
		return
	}
	devices := networkviews.DevicesQuery{Views: a.engines.views}
	a.gardenDoor.open(&networkapi.Redirect{
		Page: func(ctx context.Context, router netip.Addr) (string, error) {
			device, err := devices.OfTunnel(ctx, router)
			if err != nil || device == nil {
				return "", err
			}
			slug, err := a.slugOf(ctx, device.OrgID)
			return a.payPage(slug), err
		},
		Clock: a.clock, Logger: a.logger,
	})
	l := a.redirect
	a.life.startedBeside("walled garden redirect", stopServing, func(context.Context) { l.Stop() })
	a.logger.InfoContext(ctx, "walled garden redirect", "address", l.Addr())
}

// gardenSites lists what customers in every walled garden reach by WALLED_GARDEN_SITES.
func (c Config) gardenSites() []string {
	return strings.FieldsFunc(strings.ToLower(c.WalledGardenSites), func(r rune) bool { return r == ',' || r == ' ' })
}

// siteFaults lists the sites that a router cannot hold: each is a host name, an IPv4 address or a subnet.
func siteFaults(sites []string) (wrong []string) {
	for _, site := range sites {
		garden := events.WalledGarden{Domains: []string{site}}
		if strings.Trim(site, "0123456789./") == "" {
			garden = events.WalledGarden{Addresses: []string{site}}
		}
		var f failure.Faults
		if commands.CheckWalledGarden(&f, events.ServiceHotspot, garden); len(f) > 0 {
			wrong = append(wrong, site)
		}
	}
	return wrong
}
