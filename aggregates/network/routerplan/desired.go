package routerplan

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Service is what a service should be.
type Service struct {
	ID           id.Service
	Binding      events.ServiceBinding
	Addressing   events.ServiceAddressing
	WalledGarden events.WalledGarden
}

// Resource is one thing that should stand on a router. Values are the properties that the platform decides; all others
// are the operator's.
type Resource struct {
	Path    string
	Name    string
	Service id.Service
	Values  map[string]string
}

// Version is the version of a router's operating system; the zero value is an unknown one.
type Version struct{ Major, Minor int }

// ParseVersion reads "7.16 (stable)", "6.49.10 (stable)" or "7.23rc1"; what it cannot read is unknown.
func ParseVersion(text string) Version {
	major, rest, ok := strings.Cut(text, ".")
	if !ok {
		return Version{}
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end >= 0 {
		rest = rest[:end]
	}
	a, err := strconv.Atoi(strings.TrimSpace(major))
	b, err2 := strconv.Atoi(rest)
	if err != nil || err2 != nil {
		return Version{}
	}
	return Version{a, b}
}

// AtLeast compares versions; an unknown one is older than all.
func (v Version) AtLeast(major, minor int) bool {
	return v.Major > major || v.Major == major && v.Minor >= minor
}

// commentedProfiles is since when a PPP profile is known to have a comment. Source: docs/facts/routeros.md#releases.
func (v Version) commentedProfiles() bool { return v.AtLeast(7, 9) }

// hotspotLease is how long a device at a hotspot or a CPE keeps its address.
const (
	hotspotLease    = "1h"
	managementLease = "1d"
)

// vlanText is a VLAN id as routers write it.
func vlanText(vlan int) string { return strconv.Itoa(vlan) }

// Desired is everything that should stand on a router for a service, in the order of creation. It depends on nothing
// but the service and what the router's version can hold.
func Desired(s Service, v Version) []Resource {
	d := desire{service: s, names: names(s.ID), on: s.Binding.ParentInterface}
	if s.Binding.VlanID != 0 {
		d.on = d.names.vlan
		d.add(MenuVlan, map[string]string{
			propertyName: d.names.vlan, propertyInterface: s.Binding.ParentInterface,
			"vlan-id": vlanText(s.Binding.VlanID), propertyDisabled: "no",
		}, true)
	}
	switch s.Binding.Type {
	case events.ServicePPPoE:
		d.pppoe(v)
	case events.ServiceHotspot:
		d.addresses(hotspotLease)
		d.hotspot()
	case events.ServiceCPEManagement:
		d.addresses(managementLease)
	}
	return d.resources
}

// desire collects the resources of one service.
type desire struct {
	service   Service
	names     resourceNames
	on        string // the interface that carries it
	resources []Resource
}

// add puts one resource, with the service's comment where the menu has comments.
func (d *desire) add(path string, values map[string]string, comment bool) {
	if comment {
		values[propertyComment] = ServiceComment(d.service.ID)
	}
	d.resources = append(d.resources, Resource{
		Path: path, Name: menus[rankOf(path)].nameOf(values), Service: d.service.ID, Values: values,
	})
}

// pool is the range that customers get addresses from.
func (d *desire) pool() {
	a := d.service.Addressing
	d.add(MenuPool, map[string]string{propertyName: d.names.pool, "ranges": a.PoolStart + "-" + a.PoolEnd}, true)
}

// pppoe is a server with a profile of its own. The gateway is the near end of each session: the port needs no address.
func (d *desire) pppoe(v Version) {
	d.pool()
	d.add(MenuPPPProfile, map[string]string{
		propertyName: d.names.pppProfile, "local-address": d.service.Addressing.Gateway, "remote-address": d.names.pool,
	}, v.commentedProfiles())
	d.add(MenuPPPoEServer, map[string]string{
		propertyServiceName: d.names.pppoe, propertyInterface: d.on, "default-profile": d.names.pppProfile,
		"one-session-per-host": "yes", propertyDisabled: "no", // the router's own default is disabled
	}, true)
}

// addresses are gateway, pool and DHCP on the port.
func (d *desire) addresses(lease string) {
	a := d.service.Addressing
	d.add(MenuAddress, map[string]string{propertyAddress: a.Gateway + "/" + bitsOf(a.Subnet), propertyInterface: d.on,
		propertyDisabled: "no"}, true)
	d.pool()
	d.add(MenuDHCPServer, map[string]string{
		propertyName: d.names.dhcp, propertyInterface: d.on, "address-pool": d.names.pool, "lease-time": lease,
		propertyDisabled: "no",
	}, true)
	d.add(MenuDHCPNetwork, map[string]string{propertyAddress: a.Subnet, "gateway": a.Gateway, "dns-server": a.Gateway},
		true)
}

// hotspot is a server with a profile of its own, and its walled garden: by domain for plain web pages (http) and for
// everything else (ip), and by address.
func (d *desire) hotspot() {
	d.add(MenuHotspotProfile, map[string]string{
		propertyName: d.names.hotspotProfile, "hotspot-address": d.service.Addressing.Gateway, "use-radius": "yes",
		"radius-accounting": "yes",
	}, false)
	d.add(MenuHotspot, map[string]string{
		propertyName: d.names.hotspot, propertyInterface: d.on, "address-pool": d.names.pool,
		"profile": d.names.hotspotProfile, propertyDisabled: "no",
	}, false)
	for _, domain := range d.service.WalledGarden.Domains {
		d.add(MenuWalledGarden, map[string]string{propertyDstHost: domain, propertyServer: d.names.hotspot,
			propertyAction: "allow", propertyDisabled: "no"}, true)
	}
	for _, domain := range d.service.WalledGarden.Domains {
		d.add(MenuWalledGardenIP, map[string]string{propertyDstHost: domain, propertyServer: d.names.hotspot,
			propertyAction: "accept", propertyDisabled: "no"}, true)
	}
	for _, address := range d.service.WalledGarden.Addresses {
		d.add(MenuWalledGardenIP, map[string]string{
			propertyDstAddress: address, propertyServer: d.names.hotspot, propertyAction: "accept",
			propertyDisabled: "no",
		}, true)
	}
}

// bitsOf is the length of a subnet's prefix.
func bitsOf(subnet string) string {
	p, err := netip.ParsePrefix(subnet)
	if err != nil {
		return "32"
	}
	return strconv.Itoa(p.Bits())
}
