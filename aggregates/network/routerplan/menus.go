package routerplan

import (
	"regexp"
	"slices"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// menu is what the platform knows about one menu that services have resources in.
type menu struct {
	path    string
	name    string   // property with the resource's name or, without one, what people know it by
	key     []string // properties that tell several resources of one service apart; none = a service has one
	byName  bool     // resources may have no comment: the deterministic name is the tag
	named   func(resourceNames) string
	foreign []string // matchers that narrow a resource: present and not desired means another resource
}

// menus are in the order of creation: what is referred to comes first. Removal goes the other way round. Services make
// no bridges; tagged ones are leftovers.
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

// resourceNames are the deterministic names of one service's resources. Source: docs/rules/network.md#service-record.
type resourceNames struct {
	vlan, pool, pppProfile, pppoe, dhcp, hotspotProfile, hotspot string
}

// names makes the names of a service.
func names(service id.Service) resourceNames {
	slug := Slug(service)
	return resourceNames{
		vlan: "vlan-svc-" + slug, pool: "pool-svc-" + slug, pppProfile: "ppp-prof-svc-" + slug,
		pppoe: "pppoe-svc-" + slug, dhcp: "dhcp-svc-" + slug, hotspotProfile: "hs-prof-svc-" + slug,
		hotspot: "hs-svc-" + slug,
	}
}

// ourName is the shape of the names of menus without comments: nobody else's resource has one by chance.
var ourName = regexp.MustCompile(`^(ppp-prof|hs-prof|hs)-svc-[0-9a-f]{8}$`)

// rankOf is the place of a menu in the order of creation.
func rankOf(path string) int {
	return slices.IndexFunc(menus, func(m menu) bool { return m.path == path })
}

// nameOf is how people know a row.
func (m menu) nameOf(values map[string]string) string {
	for _, property := range append([]string{m.name}, m.key...) {
		if values[property] != "" {
			return values[property]
		}
	}
	return values[propertyComment]
}

// ownerOf tells whose a row is. A row of ours is tagged by its comment or, where that may be missing, by its exact
// name. orphan: it is of the platform, and of none of the services of the device.
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
