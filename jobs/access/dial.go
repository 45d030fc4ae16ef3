package accessjobs

import (
	"net/netip"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/egress"
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

// outside reports whether an address that a packet came from may be dialled in production: an address of the internet
// or of the operator's own network, not of the platform, and not in the tunnel, where another router may have it
// (docs/rules/engine.md#addresses-we-dial).
func outside(a netip.Addr) bool {
	return egress.Guard{Private: true}.Allows(a) && !commands.TunnelPlan.Contains(a)
}
