package routerplan

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Service is the desired state of one service.
type Service struct {
	ID           id.Service
	Binding      events.ServiceBinding
	Addressing   events.ServiceAddressing
	WalledGarden events.WalledGarden
	// DNS lists the name servers that customers are told; empty = the router itself for DHCP, and none for PPPoE.
	DNS []string
	// Masquerade makes the router translate the customers' addresses when they are private and no rule of the
	// operator's does.
	Masquerade bool
	// ACS is the address of the CPE server that the devices of a management network are told, and reach; empty = they
	// are told none, and what they reach is the operator's to decide.
	ACS string
	// Tunnelled says that the devices of a management network reach the CPE server through the tunnel and nothing else.
	Tunnelled bool
	// Shared says that another organization had management addresses in the subnet first.
	Shared bool
	// Allowed lists what customers of every walled garden reach, besides what WalledGarden names: see Garden.Allowed.
	Allowed []string
}

// Resource is one row that a router should have. Values are the properties that the platform decides; the operator
// decides all others.
type Resource struct {
	Path    string
	Name    string
	Service id.Service
	Values  map[string]string
}

// Version is the version of a router's operating system; the zero value is an unknown one.
type Version struct{ Major, Minor int }

// ParseVersion reads "7.16 (stable)", "6.49.10 (stable)" or "7.23rc1". Any other text gives the zero value.
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

// AtLeast compares versions; an unknown version is older than every other.
func (v Version) AtLeast(major, minor int) bool {
	return v.Major > major || v.Major == major && v.Minor >= minor
}

// commentedProfiles reports whether a PPP profile can have a comment, from 7.9 on. Source:
// docs/facts/routeros.md#releases.
func (v Version) commentedProfiles() bool { return v.AtLeast(7, 9) }

// Lease times of DHCP: for devices at a hotspot, and for customer routers in a management network.
const (
	hotspotLease    = "1h"
	managementLease = "1d"
)

// vlanText is a VLAN id as routers write it: decimal.
func vlanText(vlan int) string { return strconv.Itoa(vlan) }

// Desired lists the rows that a router should have for a service, in the order of creation. It depends only on the
// service and on the version of the router.
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
		d.masquerade()
	case events.ServiceHotspot:
		d.addresses(hotspotLease)
		d.hotspot()
		d.masquerade()
	case events.ServiceCPEManagement:
		d.addresses(managementLease)
		switch {
		case s.tunnelled():
			d.add(MenuListMember, map[string]string{
				propertyList: ManagementList, propertyInterface: d.on, propertyDisabled: "no",
			}, true)
		case s.ACS != "":
			d.masquerade()
		}
	}
	return d.resources
}

// desire collects the resources of one service, in the order of creation.
type desire struct {
	service   Service
	names     resourceNames
	on        string // the interface that carries the service: the parent, or the VLAN on it
	resources []Resource
}

// add puts one resource. comment is false for menus whose rows have no comment.
func (d *desire) add(path string, values map[string]string, comment bool) {
	if comment {
		values[propertyComment] = ServiceComment(d.service.ID)
	}
	d.resources = append(d.resources, Resource{
		Path: path, Name: menus[rankOf(path)].nameOf(values), Service: d.service.ID, Values: values,
	})
}

// pool is the range of addresses for customers.
func (d *desire) pool() {
	a := d.service.Addressing
	d.add(MenuPool, map[string]string{propertyName: d.names.pool, "ranges": a.PoolStart + "-" + a.PoolEnd}, true)
}

// pppoe makes a server with its own profile. The port needs no address, because the gateway is the router's end of each
// session.
func (d *desire) pppoe(v Version) {
	d.pool()
	profile := map[string]string{
		propertyName: d.names.pppProfile, "local-address": d.service.Addressing.Gateway, "remote-address": d.names.pool,
	}
	if len(d.service.DNS) > 0 {
		profile["dns-server"] = strings.Join(d.service.DNS, ",")
	}
	d.add(MenuPPPProfile, profile, v.commentedProfiles())
	d.add(MenuPPPoEServer, map[string]string{
		propertyServiceName: d.names.pppoe, propertyInterface: d.on, "default-profile": d.names.pppProfile,
		"one-session-per-host": "yes", propertyDisabled: "no", // a router creates servers disabled
	}, true)
}

// masquerade translates private addresses of customers on their way out. What goes to the tunnel keeps its address.
func (d *desire) masquerade() {
	if !d.service.Masquerade || !private(d.service.Addressing.Subnet) {
		return
	}
	d.add(MenuNAT, map[string]string{
		"chain": "srcnat", propertyAction: "masquerade", propertySrcAddress: d.service.Addressing.Subnet,
		propertyDstAddress: "!" + commands.TunnelPlan.String(), propertyDisabled: "no",
	}, true)
}

// addresses makes the gateway, the pool and the DHCP server on the port. lease is a RouterOS duration.
func (d *desire) addresses(lease string) {
	a := d.service.Addressing
	d.add(MenuAddress, map[string]string{propertyAddress: a.Gateway + "/" + bitsOf(a.Subnet), propertyInterface: d.on,
		propertyDisabled: "no"}, true)
	d.pool()
	d.add(MenuDHCPServer, map[string]string{
		propertyName: d.names.dhcp, propertyInterface: d.on, "address-pool": d.names.pool, "lease-time": lease,
		propertyDisabled: "no",
	}, true)
	// A hotspot answers its customers' questions for names itself, whatever server they ask. Devices of a tunnelled
	// network reach no other server. Anywhere else the default firewall drops questions to the router.
	dns := a.Gateway
	ask := d.service.Binding.Type == events.ServiceHotspot || d.service.tunnelled()
	if !ask && len(d.service.DNS) > 0 {
		dns = strings.Join(d.service.DNS, ",")
	}
	network := map[string]string{propertyAddress: a.Subnet, propertyGateway: a.Gateway, "dns-server": dns}
	if d.service.Binding.Type == events.ServiceCPEManagement && d.service.ACS != "" {
		d.add(MenuDHCPOption, map[string]string{
			propertyName: d.names.option, "code": "43", "value": acsOption(d.service.ACS),
		}, true)
		network["dhcp-option"] = d.names.option
	}
	d.add(MenuDHCPNetwork, network, true)
}

// acsOption is the value of DHCP option 43 that leads a device to its CPE server: the address as sub-option 1 (TR-069,
// 3.1). It is written in hexadecimal digits, so that no character of an address has a meaning for the router.
func acsOption(address string) string {
	return fmt.Sprintf("0x01%02x%x", len(address), address)
}

// hotspot makes a server with its own profile and its walled garden. A domain needs two rows: one for plain web pages
// (http) and one for all other traffic (ip). Addresses need the ip row only. Devices sign in on the page, or by their
// MAC, and never by a cookie, which signs a device in again whose session was ended, without anybody typing. An
// operator may add other ways of the page (free).
func (d *desire) hotspot() {
	d.add(MenuHotspotProfile, map[string]string{
		propertyName: d.names.hotspotProfile, "hotspot-address": d.service.Addressing.Gateway, "use-radius": "yes",
		"radius-accounting": "yes", propertyLoginBy: "http-chap,mac",
	}, false)
	d.add(MenuHotspot, map[string]string{
		propertyName: d.names.hotspot, propertyInterface: d.on, "address-pool": d.names.pool,
		"profile": d.names.hotspotProfile, propertyDisabled: "no",
	}, false)
	domains, addresses := d.service.reachable()
	for _, domain := range domains {
		d.add(MenuWalledGarden, map[string]string{propertyDstHost: domain, propertyServer: d.names.hotspot,
			propertyAction: "allow", propertyDisabled: "no"}, true)
	}
	for _, domain := range domains {
		d.add(MenuWalledGardenIP, map[string]string{propertyDstHost: domain, propertyServer: d.names.hotspot,
			propertyAction: "accept", propertyDisabled: "no"}, true)
	}
	for _, address := range addresses {
		d.add(MenuWalledGardenIP, map[string]string{
			propertyDstAddress: address, propertyServer: d.names.hotspot, propertyAction: "accept",
			propertyDisabled: "no",
		}, true)
	}
}

// reachable lists the host names, and the addresses and subnets, that are reached from a hotspot before the sign-in,
// each once.
func (s Service) reachable() (domains, addresses []string) {
	domains, addresses = slices.Clone(s.WalledGarden.Domains), slices.Clone(s.WalledGarden.Addresses)
	for _, site := range s.Allowed {
		_, err := netip.ParsePrefix(site)
		_, err2 := netip.ParseAddr(site)
		switch {
		case err == nil || err2 == nil:
			addresses = append(addresses, site)
		default:
			domains = append(domains, site)
		}
	}
	slices.Sort(domains)
	slices.Sort(addresses)
	return slices.Compact(domains), slices.Compact(addresses)
}

// bitsOf is the length of a subnet's prefix in decimal, "32" for a text that is no subnet.
func bitsOf(subnet string) string {
	p, err := netip.ParsePrefix(subnet)
	if err != nil {
		return "32"
	}
	return strconv.Itoa(p.Bits())
}
