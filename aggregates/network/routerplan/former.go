package routerplan

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// formerNote stands behind the tag of a row of a former subnet, which stays while the subnet is in use.
const formerNote = " former"

// sessionAgain is the time after which a former subnet with sessions in it is looked at again: a session does not say
// when it ends.
const sessionAgain = time.Hour

// present is the subnet of a service's row in a menu, in the form of that row; "" = the service keeps no former rows
// there. A service with public addresses has no row for translation, and its former private addresses still need
// theirs.
func (m menu) present(service Service, wanted []Resource) string {
	switch {
	case len(wanted) > 0:
		return wanted[0].Values[m.subnet]
	case m.path == MenuNAT && service.Masquerade:
		return service.Addressing.Subnet
	}
	return ""
}

// split takes the rows of former subnets out of the rows that a service has in a menu; present is its present subnet,
// as method present gives it. Devices keep their addresses until their leases or sessions end. For that time they need
// the former gateway and the translation of their addresses: the row stays, with a note in its comment.
func (m menu) split(s Snapshot, service id.Service, present string, live []Row) (own, former []Row) {
	if m.subnet == "" || present == "" {
		return live, nil
	}
	for _, row := range live {
		used := isFormer(row, service) || inUse(s, row[m.subnet], present)
		if used && !SameValue(m.subnet, row[m.subnet], present) {
			former = append(former, row)
		} else {
			own = append(own, row)
		}
	}
	return own, former
}

// isFormer reports whether a row has the note of a former subnet.
func isFormer(row Row, service id.Service) bool {
	return row[propertyComment] == ServiceComment(service)+formerNote
}

// former compares a row of a subnet that the service no longer has; present is its present subnet. Without a reading of
// the leases the row is as it should be.
func (m menu) former(s Snapshot, service id.Service, row Row, present string) (Difference, bool) {
	if _, read := s[MenuDHCPLease]; read && !inUse(s, row[m.subnet], present) {
		return surplus(m, KindExtra, service, row), true
	}
	want := Resource{Path: m.path, Name: row[m.subnet], Service: service, Values: map[string]string{
		propertyComment: ServiceComment(service) + formerNote,
	}}
	x, differs := m.changed(want, row)
	x.want = &want
	return x, differs
}

// Retiring is the part of a difference that removes rows of former subnets that nobody uses.
func (d Diff) Retiring() Diff {
	var part Diff
	for _, x := range d.Differences {
		if x.want == nil && isFormer(x.row, x.Service) {
			part.Differences = append(part.Differences, x)
		}
	}
	part.steps = order(part.Differences)
	return part
}

// Former tells how the former subnets of a service are used: whether the router has a row of one, or a device a lease
// or a session with an address in one, and the time after which to look again; 0 when that is not known. left has the
// subnets that the service was recorded to have left. The snapshot must have ApplyMenus, the last of them (UseMenus)
// read after the service was written: until then devices get addresses of the former subnet.
func Former(s Snapshot, service Service, left []events.FormerSubnet) (used bool, again time.Duration) {
	present := service.Addressing.Subnet
	subnets := make([]string, 0, len(left))
	for _, f := range left {
		subnets = append(subnets, f.Subnet)
		used = used || inUse(s, f.Subnet, present)
	}
	for _, m := range menus {
		for _, row := range s.static(m.path) {
			if m.subnet != "" && isFormer(row, service.ID) {
				used, subnets = true, append(subnets, row[m.subnet])
			}
		}
	}
	for _, subnet := range subnets {
		for _, l := range s[MenuDHCPLease] {
			if ends, ok := ParseDuration(l["expires-after"]); ok && leasedIn([]Row{l}, subnet, present) {
				again = max(again, ends)
			}
		}
		if sessionIn(s, subnet, present) {
			again = max(again, sessionAgain)
		}
	}
	return used, again
}

// inUse reports whether a device has a lease or a session with an address that only the former subnet has. Both subnets
// may be written as an address with a prefix.
func inUse(s Snapshot, former, present string) bool {
	return leasedIn(s[MenuDHCPLease], former, present) || sessionIn(s, former, present)
}

// leasedIn reports whether a device has a lease of an address that only the former subnet has.
func leasedIn(leases []Row, former, present string) bool {
	return slices.ContainsFunc(leases, func(l Row) bool {
		for _, property := range []string{"active-address", propertyAddress} {
			if within(former, l[property]) {
				return l["status"] != "waiting" && leftBehind(l[property], former, present)
			}
		}
		return false
	})
}

// sessionIn reports whether a customer is online with an address that only the former subnet has, at whatever server of
// the router.
func sessionIn(s Snapshot, former, present string) bool {
	has := func(r Row) bool { return leftBehind(r[propertyAddress], former, present) }
	return slices.ContainsFunc(s[MenuPPPActive], has) || slices.ContainsFunc(s[MenuHotspotActive], has)
}

// leftBehind reports whether an address is in the former subnet and, when the present one overlaps it, not in that.
// When both are the same subnet with another gateway, all of its addresses count.
func leftBehind(address, former, present string) bool {
	same := maskedPrefix(former) == maskedPrefix(present)
	return within(former, address) && (same || !within(present, address))
}

// maskedPrefix is the subnet of an address with a prefix; "" for a text that is none.
func maskedPrefix(text string) string {
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return ""
	}
	return prefix.Masked().String()
}

// within reports whether an address lies in a subnet; false when one of them is none.
func within(subnet, address string) bool {
	prefix, err := netip.ParsePrefix(subnet)
	ip, err2 := netip.ParseAddr(strings.TrimSpace(address))
	return err == nil && err2 == nil && prefix.Masked().Contains(ip)
}
