package accessjobs

import (
	"net/netip"

	"github.com/lastmile-isp/lastmile/commands"
)

// dialled gives the address at which a router is asked: the one from which it reports the session, because it takes
// requests there, or its own address when that one is not known or must not be dialled. false = neither may be dialled.
// own is the address that the platform gave the router, or outside production its management address.
func (e *Enforcer) dialled(own string, source *netip.Addr) (netip.Addr, bool) {
	door, err := netip.ParseAddr(own)
	if source != nil {
		if from := source.Unmap(); e.Anywhere || outside(from) {
			return from, true
		}
	}
	door = door.Unmap()
	return door, err == nil && (e.Anywhere || outside(door) || commands.TunnelPlan.Contains(door) &&
		door != commands.TunnelGateway)
}

// outside reports whether an address that a packet came from may be dialled in production: it is of no program on this
// machine, of no neighbour on its wire, of no group, and not in the tunnel, where another router may have it.
func outside(a netip.Addr) bool {
	return a.IsValid() && !a.IsUnspecified() && !a.IsLoopback() && !a.IsLinkLocalUnicast() && !a.IsMulticast() &&
		a != netip.AddrFrom4([4]byte{255, 255, 255, 255}) && !commands.TunnelPlan.Contains(a)
}
