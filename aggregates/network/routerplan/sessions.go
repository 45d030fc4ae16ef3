package routerplan

import (
	"net/netip"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Sessions counts the customers that are connected through a service and would be dropped with it. A PPPoE session does
// not say which server it came through: it counts when its address is in the service's subnet, and when there is no
// other server that it could have come through. Devices with a DHCP lease have no session. Needs SessionMenus.
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

// isServerOf tells whether a PPPoE server is a service's.
func isServerOf(r Row, service id.Service) bool {
	tag, _ := taggedService(r[propertyComment])
	return tag == service || r[propertyServiceName] == names(service).pppoe
}

// count counts rows.
func count(rows []Row, is func(Row) bool) int {
	n := 0
	for _, r := range rows {
		if is(r) {
			n++
		}
	}
	return n
}
