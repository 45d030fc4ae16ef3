package routerplan

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// formerNote stands behind the tag of a row of a former subnet, which stays while devices have leases in it.
const formerNote = " former"

// split takes the rows of former subnets out of the rows that a service has in a menu. Devices keep their addresses
// until their leases run out, and need the former gateway for that time: while one has a lease there, the row stays,
// with a note in its comment.
func (m menu) split(s Snapshot, service id.Service, wanted []Resource, live []Row) (present, former []Row) {
	if !m.leased || len(wanted) == 0 {
		return live, nil
	}
	for _, row := range live {
		used := isFormer(row, service) || leasedIn(s[MenuDHCPLease], row[propertyAddress])
		if used && !SameValue(propertyAddress, row[propertyAddress], wanted[0].Values[propertyAddress]) {
			former = append(former, row)
		} else {
			present = append(present, row)
		}
	}
	return present, former
}

// isFormer reports whether a row has the note of a former subnet.
func isFormer(row Row, service id.Service) bool {
	return row[propertyComment] == ServiceComment(service)+formerNote
}

// former compares a row of a subnet that the service no longer has. Without a reading of the leases the row is as it
// should be.
func (m menu) former(s Snapshot, service id.Service, row Row) (Difference, bool) {
	if leases, read := s[MenuDHCPLease]; read && !leasedIn(leases, row[propertyAddress]) {
		return surplus(m, KindExtra, service, row), true
	}
	want := Resource{Path: m.path, Name: row[propertyAddress], Service: service, Values: map[string]string{
		propertyComment: ServiceComment(service) + formerNote,
	}}
	x, differs := m.changed(want, row)
	x.want = &want
	return x, differs
}

// Retiring is the part of a difference that removes rows of former subnets in which no device has a lease.
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

// Former tells what a router has of the former subnets of a service: whether any is left, and the remaining time of the
// longest lease in one; 0 when no lease says its end. The snapshot must have ApplyMenus.
func Former(s Snapshot, service id.Service) (left bool, longest time.Duration) {
	for _, path := range []string{MenuAddress, MenuDHCPNetwork} {
		for _, row := range s.static(path) {
			if !isFormer(row, service) {
				continue
			}
			left = true
			for _, l := range s[MenuDHCPLease] {
				if ends, ok := ParseDuration(l["expires-after"]); ok && leasedIn([]Row{l}, row[propertyAddress]) {
					longest = max(longest, ends)
				}
			}
		}
	}
	return left, longest
}

// leasedIn reports whether a device has an address of the subnet.
func leasedIn(leases []Row, subnet string) bool {
	prefix, err := netip.ParsePrefix(subnet)
	return err == nil && slices.ContainsFunc(leases, func(l Row) bool {
		for _, property := range []string{"active-address", propertyAddress} {
			address, err := netip.ParseAddr(strings.TrimSpace(l[property]))
			if err == nil && prefix.Masked().Contains(address) {
				return l["status"] != "waiting"
			}
		}
		return false
	})
}
