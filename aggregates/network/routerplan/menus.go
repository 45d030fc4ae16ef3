package routerplan

import (
	"regexp"
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
	// matchers that narrow a resource: one that is present and not desired makes it a different resource
	foreign []string
}

// menus are in the order of creation, so that a resource comes after those that it refers to; removal goes the other
// way. Services make no bridges, so a tagged bridge is left over from an earlier time.
var menus = []menu{
	{path: MenuBridge, name: propertyName},
	{path: MenuBridgePort, name: propertyInterface},
	{path: MenuVlan, name: propertyName, named: func(n resourceNames) string { return n.vlan }},
	{path: MenuAddress, name: propertyAddress},
	{path: MenuPool, name: propertyName, named: func(n resourceNames) string { return n.pool }},
	{
		path: MenuPPPProfile, name: propertyName, byName: true,
		named: func(n resourceNames) string { return n.pppProfile },
	},
	{path: MenuPPPoEServer, name: propertyServiceName, named: func(n resourceNames) string { return n.pppoe }},
	{path: MenuDHCPServer, name: propertyName, named: func(n resourceNames) string { return n.dhcp }},
	{path: MenuDHCPNetwork, name: propertyAddress},
	{
		path: MenuHotspotProfile, name: propertyName, byName: true,
		named: func(n resourceNames) string { return n.hotspotProfile },
	},
	{path: MenuHotspot, name: propertyName, byName: true, named: func(n resourceNames) string { return n.hotspot }},
	{
		path: MenuWalledGarden, name: propertyDstHost, key: []string{propertyDstHost},
		foreign: []string{"dst-port", "path", "method", "src-address", "dst-address"},
	},
	{
		path: MenuWalledGardenIP, name: propertyDstHost, key: []string{propertyDstHost, propertyDstAddress},
		foreign: []string{"dst-port", "protocol", "src-address", "dst-address-list", "src-address-list"},
	},
}

// resourceNames has the names of one service's resources; they follow from its id. Source:
// docs/rules/network.md#service-record.
type resourceNames struct {
	vlan, pool, pppProfile, pppoe, dhcp, hotspotProfile, hotspot string
}

// names derives all names from the slug.
func names(service id.Service) resourceNames {
	slug := Slug(service)
	return resourceNames{
		vlan: "vlan-svc-" + slug, pool: "pool-svc-" + slug, pppProfile: "ppp-prof-svc-" + slug,
		pppoe: "pppoe-svc-" + slug, dhcp: "dhcp-svc-" + slug, hotspotProfile: "hs-prof-svc-" + slug,
		hotspot: "hs-svc-" + slug,
	}
}

// ourName matches the names that the platform gives in menus without comments. An operator's resource does not get such
// a name by chance.
var ourName = regexp.MustCompile(`^(ppp-prof|hs-prof|hs)-svc-[0-9a-f]{8}$`)

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

// ownerOf finds the service of a row, by its comment or, in menus where the comment may be missing, by its exact name.
// ours: the row belongs to the platform. orphan: it belongs to none of the given services.
func (m menu) ownerOf(r Row, services map[id.Service]resourceNames) (owner id.Service, ours, orphan bool) {
	if tag, tagged := taggedService(r[propertyComment]); tagged {
		_, known := services[tag]
		return tag, true, !known
	}
	name := r[m.name]
	if m.named == nil || name == "" {
		return id.Service{}, false, false
	}
	for service, n := range services {
		if m.named(n) == name {
			return service, true, false
		}
	}
	if m.byName && ourName.MatchString(name) {
		return id.Service{}, true, true
	}
	return id.Service{}, false, false
}
