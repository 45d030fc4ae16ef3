package routerplan

import (
	"net/netip"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Sessions counts the connected customers that a change of the service would disconnect. A PPPoE session does not show
// its server: it counts when its address is in the service's subnet, or when the router has no other server. Devices
// with only a DHCP lease have no session. The snapshot must have SessionMenus.
func Sessions(s Snapshot, service Service) int {
	switch service.Binding.Type {
	case events.ServiceHotspot:
		return count(s[MenuHotspotActive], func(r Row) bool { return r[propertyServer] == names(service.ID).hotspot })
	case events.ServicePPPoE:
		subnet, err := netip.ParsePrefix(service.Addressing.Subnet)
		alone := count(s[MenuPPPoEServer],
			func(r Row) bool { return !isTrue(r[propertyDisabled]) && !isServerOf(r, service.ID) }) == 0
		return count(s[MenuPPPActive], func(r Row) bool {
			address, bad := netip.ParseAddr(r[propertyAddress])
			inside := err == nil && bad == nil && subnet.Contains(address)
			return r["service"] == "pppoe" && (alone || inside)
		})
	case events.ServiceCPEManagement:
	}
	return 0
}

// isServerOf reports whether a PPPoE server belongs to the service, by its comment or its name.
func isServerOf(r Row, service id.Service) bool {
	tag, _ := taggedService(r[propertyComment])
	return tag == service || r[propertyServiceName] == names(service).pppoe
}

// count is the number of rows that fulfil the condition.
func count(rows []Row, is func(Row) bool) int {
	n := 0
	for _, r := range rows {
		if is(r) {
			n++
		}
	}
	return n
}
