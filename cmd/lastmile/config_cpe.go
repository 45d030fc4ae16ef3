package main

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
)

// checkCPETunnel checks the address of the CPE server in the tunnel. It gets a route through the tunnel on each router:
// were it the concentrator's, the tunnel would be led into itself; and in an address plan it would be a router's, a
// device's or a customer's.
func (c Config) checkCPETunnel(f *faults) {
	if c.ACSTunnelAddress == "" {
		return
	}
	const name = "ACS_TUNNEL_ADDRESS"
	address, err := netip.ParseAddr(c.ACSTunnelAddress)
	f.check(err == nil && address.Is4() && address.IsPrivate(), name, "must be a private IPv4 address")
	for _, plan := range []netip.Prefix{commands.CustomerPlan, commands.ManagementPlan, commands.TunnelPlan} {
		f.check(!plan.Contains(address), name, "must not be in %s", plan)
	}
	f.check(c.TunnelHost != c.ACSTunnelAddress, name, "must not be the address of TUNNEL_HOST")
	f.check(c.ACSCWMPURL != "", name, "needs ACS_CWMP_URL")
	for of, text := range map[string]string{"ACS_CWMP_URL": c.ACSCWMPURL, "ACS_FS_URL": c.ACSFSURL} {
		other, err := netip.ParseAddr(hostOf(text))
		f.check(err != nil || other == address, of, "must have the address of %s, or a name that leads there", name)
	}
}

// hostOf is the host of an address; "" for a text that is none.
func hostOf(text string) string {
	parsed, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return parsed.Hostname()
}

// cpeServer is the CPE server as management networks reach it through the tunnel: the ports are those of the addresses
// that devices are told.
func (c Config) cpeServer() routerplan.CPEServer {
	address, err := netip.ParseAddr(c.ACSTunnelAddress)
	if err != nil {
		return routerplan.CPEServer{}
	}
	server := routerplan.CPEServer{Address: address}
	for _, text := range []string{c.ACSCWMPURL, c.ACSFSURL} {
		parsed, err := url.Parse(text)
		if err != nil || text == "" {
			continue
		}
		port, err := strconv.Atoi(parsed.Port())
		switch {
		case err == nil:
		case parsed.Scheme == "https":
			port = 443
		default:
			port = 80
		}
		server.Ports = append(server.Ports, port)
	}
	slices.Sort(server.Ports)
	server.Ports = slices.Compact(server.Ports)
	return server
}
