package routerplan

import (
	"slices"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// CheckBinding checks whether a service can be placed where it wants, on the router as it is now. A reserved interface
// is Malformed (400) reserved_interface; any other fault is Invalid (422) and names the field. An interface without a
// link is no fault: its cable may come later. The snapshot must have BindingMenus of the binding.
func CheckBinding(s Snapshot, service id.Service, b events.ServiceBinding) error {
	if reason, is := Reserved(s)[b.ParentInterface]; is {
		return failure.NewMalformed("reserved_interface", "Interface %s is reserved: %s.", b.ParentInterface, reason)
	}
	var f failure.Faults
	checkParent(&f, s, service, b.ParentInterface)
	for _, r := range s[MenuVlan] {
		tag, _ := taggedService(r[propertyComment])
		mine := tag == service || r[propertyName] == names(service).vlan
		if b.VlanID != 0 && r[propertyInterface] == b.ParentInterface &&
			SameValue("vlan-id", r["vlan-id"], vlanText(b.VlanID)) && !mine {
			f.Add("vlanId", "%d exists on %s already, as %s", b.VlanID, b.ParentInterface, r[propertyName])
		}
	}
	if needsServers(b) {
		checkServers(&f, s, service, b)
	}
	return f.Err()
}

// checkParent adds the faults of the interface itself: it must exist, be of a fit kind, be enabled with all that
// carries it, and belong to no service.
func checkParent(f *failure.Faults, s Snapshot, service id.Service, parent string) {
	group, found := "", false
	for _, r := range s[MenuInterface] {
		if r[propertyName] == parent {
			group, found = groupOf(r), true
		}
	}
	owner, ours := platformVlans(s)[parent]
	warning := warningOf(s, parent, lowerOf(s))
	switch {
	case !found:
		f.Add("parentInterface", "%s does not exist on this router", parent)
	case group == "":
		f.Add("parentInterface", "%s is not an ethernet port, SFP port, VLAN or bridge", parent)
	case ours && owner != service:
		f.Add("parentInterface", "%s belongs to another service", parent)
	case ours:
		f.Add("parentInterface", "%s belongs to this service itself", parent)
	case warning.Code != "" && warning.Code != warningLink:
		f.Add("parentInterface", "%s %s", parent, warning)
	}
}

// needsServers reports whether a service has a DHCP server or a hotspot on its parent interface itself. With a VLAN
// they are on the service's own VLAN, where nobody else has one; a PPPoE service has neither.
func needsServers(b events.ServiceBinding) bool {
	return b.VlanID == 0 && b.Type != events.ServicePPPoE
}

// checkServers adds a fault for a DHCP server, DHCP relay or hotspot of somebody else on the interface: a router has
// one of them on an interface, so that the service would be refused after a part of it was written.
func checkServers(f *failure.Faults, s Snapshot, service id.Service, b events.ServiceBinding) {
	own := names(service)
	for _, other := range []struct{ menu, what string }{
		{MenuDHCPServer, "DHCP server"}, {MenuDHCPRelay, "DHCP relay"}, {MenuHotspot, "hotspot"},
	} {
		for _, r := range s[other.menu] {
			tag, tagged := taggedService(r[propertyComment])
			mine := tagged && tag == service || r[propertyName] == own.dhcp || r[propertyName] == own.hotspot
			if r[propertyInterface] == b.ParentInterface && !mine {
				f.Add("parentInterface", "%s has a %s already: %s", b.ParentInterface, other.what, r[propertyName])
			}
		}
	}
}

// warningOf says why a service on an interface would not work now; zero when it would, or when nobody
// knows the interface.
func warningOf(s Snapshot, name string, below map[string][]string) Obstacle {
	rows := map[string]Row{}
	for _, r := range s[MenuInterface] {
		rows[r[propertyName]] = r
	}
	row := rows[name]
	switch {
	case isTrue(row[propertyDisabled]):
		return Obstacle{Code: warningDisabled}
	case isTrue(row["slave"]):
		return Obstacle{Code: warningPort}
	}
	if off := offBelow(name, rows, below, nil); off != "" {
		return Obstacle{Code: warningCarrier, Of: off}
	}
	switch {
	case isTrue(row["inactive"]):
		return Obstacle{Code: warningInactive}
	case row["running"] == "false":
		return Obstacle{Code: warningLink}
	}
	return Obstacle{}
}

// offBelow gives a disabled interface without which the one above carries nothing; "" when there is none. A bond
// carries while one of its ports does. path has the interfaces on the way, so that rows that refer to each other end.
func offBelow(name string, rows map[string]Row, below map[string][]string, path []string) string {
	if slices.Contains(path, name) {
		return ""
	}
	path = append(slices.Clone(path), name)
	off := ""
	for _, lower := range below[name] {
		down := lower
		if !isTrue(rows[lower][propertyDisabled]) {
			down = offBelow(lower, rows, below, path)
		}
		if down == "" {
			return ""
		}
		off = down
	}
	return off
}
