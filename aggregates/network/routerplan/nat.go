package routerplan

import (
	"net/netip"
	"slices"
)

// translated reports whether a rule of the operator's translates the addresses of a service's customers already: for
// all sources or for those of the subnet, whatever the way out. A rule with other conditions does not count, because it
// may leave a part of the traffic out.
func translated(s Snapshot, service Service) bool {
	return slices.ContainsFunc(s.static(MenuNAT), func(r Row) bool {
		_, ours := taggedService(r[propertyComment])
		switch {
		case ours || isTrue(r[propertyDisabled]) || isTrue(r["invalid"]) || r["chain"] != "srcnat":
			return false
		case !slices.Contains([]string{"masquerade", "src-nat", "same"}, r[propertyAction]):
			return false
		}
		for _, condition := range []string{
			"protocol", "dst-port", "src-port", "src-address-list", "dst-address", "dst-address-list", "in-interface",
			"in-interface-list", "packet-mark", "connection-mark", "routing-mark", "time",
		} {
			if r[condition] != "" {
				return false
			}
		}
		return r[propertySrcAddress] == "" || covers(r[propertySrcAddress], service.Addressing.Subnet)
	})
}

// covers reports whether a subnet lies in another one; a text that is no subnet covers nothing.
func covers(wide, subnet string) bool {
	w, err := netip.ParsePrefix(wide)
	n, err2 := netip.ParsePrefix(subnet)
	return err == nil && err2 == nil && w.Bits() <= n.Bits() && w.Contains(n.Addr())
}
