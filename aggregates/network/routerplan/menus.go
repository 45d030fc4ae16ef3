package routerplan

import (
	"slices"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// menu describes one menu of a router that can have resources of services.
type menu struct {
	path   string
	name   string   // property with the resource's name, or the property by which people know the resource
	key    []string // properties that distinguish several resources of one service; nil = a service has one
	byName bool     // resources may lack a comment: their deterministic name is the tag
	named  func(resourceNames) string
	// via recognises a resource that has lost its name by what it refers to; nil = by the name alone
	via func(Row, resourceNames) bool
	// matchers that narrow a resource: one that is present and not desired makes it a different resource
	foreign []string
	// property with a row's subnet, in a menu where the row of a former subnet stays while it is in use; "" = no such
	// menu
	subnet string
}

// menus are in the order of creation, so that a resource comes after those that it refers to; removal goes the other
// way. Services make no bridges, so a tagged bridge is left over from an earlier time.
var menus = []menu{
	{path: MenuBridge, name: propertyName},
	{path: MenuBridgePort, name: propertyInterface},
	{path: MenuVlan, name: propertyName, named: func(n resourceNames) string { return n.vlan }},
	{path: MenuListMember, name: propertyInterface},
	{path: MenuAddress, name: propertyAddress, subnet: propertyAddress},
	{path: MenuPool, name: propertyName, named: func(n resourceNames) string { return n.pool }},
	{
		path: MenuPPPProfile, name: propertyName, byName: true,
		named: func(n resourceNames) string { return n.pppProfile },
	},
	{path: MenuPPPoEServer, name: propertyServiceName, named: func(n resourceNames) string { return n.pppoe }},
	{path: MenuDHCPServer, name: propertyName, named: func(n resourceNames) string { return n.dhcp }},
	{path: MenuDHCPOption, name: propertyName, named: func(n resourceNames) string { return n.option }},
	{path: MenuDHCPNetwork, name: propertyAddress, subnet: propertyAddress},
	{
		path: MenuHotspotProfile, name: propertyName, byName: true,
		named: func(n resourceNames) string { return n.hotspotProfile },
	},
	{
		path: MenuHotspot, name: propertyName, byName: true, named: func(n resourceNames) string { return n.hotspot },
		via: ofProfile,
	},
	{
		path: MenuWalledGarden, name: propertyDstHost, key: []string{propertyDstHost},
		foreign: []string{"dst-port", "path", "method", "src-address", "dst-address"},
	},
	{
		path: MenuWalledGardenIP, name: propertyDstHost, key: []string{propertyDstHost, propertyDstAddress},
		foreign: []string{"dst-port", "protocol", "src-address", "dst-address-list", "src-address-list"},
	},
	{
		path: MenuNAT, name: propertySrcAddress, subnet: propertySrcAddress,
		foreign: []string{
			"dst-port", "protocol", "src-address-list", "dst-address-list", "out-interface", "out-interface-list",
			"in-interface", "to-addresses",
		},
	},
}

// resourceNames has the names of one service's resources; they follow from its id. Source:
// docs/rules/network.md#service-record.
type resourceNames struct {
	vlan, pool, pppProfile, pppoe, dhcp, option, hotspotProfile, hotspot string
}

// names derives all names from the slug.
func names(service id.Service) resourceNames {
	slug := Slug(service)
	return resourceNames{
		vlan: "vlan-svc-" + slug, pool: "pool-svc-" + slug, pppProfile: "ppp-prof-svc-" + slug,
		pppoe: "pppoe-svc-" + slug, dhcp: "dhcp-svc-" + slug, option: "acs-svc-" + slug,
		hotspotProfile: "hs-prof-svc-" + slug, hotspot: "hs-svc-" + slug,
	}
}

// ServerNames lists the names that a service's servers of customers have, which its sessions tell.
func ServerNames(service id.Service) []string {
	n := names(service)
	return []string{n.pppoe, n.hotspot}
}

// ofProfile reports whether a hotspot is a service's by its profile: an operator may rename the hotspot, which has no
// comment.
func ofProfile(r Row, n resourceNames) bool { return r["profile"] == n.hotspotProfile }

// rankOf is the place of a menu in the order of creation, -1 for a menu without resources of services.
func rankOf(path string) int {
	return slices.IndexFunc(menus, func(m menu) bool { return m.path == path })
}

// nameOf is the name by which people know a row; its comment when the row has none.
func (m menu) nameOf(values map[string]string) string {
	for _, property := range append([]string{m.name}, m.key...) {
		if values[property] != "" {
			return values[property]
		}
	}
	return values[propertyComment]
}

// owners are the services whose rows a comparison may meet, with the names of their rows.
type owners struct {
	known  map[id.Service]resourceNames // those that are compared
	others map[id.Service]resourceNames // those that the router should not have
}

// ownersOf lists the owners. Others are the services that the platform had on routers before, and those that a comment
// on this router names. A name alone makes a row the platform's only when it is the name of one of these services: an
// operator may give a hotspot a name in the same form.
func ownersOf(s Snapshot, services []Service, former []id.Service) owners {
	o := owners{known: map[id.Service]resourceNames{}, others: map[id.Service]resourceNames{}}
	for _, service := range services {
		o.known[service.ID] = names(service.ID)
	}
	add := func(service id.Service) {
		if _, known := o.known[service]; !known && !service.IsZero() {
			o.others[service] = names(service)
		}
	}
	for _, service := range former {
		add(service)
	}
	for _, m := range menus {
		for _, r := range s[m.path] {
			if tag, tagged := taggedService(r[propertyComment]); tagged {
				add(tag)
			}
		}
	}
	return o
}

// ownerOf finds the service of a row, by its comment, by the exact name of one of the service's rows, or by what the
// row refers to. In menus with comments the name counts only for services that are compared: what is no service's any
// more is recognised by its comment there. ours: the row belongs to the platform. orphan: it belongs to none of the
// compared services.
func (m menu) ownerOf(r Row, o owners) (owner id.Service, ours, orphan bool) {
	if tag, tagged := taggedService(r[propertyComment]); tagged {
		_, known := o.known[tag]
		return tag, true, !known
	}
	name := r[m.name]
	if m.named == nil || name == "" {
		return id.Service{}, false, false
	}
	for service, n := range o.known {
		if m.named(n) == name || m.via != nil && m.via(r, n) {
			return service, true, false
		}
	}
	if m.byName {
		for service, n := range o.others {
			if m.named(n) == name || m.via != nil && m.via(r, n) {
				return service, true, true
			}
		}
	}
	return id.Service{}, false, false
}
