package commands

import (
	"cmp"
	"encoding/binary"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// Limits of a service.
const (
	maxInterfaceName = 63
	maxVlanID        = 4094
	maxGarden        = 250 // entries in each list; a domain makes two resources on the router
	minSubnetBits    = 8   // the largest subnet
	maxSubnetBits    = 30  // the smallest subnet with room for a gateway and a customer
)

// domainShape is a host name in lower case, with an optional leading wildcard.
var domainShape = regexp.MustCompile(
	`^(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// CheckBinding adds the faults of type, interface and VLAN.
func CheckBinding(f *failure.Faults, b events.ServiceBinding) {
	f.Check(b.Type == events.ServicePPPoE || b.Type == events.ServiceHotspot || b.Type == events.ServiceCPEManagement,
		"type", "must be pppoe, hotspot or cpe-management")
	f.Check(b.ParentInterface != "" && len(b.ParentInterface) <= maxInterfaceName && !hasControl(b.ParentInterface) &&
		strings.TrimFunc(b.ParentInterface, unicode.IsSpace) == b.ParentInterface, "parentInterface",
		"must be the name of an interface")
	f.Check(b.VlanID >= 0 && b.VlanID <= maxVlanID, "vlanId", "must be from 1 to %d", maxVlanID)
}

// CheckAddressing adds the faults of an IPv4 plan. An empty field is a fault only when there is no other one, because
// CompleteAddressing leaves a field empty when another field is wrong.
func CheckAddressing(f *failure.Faults, a events.ServiceAddressing) {
	subnet, err := netip.ParsePrefix(a.Subnet)
	switch {
	case a.Subnet == "":
		f.Add("subnet", "is required with gateway, poolStart or poolEnd")
		return
	case err != nil || !subnet.Addr().Is4():
		f.Add("subnet", "must be an IPv4 subnet such as 10.50.1.0/24")
		return
	case subnet.Masked() != subnet:
		f.Add("subnet", "has host bits set, did you mean %s", subnet.Masked())
		return
	case subnet.Bits() < minSubnetBits || subnet.Bits() > maxSubnetBits:
		f.Add("subnet", "must be from /%d to /%d", minSubnetBits, maxSubnetBits)
		return
	case !isUsable(subnet):
		f.Add("subnet", "must not overlap loopback, link-local, multicast or the management tunnel %s", TunnelPlan)
		return
	}
	var own failure.Faults
	checkHosts(&own, a, subnet)
	*f = append(*f, own...)
}

// checkHosts adds the faults of gateway and pool within the subnet.
func checkHosts(f *failure.Faults, a events.ServiceAddressing, subnet netip.Prefix) {
	gateway := checkHost(f, "gateway", a.Gateway, subnet)
	start, end := checkHost(f, "poolStart", a.PoolStart, subnet), checkHost(f, "poolEnd", a.PoolEnd, subnet)
	switch {
	case len(*f) > 0:
	case a.Gateway == "" && start == subnet.Addr().Next() && end == Broadcast(subnet).Prev():
		f.Add("poolStart", "and poolEnd leave no address for the gateway")
	default:
		f.Check(a.Gateway != "", "gateway", "is required")
		f.Check(a.PoolStart != "", "poolStart", "is required")
		f.Check(a.PoolEnd != "", "poolEnd", "is required")
	}
	if !start.IsValid() || !end.IsValid() {
		return
	}
	f.Check(start.Compare(end) <= 0, "poolEnd", "must not be before poolStart")
	inside := gateway.IsValid() && start.Compare(gateway) <= 0 && gateway.Compare(end) <= 0
	f.Check(!inside, "gateway", "must not be inside the pool")
}

// checkHost parses an address and adds a fault unless it is a host of the subnet. An empty text gives the zero address
// without a fault.
func checkHost(f *failure.Faults, field, text string, subnet netip.Prefix) netip.Addr {
	if text == "" {
		return netip.Addr{}
	}
	address, err := netip.ParseAddr(text)
	switch {
	case err != nil || !address.Is4():
		f.Add(field, "must be an IPv4 address")
		return netip.Addr{}
	case !subnet.Contains(address) || address == subnet.Addr() || address == Broadcast(subnet):
		f.Add(field, "must be a host of the subnet %s", subnet)
		return netip.Addr{}
	}
	return address
}

// unusable lists the ranges that no service may overlap.
var unusable = []netip.Prefix{
	TunnelPlan, netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("127.0.0.0/8"),
	netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("224.0.0.0/3"),
}

// isUsable reports whether customers may have addresses in the subnet.
func isUsable(subnet netip.Prefix) bool {
	return !slices.ContainsFunc(unusable, subnet.Overlaps)
}

// Broadcast is the last address of an IPv4 subnet.
func Broadcast(subnet netip.Prefix) netip.Addr {
	b := subnet.Masked().Addr().As4()
	n := binary.BigEndian.Uint32(b[:]) | uint32(uint64(1)<<(32-subnet.Bits())-1)
	binary.BigEndian.PutUint32(b[:], n)
	return netip.AddrFrom4(b)
}

// CompleteAddressing fills the empty fields from the subnet: the first host as gateway, and the larger side of the
// gateway as pool. Without a valid subnet it changes nothing.
func CompleteAddressing(a events.ServiceAddressing) events.ServiceAddressing {
	subnet, err := netip.ParsePrefix(a.Subnet)
	if err != nil || !subnet.Addr().Is4() || subnet.Bits() > maxSubnetBits || subnet.Masked() != subnet {
		return a
	}
	first, last := subnet.Addr().Next(), Broadcast(subnet).Prev()
	if a.Gateway == "" {
		a.Gateway = first.String()
		if a.PoolStart == first.String() {
			a.Gateway = last.String() // the given pool begins at the first host
		}
		if a.Gateway == a.PoolEnd { // and ends at the last one: no host is left
			a.Gateway = "" // and to the last: no host is left
		}
	}
	gateway, err := netip.ParseAddr(a.Gateway)
	if err != nil || !subnet.Contains(gateway) {
		return a
	}
	from, to := gateway.Next(), last
	before := below(first, gateway) > below(gateway, last)
	if given := cmp.Or(a.PoolStart, a.PoolEnd); given != "" { // the pool lies on the side of the given bound
		bound, err := netip.ParseAddr(given)
		before = err != nil || bound.Compare(gateway) <= 0
	}
	if before {
		from, to = first, gateway.Prev()
	}
	if a.PoolStart == "" {
		a.PoolStart = from.String()
	}
	if a.PoolEnd == "" {
		a.PoolEnd = to.String()
	}
	return a
}

// below is the number of addresses from a up to b.
func below(a, b netip.Addr) uint32 {
	x, y := a.As4(), b.As4()
	return binary.BigEndian.Uint32(y[:]) - binary.BigEndian.Uint32(x[:])
}

// CheckWalledGarden adds the faults of a walled garden. Only a service with customers may have one.
func CheckWalledGarden(f *failure.Faults, t events.ServiceType, w events.WalledGarden) {
	if t == events.ServiceCPEManagement {
		f.Check(len(w.Domains) == 0 && len(w.Addresses) == 0, "walledGarden", "belongs to types pppoe and hotspot")
		return
	}
	f.Check(len(w.Domains) <= maxGarden, "walledGarden.domains", "must have at most %d entries", maxGarden)
	f.Check(len(w.Addresses) <= maxGarden, "walledGarden.addresses", "must have at most %d entries", maxGarden)
	for _, d := range w.Domains {
		f.Check(len(d) <= 253 && domainShape.MatchString(d), "walledGarden.domains",
			"%q is not a domain such as example.com or *.example.com", d)
	}
	for _, a := range w.Addresses {
		normal, ok := normalAddress(a)
		f.Check(ok && normal == a, "walledGarden.addresses", "%q is not an IPv4 address or subnet", a)
	}
	f.Check(isSortedSet(w.Domains) && isSortedSet(w.Addresses), "walledGarden",
		"must have each entry once, in order")
}

// isSortedSet reports whether a list is sorted and has no entry twice.
func isSortedSet(list []string) bool {
	return slices.IsSorted(list) && len(slices.Compact(slices.Clone(list))) == len(list)
}

// NormalWalledGarden returns the form that commands require: trimmed, lower case, sorted, each entry once.
func NormalWalledGarden(w events.WalledGarden) events.WalledGarden {
	var out events.WalledGarden
	for _, d := range w.Domains {
		out.Domains = append(out.Domains, strings.TrimSuffix(strings.ToLower(strings.TrimSpace(d)), "."))
	}
	for _, a := range w.Addresses {
		normal, _ := normalAddress(strings.TrimSpace(a))
		out.Addresses = append(out.Addresses, normal)
	}
	slices.Sort(out.Domains)
	slices.Sort(out.Addresses)
	out.Domains, out.Addresses = slices.Compact(out.Domains), slices.Compact(out.Addresses)
	return out
}

// normalAddress writes an IPv4 address or prefix as a router does: a /32 without its length, a prefix without host
// bits. ok is false for any other text, which is returned unchanged.
func normalAddress(text string) (normal string, ok bool) {
	if address, err := netip.ParseAddr(text); err == nil && address.Is4() {
		return address.String(), true
	}
	prefix, err := netip.ParsePrefix(text)
	switch {
	case err != nil || !prefix.Addr().Is4() || prefix.Bits() == 0:
		return text, false
	case prefix.Bits() == 32:
		return prefix.Addr().String(), true
	}
	return prefix.Masked().String(), true
}
