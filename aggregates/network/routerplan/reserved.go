package routerplan

import (
	"net/netip"
	"slices"
	"strings"
)

// Names with a fixed meaning on every router. Source: docs/rules/network.md#reserved-interfaces.
const (
	TunnelInterface = "platform-tunnel"
	lanBridge       = "bridge-lan"
	wanList         = "WAN"
)

// clientTypes maps the interface types of outgoing connections to their protocols.
var clientTypes = map[string]string{"pppoe-out": "PPPoE", "l2tp-out": "L2TP", "sstp-out": "SSTP"}

// Reserved maps each interface that no service may use to the reason, from all sources of
// docs/rules/network.md#reserved-interfaces. With several reasons the first source wins.
func Reserved(s Snapshot) map[string]Obstacle {
	reserved := map[string]Obstacle{}
	reserve := func(name, code, of string) {
		if _, known := reserved[name]; name != "" && !known {
			reserved[name] = Obstacle{Code: code, Of: of}
		}
	}
	for _, name := range []string{"bridge", lanBridge, TunnelInterface} {
		reserve(name, reservedAlways, "")
	}
	for _, r := range s[MenuBridgePort] {
		reserve(r[propertyInterface], reservedMember, r["bridge"])
	}
	uplinks := uplinksOf(s)
	for _, u := range uplinks {
		reserve(u.name, u.why.Code, u.why.Of)
	}
	for _, r := range s[MenuBridge] {
		if _, tagged := taggedService(r[propertyComment]); tagged {
			reserve(r[propertyName], reservedService, "")
		}
	}
	below := lowerOf(s)
	for _, r := range s[MenuBonding] {
		for _, port := range below[r[propertyName]] {
			reserve(port, reservedBond, r[propertyName])
		}
	}
	for _, u := range uplinks {
		for _, lower := range under(u.name, below) {
			reserve(lower, reservedCarrier, u.name)
		}
	}
	for _, r := range s[MenuInterface] {
		if isTrue(r["slave"]) {
			reserve(r[propertyName], reservedPort, "")
		}
	}
	return reserved
}

// uplink is an interface towards the operator's own provider, with the reason why it counts as one.
type uplink struct {
	name string
	why  Obstacle
}

// uplinksOf lists the interfaces through which the router itself reaches the internet.
func uplinksOf(s Snapshot) []uplink {
	var found []uplink
	for _, r := range s[MenuDHCPClient] {
		found = append(found, uplink{r[propertyInterface], Obstacle{Code: reservedDHCP}})
	}
	for _, name := range defaultExits(s) {
		found = append(found, uplink{name, Obstacle{Code: reservedRoute}})
	}
	for _, name := range listMembers(s, wanList) {
		found = append(found, uplink{name, Obstacle{Code: reservedList, Of: wanList}})
	}
	for _, r := range s[MenuInterface] {
		if kind, ok := clientTypes[r["type"]]; ok {
			found = append(found, uplink{r[propertyName], Obstacle{Code: reservedClient, Of: kind}})
		}
	}
	return found
}

// lowerOf maps each interface to those that carry it: a VLAN, a MACVLAN, a VRRP or MACsec interface and a PPPoE client
// to their interface, a bond to its ports.
func lowerOf(s Snapshot) map[string][]string {
	below := map[string][]string{}
	for _, menu := range []string{MenuVlan, MenuMACVLAN, MenuVRRP, MenuMACsec, MenuPPPoEClient} {
		for _, r := range s[menu] {
			below[r[propertyName]] = append(below[r[propertyName]], r[propertyInterface])
		}
	}
	for _, r := range s[MenuBonding] {
		below[r[propertyName]] = append(below[r[propertyName]], splitList(r["slaves"])...)
	}
	return below
}

// under lists all interfaces below one, at any depth, each once. It ends also when rows refer to each other in a
// circle.
func under(name string, below map[string][]string) []string {
	var found []string
	for next := []string{name}; len(next) > 0; next = next[1:] {
		for _, lower := range below[next[0]] {
			if lower != "" && lower != name && !slices.Contains(found, lower) {
				found, next = append(found, lower), append(next, lower)
			}
		}
	}
	return found
}

// defaultExits lists the interfaces of all default routes that are not disabled, active or not.
func defaultExits(s Snapshot) []string {
	names := interfaceNames(s)
	var exits []string
	for _, r := range s[MenuRoute] {
		dst := r[propertyDstAddress]
		if dst != "0.0.0.0/0" && dst != "" || isTrue(r[propertyDisabled]) {
			continue
		}
		var found []string
		for _, property := range []string{"immediate-gw", "gateway-status", "gateway"} {
			for hop := range strings.SplitSeq(r[property], ",") {
				found = append(found, exitOf(strings.TrimSpace(hop), names)...)
			}
			for name := range names { // splitting cut a name that has a comma
				if strings.Contains(name, ",") && strings.Contains(r[property], name) {
					found = append(found, name)
				}
			}
		}
		if len(found) == 0 {
			for gateway := range strings.SplitSeq(r["gateway"], ",") {
				found = append(found, connected(s, strings.TrimSpace(gateway))...)
			}
		}
		exits = append(exits, found...)
	}
	return exits
}

// interfaceNames is the set of all interfaces of the router.
func interfaceNames(s Snapshot) map[string]bool {
	names := map[string]bool{}
	for _, r := range s[MenuInterface] {
		names[r[propertyName]] = true
	}
	return names
}

// exitOf reads the interface of one next hop: "10.0.0.1%ether1", "10.0.0.1 reachable via  ether1", or its bare name.
func exitOf(hop string, names map[string]bool) []string {
	if _, after, ok := strings.Cut(hop, "%"); ok {
		return []string{after}
	}
	if _, after, ok := strings.Cut(hop, " via "); ok {
		return []string{strings.TrimSpace(after)}
	}
	name, _, _ := strings.Cut(hop, " ") // "pppoe-out1 reachable"
	for _, candidate := range []string{hop, name} {
		if names[candidate] {
			return []string{candidate}
		}
	}
	return nil
}

// connected lists the interfaces whose subnet contains the gateway; nil for a text that is no address.
func connected(s Snapshot, gateway string) []string {
	address, err := netip.ParseAddr(gateway)
	if err != nil {
		return nil
	}
	var found []string
	for _, r := range s[MenuAddress] {
		p, err := netip.ParsePrefix(r[propertyAddress])
		if err == nil && p.Contains(address) && !isTrue(r[propertyDisabled]) {
			found = append(found, r[propertyInterface])
		}
	}
	return found
}

// listMembers lists the members of an interface list, with its included and without its excluded lists.
func listMembers(s Snapshot, list string) []string {
	return resolveList(s, list, nil)
}

// resolveList follows include and exclude. path has the lists on the way here, so that lists that include each other
// end. Like a router, it takes the included lists, removes the excluded ones, and then adds the list's own members,
// which no exclusion removes.
func resolveList(s Snapshot, list string, path []string) []string {
	if slices.Contains(path, list) {
		return nil
	}
	path = append(slices.Clone(path), list)
	var members []string
	for _, r := range s[MenuInterfaceList] {
		if r[propertyName] != list {
			continue
		}
		for _, other := range splitList(r["include"]) {
			members = append(members, resolveList(s, other, path)...)
		}
		for _, other := range splitList(r["exclude"]) {
			out := resolveList(s, other, path)
			members = slices.DeleteFunc(members, func(m string) bool { return slices.Contains(out, m) })
		}
	}
	for _, r := range s[MenuListMember] {
		if r["list"] == list && !isTrue(r[propertyDisabled]) {
			members = append(members, r[propertyInterface])
		}
	}
	return append(members, builtinMembers(s, list)...)
}

// builtinMembers lists the members of the lists that a router fills itself: all, dynamic and static.
func builtinMembers(s Snapshot, list string) []string {
	var members []string
	for _, r := range s[MenuInterface] {
		dynamic := isTrue(r[propertyDynamic])
		if list == "all" || list == "dynamic" && dynamic || list == "static" && !dynamic {
			members = append(members, r[propertyName])
		}
	}
	return members
}

// splitList splits a list at its commas; "" has no members.
func splitList(text string) []string {
	return slices.DeleteFunc(strings.Split(text, ","), func(p string) bool { return p == "" })
}
