package routerplan

import (
	"net/netip"
	"slices"
	"strings"
)

// Properties of a NAT rule that name its way out; "!" before a value means every other one.
const (
	propertyOut     = "out-interface"
	propertyOutList = "out-interface-list"
)

// natHarmless lists properties of a NAT rule, besides those that are harmless in every firewall rule, with which it
// still translates all that the customers send to the internet. The two with a value are harmless with that value only:
// the default configuration of routers has the first.
var natHarmless = map[string]string{
	"to-addresses": "", "same-not-by-dst": "", "randomise-ports": "", propertySrcAddress: "", propertyOut: "",
	propertyOutList: "", "ipsec-policy": "out,none", "dst-address-type": "!local",
}

// privatePlans are the addresses that nobody routes in the internet: RFC 1918, and RFC 6598 for providers.
var privatePlans = []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"}

// private reports whether all addresses of a subnet need a translation on their way to the internet. An organization
// pays for public addresses so that its customers are reached by them. A text that is no subnet is not private.
func private(subnet string) bool {
	return slices.ContainsFunc(privatePlans, func(plan string) bool { return covers(plan, subnet) })
}

// translated reports whether a rule of the operator's translates the addresses of a service's customers on their way to
// the internet already: for all sources or for those of the subnet, and towards an uplink or anywhere. A rule with any
// other condition does not count, because it may leave a part of the traffic out.
func translated(s Snapshot, service Service) bool {
	return slices.ContainsFunc(s.static(MenuNAT), func(r Row) bool {
		_, ours := taggedService(r[propertyComment])
		switch {
		case ours || isTrue(r[propertyDisabled]) || isTrue(r["invalid"]) || r["chain"] != "srcnat":
			return false
		case !slices.Contains([]string{"masquerade", "src-nat", "same"}, r[propertyAction]):
			return false
		}
		for property, value := range r {
			only, known := natHarmless[property]
			if value != "" && !slices.Contains(harmless, property) && (!known || only != "" && only != value) {
				return false
			}
		}
		return leavesByUplink(s, r) &&
			(r[propertySrcAddress] == "" || covers(r[propertySrcAddress], service.Addressing.Subnet))
	})
}

// leavesByUplink reports whether a NAT rule is for an uplink of the router, or for all ways out. The interface list WAN
// has the uplinks, also when nobody is in it.
func leavesByUplink(s Snapshot, rule Row) bool {
	uplinks := map[string]bool{}
	for _, u := range uplinksOf(s) {
		uplinks[u.name] = true
	}
	isUplink := func(name string) bool { return uplinks[name] }
	if out, other := strings.CutPrefix(rule[propertyOut], "!"); out != "" && isUplink(out) == other {
		return false
	}
	list, other := strings.CutPrefix(rule[propertyOutList], "!")
	has := list == wanList || slices.ContainsFunc(listMembers(s, list), isUplink)
	return list == "" || has != other
}

// covers reports whether a subnet lies in another one; a text that is no subnet covers nothing.
func covers(wide, subnet string) bool {
	w, err := netip.ParsePrefix(wide)
	n, err2 := netip.ParsePrefix(subnet)
	return err == nil && err2 == nil && w.Bits() <= n.Bits() && w.Contains(n.Addr())
}
