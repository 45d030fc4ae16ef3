package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// demoRADIUS is the place of the demo's RADIUS server for the simulated routers, which begin before it. The zero value
// never answers. Safe for concurrent use.
type demoRADIUS struct{ ports atomic.Pointer[radiusPorts] }

// radiusPorts are the places of a RADIUS server on this machine.
type radiusPorts struct{ access, accounting netip.AddrPort }

// at is the place on this machine of the server that a router's settings name. Before the server has started, none
// answers.
func (d *demoRADIUS) at(asked netip.AddrPort) netip.AddrPort {
	ports := d.ports.Load()
	if ports == nil {
		return netip.AddrPort{}
	}
	return ports.at(asked)
}

// at leads simulated routers, whose settings name the end of their tunnel and the usual ports, to the server. Other
// servers never answer.
func (p radiusPorts) at(asked netip.AddrPort) netip.AddrPort {
	if asked.Addr() != commands.TunnelGateway {
		return netip.AddrPort{}
	}
	return map[uint16]netip.AddrPort{1812: p.access, 1813: p.accounting}[asked.Port()]
}

// is sets the server of a program that has started.
func (d *demoRADIUS) is(a *App) error {
	var ports radiusPorts
	for _, p := range []struct {
		addr  string
		bound func() netip.AddrPort
		to    *netip.AddrPort
	}{
		{a.cfg.RadiusAuthAddr, a.radius.server.AccessAddr, &ports.access},
		{a.cfg.RadiusAcctAddr, a.radius.server.AccountingAddr, &ports.accounting},
	} {
		addr, err := net.ResolveUDPAddr("udp", p.addr)
		if err != nil {
			return fmt.Errorf("RADIUS_AUTH_ADDR, RADIUS_ACCT_ADDR: %w", err)
		}
		at := addr.AddrPort()
		if at.Port() == 0 { // in tests
			at = p.bound()
		}
		if !at.Addr().IsValid() || at.Addr().IsUnspecified() {
			at = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port())
		}
		*p.to = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	}
	d.ports.Store(&ports)
	return nil
}

// signOutPatience bounds the time in which the sessions of the demo's customers end.
const signOutPatience = 5 * time.Second

// signOutAll switches the devices of all customers off, so that no session of the demo is left as online after a stop.
func signOutAll(ctx context.Context, routers *router.Simulator) {
	ctx, cancel := context.WithTimeout(ctx, signOutPatience)
	defer cancel()
	for _, r := range routers.Routers() {
		for _, c := range r.Customers() {
			r.SwitchOff(c.User)
		}
	}
	for _, r := range routers.Routers() {
		_ = r.Idle(ctx) // real routers lose reports, too
	}
}

// demoLogin is the password on the network of a customer of the demo.
func demoLogin(user string) string { return "demo-login-" + user }

// demoRadiusSecret is the secret that a router of the demo shares with the RADIUS server.
func demoRadiusSecret(router string) string { return "demo-radius-" + router }
