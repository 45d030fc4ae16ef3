package routerplan

import (
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Row is one resource as a router shows it: property to value. Its identifier (".id") is valid only until the next
// read.
type Row map[string]string

// Snapshot has the rows of each menu that was read, in the router's order. A key is the menu's path without a leading
// slash ("ip/pool").
type Snapshot map[string][]Row

// Paths of the menus that the platform reads, and names of their properties.
const (
	MenuInterface       = "interface"
	MenuBridge          = "interface/bridge"
	MenuBridgePort      = "interface/bridge/port"
	MenuInterfaceList   = "interface/list"
	MenuListMember      = "interface/list/member"
	MenuBonding         = "interface/bonding"
	MenuPPPoEClient     = "interface/pppoe-client"
	MenuMACVLAN         = "interface/macvlan"
	MenuVRRP            = "interface/vrrp"
	MenuMACsec          = "interface/macsec"
	MenuPPPoESession    = "interface/pppoe-server" // without "/server": one row for each session, with server and user
	MenuVlan            = "interface/vlan"
	MenuAddress         = "ip/address"
	MenuPool            = "ip/pool"
	MenuPPPProfile      = "ppp/profile"
	MenuPPPoEServer     = "interface/pppoe-server/server"
	MenuDHCPClient      = "ip/dhcp-client"
	MenuDHCPServer      = "ip/dhcp-server"
	MenuDHCPRelay       = "ip/dhcp-relay"
	MenuDHCPLease       = "ip/dhcp-server/lease"
	MenuDHCPNetwork     = "ip/dhcp-server/network"
	MenuDHCPOption      = "ip/dhcp-server/option"
	MenuRoute           = "ip/route"
	MenuHotspotProfile  = "ip/hotspot/profile"
	MenuHotspot         = "ip/hotspot"
	MenuWalledGarden    = "ip/hotspot/walled-garden"
	MenuWalledGardenIP  = "ip/hotspot/walled-garden/ip"
	MenuPPPActive       = "ppp/active"
	MenuHotspotActive   = "ip/hotspot/active"
	MenuFirewallFilter  = "ip/firewall/filter"
	MenuNAT             = "ip/firewall/nat"
	propertySrcAddress  = "src-address"
	propertyID          = ".id"
	propertyName        = "name"
	propertyComment     = "comment"
	propertyDisabled    = "disabled"
	propertyDynamic     = "dynamic"
	propertyTimeout     = "timeout"
	propertyInterface   = "interface"
	propertyServer      = "server"
	propertyAction      = "action"
	propertyAddress     = "address"
	propertyDstHost     = "dst-host"
	propertyDstAddress  = "dst-address"
	propertyDstPort     = "dst-port"
	propertySrcList     = "src-address-list"
	propertyDstList     = "dst-address-list"
	propertyServiceName = "service-name"
	propertyLoginBy     = "login-by"
	propertyIn          = "in-interface"
	propertyInList      = "in-interface-list"
	propertyGateway     = "gateway"
)

// ServiceMenus lists the menus to read before services are compared. The list does not depend on the services.
func ServiceMenus() []string {
	all := []string{MenuInterface}
	for _, m := range menus {
		all = append(all, m.path)
	}
	return append(all, MenuDHCPClient, MenuRoute, MenuInterfaceList) // the uplinks: see translated
}

// MenuOwnRoute is MenuRoute with the platform's own routes alone. Its rows stand under this name in a snapshot; steps
// have the menu.
const MenuOwnRoute = MenuRoute + "?own"

// MenuOf is the menu of a router in which the rows of a name in a snapshot are.
func MenuOf(name string) string {
	menu, _, _ := strings.Cut(name, "?")
	return menu
}

// Narrow gives the condition with which a menu is read; nil = the whole menu. Of the routes only the default ones are
// asked for, or the platform's own, because a router with a full table has hundreds of thousands. Source:
// docs/facts/routeros.md#routes. Of the address lists only the platform's own is, because operators keep lists of many
// thousands.
func Narrow(menu string) map[string]string {
	switch menu {
	case MenuRoute:
		return map[string]string{propertyDstAddress: "0.0.0.0/0"}
	case MenuOwnRoute:
		return map[string]string{propertyComment: fwManagement}
	case MenuAddressList:
		return map[string]string{propertyList: AllowedList}
	}
	return nil
}

// UseMenus lists the menus that say which customers' addresses are in use.
func UseMenus() []string { return []string{MenuDHCPLease, MenuPPPActive, MenuHotspotActive} }

// ApplyMenus lists the menus to read before services are written: with the addresses in use, it is known which rows of
// a former subnet are still needed.
func ApplyMenus() []string { return append(ServiceMenus(), UseMenus()...) }

// FirewallMenus lists the menus to read before CompareFirewall.
func FirewallMenus(f Firewall) []string {
	return append([]string{MenuFirewallFilter, MenuNAT, MenuAddressList}, wayMenus(f.CPE)...)
}

// InterfaceMenus lists the menus to read before Reserved, some of them only where Vacant does not say that
// they are empty.
func InterfaceMenus() []string {
	return []string{
		MenuInterface, MenuBridge, MenuBridgePort, MenuInterfaceList, MenuListMember, MenuVlan, MenuBonding,
		MenuMACVLAN, MenuVRRP, MenuMACsec, MenuPPPoEClient, MenuDHCPClient, MenuRoute, MenuAddress,
	}
}

// PickerMenus lists the menus to read before Picker: InterfaceMenus, and those of the servers that can be on an
// interface.
func PickerMenus() []string {
	return append(InterfaceMenus(), MenuDHCPServer, MenuDHCPRelay, MenuHotspot, MenuPPPoEServer)
}

// BindingMenus lists the menus to read before CheckBinding with one of the bindings: InterfaceMenus, and where a
// service needs servers of its own on the interface, the menus of those that can be there already.
func BindingMenus(bindings ...events.ServiceBinding) []string {
	if !slices.ContainsFunc(bindings, needsServers) {
		return InterfaceMenus()
	}
	return append(InterfaceMenus(), MenuDHCPServer, MenuDHCPRelay, MenuHotspot)
}

// CheckMenus lists the menus to read before a service is created or changed: BindingMenus and those that Occupied
// needs.
func CheckMenus(b events.ServiceBinding) []string {
	return append(BindingMenus(b), MenuDHCPNetwork, MenuPool)
}

// SessionMenus lists the menus to read before Sessions and CompareRemoval.
func SessionMenus() []string {
	return []string{MenuPPPActive, MenuPPPoESession, MenuPPPoEServer, MenuHotspotActive, MenuHotspot}
}

// ServiceTag begins the comment of every resource of a service.
const ServiceTag = "Platform-svc:"

// ServiceComment tags a resource with its service: ServiceTag and the id.
func ServiceComment(service id.Service) string { return ServiceTag + service.String() }

// Slug is the short name of a service in the names of its resources: the first 8 hex digits of its id.
func Slug(service id.Service) string {
	text := service.String()
	return text[:min(8, len(text))]
}

// taggedService reads the service from a comment. Text after the tag and a space is a note and is ignored.
func taggedService(comment string) (id.Service, bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(comment), ServiceTag)
	if !ok {
		return id.Service{}, false
	}
	text, _, _ := strings.Cut(rest, " ")
	service, err := id.Parse[id.Service](text)
	return service, err == nil
}

// isTrue reads a flag of a router ("true" or "yes"); an absent flag is false.
func isTrue(value string) bool { return value == "true" || value == "yes" }

// static lists the rows of a menu that were configured, without the rows that the router makes itself.
func (s Snapshot) static(path string) []Row {
	var rows []Row
	for _, r := range s[path] {
		if !isTrue(r[propertyDynamic]) {
			rows = append(rows, r)
		}
	}
	return rows
}
