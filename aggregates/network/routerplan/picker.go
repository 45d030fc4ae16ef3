package routerplan

import (
	"net/netip"
	"strings"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// Group is one heading of the list in which an operator picks the parent interface.
type Group struct {
	Name    string // "Bridges", "Ethernet", "SFP" or "VLAN"
	Options []Option
}

// Option is one interface in the list.
type Option struct {
	Name     string
	Reserved bool
	Reason   Obstacle // why it is reserved; zero when it is not
	Warning  Obstacle // why a service on it would not work now, or who else serves there; zero when neither
}

// Names of the groups, shown to operators.
const (
	groupBridges  = "Bridges"
	groupEthernet = "Ethernet"
	groupSFP      = "SFP"
	groupVLAN     = "VLAN"
)

// Picker offers the interfaces of a router in four groups, in the router's order
// (docs/rules/network.md#reserved-interfaces). Reserved bridges are left out; other reserved interfaces are shown with
// the reason. VLANs that the platform made are left out.
func Picker(s Snapshot) []Group {
	groups := []Group{{Name: groupBridges}, {Name: groupEthernet}, {Name: groupSFP}, {Name: groupVLAN}}
	reserved, ours := Reserved(s), platformVlans(s)
	below := lowerOf(s)
	for _, r := range s[MenuInterface] {
		name, kind := r[propertyName], groupOf(r)
		reason, is := reserved[name]
		if _, own := ours[name]; own || is && kind == groupBridges {
			continue
		}
		for i := range groups {
			if groups[i].Name == kind {
				groups[i].Options = append(groups[i].Options, Option{
					Name: name, Reserved: is, Reason: reason, Warning: pickerWarning(s, name, below),
				})
			}
		}
	}
	return groups
}

// pickerWarning says why a service on an interface would not work now, else which server of the operator is on it. Such
// a server is told rather than a cable that is away: customers of both would get the answers of either.
func pickerWarning(s Snapshot, name string, below map[string][]string) Obstacle {
	warning := warningOf(s, name, below)
	if warning.Code == "" || warning.Code == warningLink {
		if foreign := foreignServer(s, name); foreign.Code != "" {
			return foreign
		}
	}
	return warning
}

// foreignServer finds a server on an interface that no service of the platform made; zero when there is none. The
// snapshot must have PickerMenus.
func foreignServer(s Snapshot, name string) Obstacle {
	for _, of := range []struct{ menu, code, property string }{
		{MenuPPPoEServer, warningPPPoE, propertyServiceName}, {MenuHotspot, warningHotspot, propertyName},
		{MenuDHCPServer, warningDHCP, propertyName}, {MenuDHCPRelay, warningRelay, propertyName},
	} {
		for _, r := range s[of.menu] {
			if _, ours := taggedService(r[propertyComment]); r[propertyInterface] == name && !ours {
				return Obstacle{Code: of.code, Of: r[of.property]}
			}
		}
	}
	return Obstacle{}
}

// groupOf is the heading of an interface; "" for one that cannot carry a service. RouterOS gives SFP ports the type
// ether, so only their name shows them.
func groupOf(r Row) string {
	if isTrue(r[propertyDynamic]) {
		return ""
	}
	switch r["type"] {
	case "bridge":
		return groupBridges
	case "vlan":
		return groupVLAN
	case "ether":
		port := r["default-name"]
		if port == "" {
			port = r[propertyName]
		}
		if strings.HasPrefix(port, "sfp") || strings.HasPrefix(port, "qsfp") {
			return groupSFP
		}
		return groupEthernet
	}
	return ""
}

// platformVlans maps the VLAN interfaces that services made to their services.
func platformVlans(s Snapshot) map[string]id.Service {
	vlans := map[string]id.Service{}
	for _, r := range s[MenuVlan] {
		if service, ok := taggedService(r[propertyComment]); ok {
			vlans[r[propertyName]] = service
		}
	}
	return vlans
}

// Occupied lists the subnets that a router uses for anything but services, so that no service gets one of them. The
// snapshot must have CheckMenus.
func Occupied(s Snapshot) []string {
	var subnets []string
	for _, path := range []string{MenuAddress, MenuDHCPNetwork} {
		for _, r := range s[path] {
			p, err := netip.ParsePrefix(r[propertyAddress])
			if isTrue(r[propertyDynamic]) && p.Bits() == 32 {
				continue // the router's end of a session; the subnet of a DHCP client is dynamic too, but counts
			}
			if _, ours := taggedService(r[propertyComment]); err == nil && p.Addr().Is4() && p.Bits() > 0 && !ours {
				subnets = append(subnets, p.Masked().String())
			}
		}
	}
	for _, r := range s.static(MenuPool) {
		_, ours := taggedService(r[propertyComment])
		if ours || strings.HasPrefix(r[propertyName], "pool-svc-") {
			continue
		}
		for part := range strings.SplitSeq(canonicalRanges(r["ranges"]), ",") {
			from, to, _ := strings.Cut(part, "-")
			subnets = append(subnets, subnetsOf(from, to)...)
		}
	}
	return subnets
}

// subnetsOf splits an IPv4 range into the fewest subnets; nil for a text that is no range.
func subnetsOf(from, to string) []string {
	first, err := netip.ParseAddr(from)
	last, err2 := netip.ParseAddr(to)
	var subnets []string
	if err != nil || err2 != nil || !first.Is4() || !last.Is4() {
		return nil
	}
	for first.IsValid() && first.Compare(last) <= 0 {
		subnet := netip.PrefixFrom(first, 32)
		for bits := 31; bits > 0; bits-- {
			wider := netip.PrefixFrom(first, bits)
			if wider.Masked().Addr() != first || broadcast(wider).Compare(last) > 0 {
				break
			}
			subnet = wider
		}
		subnets = append(subnets, subnet.String())
		first = broadcast(subnet).Next()
	}
	return subnets
}
