package routerplan

import (
	"strings"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// Row is one resource as a router shows it: property to value. Identifiers (".id") mean nothing after the next read.
type Row map[string]string

// Snapshot is what was read: rows by menu path without a leading slash ("ip/pool"), in the router's order.
type Snapshot map[string][]Row

// Menus of resources and of live state.
const (
	MenuInterface       = "interface"
	MenuBridge          = "interface/bridge"
	MenuBridgePort      = "interface/bridge/port"
	MenuInterfaceList   = "interface/list"
	MenuListMember      = "interface/list/member"
	MenuVlan            = "interface/vlan"
	MenuAddress         = "ip/address"
	MenuPool            = "ip/pool"
	MenuPPPProfile      = "ppp/profile"
	MenuPPPoEServer     = "interface/pppoe-server/server"
	MenuDHCPClient      = "ip/dhcp-client"
	MenuDHCPServer      = "ip/dhcp-server"
	MenuDHCPNetwork     = "ip/dhcp-server/network"
	MenuRoute           = "ip/route"
	MenuHotspotProfile  = "ip/hotspot/profile"
	MenuHotspot         = "ip/hotspot"
	MenuWalledGarden    = "ip/hotspot/walled-garden"
	MenuWalledGardenIP  = "ip/hotspot/walled-garden/ip"
	MenuPPPActive       = "ppp/active"
	MenuHotspotActive   = "ip/hotspot/active"
	MenuFirewallFilter  = "ip/firewall/filter"
	propertyID          = ".id"
	propertyName        = "name"
	propertyComment     = "comment"
	propertyDisabled    = "disabled"
	propertyDynamic     = "dynamic"
	propertyInterface   = "interface"
	propertyServer      = "server"
	propertyAction      = "action"
	propertyAddress     = "address"
	propertyDstHost     = "dst-host"
	propertyDstAddress  = "dst-address"
	propertyServiceName = "service-name"
)

// ServiceMenus are read to compare services: always these, however many services there are.
func ServiceMenus() []string {
	var all []string
	for _, m := range menus {
		all = append(all, m.path)
	}
	return all
}

// FirewallMenus are read to compare the firewall.
func FirewallMenus() []string { return []string{MenuFirewallFilter} }

// InterfaceMenus are read to tell which interfaces are reserved and to offer the others.
func InterfaceMenus() []string {
	return []string{
		MenuInterface, MenuBridge, MenuBridgePort, MenuInterfaceList, MenuListMember, MenuVlan, MenuDHCPClient,
		MenuRoute, MenuAddress,
	}
}

// CheckMenus are read before a service is made or changed: InterfaceMenus and what Occupied needs.
func CheckMenus() []string { return append(InterfaceMenus(), MenuDHCPNetwork, MenuPool) }

// SessionMenus are read to count the sessions that a disruptive change would drop.
func SessionMenus() []string { return []string{MenuPPPActive, MenuHotspotActive, MenuPPPoEServer} }

// ServiceTag begins the comment of every resource of a service.
const ServiceTag = "Platform-svc:"

// ServiceComment is the comment of a service's resources.
func ServiceComment(service id.Service) string { return ServiceTag + service.String() }

// Slug is the part of every name of a service's resources: the first 8 hex digits of its id.
func Slug(service id.Service) string {
	text := service.String()
	return text[:min(8, len(text))]
}

// taggedService reads the service of a comment. A note behind the tag, after a space, does not hide it.
func taggedService(comment string) (id.Service, bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(comment), ServiceTag)
	if !ok {
		return id.Service{}, false
	}
	text, _, _ := strings.Cut(rest, " ")
	service, err := id.Parse[id.Service](text)
	return service, err == nil
}

// isTrue reads a flag; an absent one is false.
func isTrue(value string) bool { return value == "true" || value == "yes" }

// static are the rows that somebody configured, without those that the router makes itself.
func (s Snapshot) static(path string) []Row {
	var rows []Row
	for _, r := range s[path] {
		if !isTrue(r[propertyDynamic]) {
			rows = append(rows, r)
		}
	}
	return rows
}
