package routerplan

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ManagementList is the list of a router's interfaces that have devices of management networks which reach the CPE
// server through the tunnel. The rules of the firewall name it, so that a network is closed whatever addresses its
// devices take. Source: docs/rules/network.md#way-to-the-cpe-server.
const ManagementList = "platform-management"

// fwManagement is the comment of that list and of the route to the CPE server, and begins the names of the rules.
const fwManagement = FirewallTag + "management"

// CPEServer is the CPE server as management networks reach it through the tunnel. The zero value is for networks that
// do not.
type CPEServer struct {
	Address netip.Addr // IPv4, private, outside of all address plans
	Ports   []int      // TCP
}

// reached reports whether management networks reach the server through the tunnel.
func (c CPEServer) reached() bool { return c.Address.IsValid() }

// ports lists the ports as routers take them in a rule.
func (c CPEServer) ports() string {
	list := make([]string, 0, len(c.Ports))
	for _, port := range c.Ports {
		list = append(list, strconv.Itoa(port))
	}
	return strings.Join(list, ",")
}

// tunnelled reports whether a service's devices reach the CPE server through the tunnel. A subnet outside of the
// platform's plan does not: an operator may give any, and its route would lead another network into the tunnel.
func (s Service) tunnelled() bool {
	return s.Tunnelled && s.Binding.Type == events.ServiceCPEManagement &&
		covers(commands.ManagementPlan.String(), s.Addressing.Subnet)
}

// managementIn is the rule by which the CPE server reaches the devices: it calls them, and its answers come the same
// way. It stands before the one that drops what else comes through the tunnel.
func (c CPEServer) managementIn() []Resource {
	if !c.reached() {
		return nil
	}
	return []Resource{firewallRule(MenuFirewallFilter, "management-calls", "forward", "accept", map[string]string{
		propertyIn: TunnelInterface, propertyOutList: ManagementList, propertySrcAddress: c.Address.String(),
		propertyDstAddress: commands.ManagementPlan.String(), "protocol": "tcp",
	})}
}

// managementRules lists the rules by which devices reach the ports of the CPE server through the tunnel, addresses and
// names at their router, and nothing else; and nobody else reaches them.
func (c CPEServer) managementRules() []Resource {
	if !c.reached() {
		return nil
	}
	var rules []Resource
	add := func(name, chain, action, list string, more ...string) {
		values := map[string]string{list: ManagementList}
		for i := 0; i+1 < len(more); i += 2 {
			values[more[i]] = more[i+1]
		}
		rules = append(rules, firewallRule(MenuFirewallFilter, "management-"+name, chain, action, values))
	}
	toServer := []string{
		propertyOut, TunnelInterface, propertySrcAddress, commands.ManagementPlan.String(), propertyDstAddress,
		c.Address.String(), "protocol", "tcp",
	}
	add("server", "forward", "accept", propertyInList, append(slices.Clone(toServer), propertyDstPort, c.ports())...)
	add("answers", "forward", "accept", propertyInList,
		append(slices.Clone(toServer), "connection-state", "established,related")...)
	add("from-drop", "forward", "drop", propertyInList)
	add("to-drop", "forward", "drop", propertyOutList)
	add("dhcp", "input", "accept", propertyInList, "protocol", "udp", propertyDstPort, "67")
	for _, protocol := range []string{"udp", "tcp"} {
		add("dns-"+protocol, "input", "accept", propertyInList, "protocol", protocol, propertyDstPort, "53")
	}
	add("input-drop", "input", "drop", propertyInList)
	return rules
}

// managementNAT is the rule by which devices keep their addresses on the way to the CPE server, whatever the operator's
// rules translate.
func (c CPEServer) managementNAT() []Resource {
	if !c.reached() {
		return nil
	}
	return []Resource{firewallRule(MenuNAT, "management", "srcnat", "accept", map[string]string{
		propertyOut: TunnelInterface, propertySrcAddress: commands.ManagementPlan.String(),
		propertyDstAddress: c.Address.String(),
	})}
}

// managementList is the row of ManagementList.
func managementList() Resource {
	return Resource{Path: MenuInterfaceList, Name: fwManagement, Values: map[string]string{
		propertyName: ManagementList, propertyComment: fwManagement,
	}}
}

// listMissing gives the difference of a router without ManagementList; the list stays when nothing needs it any more,
// and a list of the operator's with its name serves as well. Rules and services refer to it, and both make it.
func listMissing(s Snapshot) []Difference {
	want := managementList()
	if slices.ContainsFunc(s[MenuInterfaceList], func(r Row) bool { return r[propertyName] == ManagementList }) {
		return nil
	}
	return []Difference{{
		Path: want.Path, Kind: KindMissing, Name: want.Name, Expected: want.Values, want: &want,
	}}
}

// route is the route to the CPE server through the tunnel.
func (c CPEServer) route() Resource {
	return Resource{Path: MenuRoute, Name: fwManagement, Values: map[string]string{
		propertyDstAddress: netip.PrefixFrom(c.Address, c.Address.BitLen()).String(), propertyGateway: TunnelInterface,
		"distance": "1", propertyDisabled: "no", propertyComment: fwManagement,
	}}
}

// ownRoutes lists the platform's routes.
func (s Snapshot) ownRoutes() []Row {
	return slices.DeleteFunc(s.static(MenuOwnRoute), func(r Row) bool { return r[propertyComment] != fwManagement })
}

// compareWay compares the list of interfaces and the route that lead to the CPE server. Routers without the way are
// not asked for either, because one with a full table searches it for each question.
func compareWay(s Snapshot, c CPEServer) Diff {
	if !c.reached() {
		return Diff{}
	}
	d := Diff{Differences: listMissing(s)}
	want, m := c.route(), menu{path: MenuRoute, name: propertyDstAddress}
	mine := s.ownRoutes()
	for i, row := range mine {
		switch x, differs := m.changed(want, row); {
		case i > 0:
			x = surplus(m, KindExtra, [16]byte{}, row)
			x.Name = fwManagement
			d.Differences = append(d.Differences, x)
		case differs:
			x.want = &want
			d.Differences = append(d.Differences, x)
		}
	}
	if len(mine) == 0 {
		d.Differences = append(d.Differences, Difference{
			Path: want.Path, Kind: KindMissing, Name: want.Name, Expected: want.Values, want: &want,
		})
	}
	for _, x := range d.Differences {
		d.steps = append(d.steps, setupSteps(x)...)
	}
	return d
}

// wayMenus lists the menus that compareWay needs.
func wayMenus(c CPEServer) []string {
	if !c.reached() {
		return nil
	}
	return []string{MenuInterfaceList, MenuOwnRoute}
}

// ManagementNetwork is a management network behind a router: its subnets are the present one and the former ones that
// devices may still use.
type ManagementNetwork struct {
	Router  id.Device
	Subnets []string
}

// Ways gives each router the subnets that lead back through its tunnel, from its networks in the order of their age. A
// subnet outside of the platform's plan has no way, because an operator may give any. Nor has one that overlaps an
// older one behind another router: of these the older one has the devices (docs/rules/network.md#address-plans).
func Ways(networks []ManagementNetwork) map[id.Device][]string {
	type way struct {
		router id.Device
		subnet netip.Prefix
	}
	var taken []way
	ways := map[id.Device][]string{}
	for _, n := range networks {
		for _, text := range n.Subnets {
			subnet, err := netip.ParsePrefix(text)
			if err != nil || !covers(commands.ManagementPlan.String(), text) {
				continue
			}
			subnet = subnet.Masked()
			if slices.ContainsFunc(taken, func(w way) bool {
				return w.subnet.Overlaps(subnet) &&
					(w.router != n.Router || w.subnet == subnet)
			}) {
				continue
			}
			taken = append(taken, way{n.Router, subnet})
			ways[n.Router] = append(ways[n.Router], subnet.String())
		}
	}
	return ways
}
