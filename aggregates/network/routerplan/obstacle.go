package routerplan

import (
	"maps"
	"slices"
	"strings"
)

// Obstacle keeps a service from an interface. The zero value is none.
type Obstacle struct {
	Code string // one of Reservations or Warnings
	Of   string // the other interface, list or protocol that it names; "" = none
}

// String is the obstacle in English; "" for none.
func (o Obstacle) String() string {
	if words, reserved := reservations[o.Code]; reserved {
		return strings.ReplaceAll(words, "{of}", o.Of)
	}
	return strings.ReplaceAll(warnings[o.Code], "{of}", o.Of)
}

// Reservations lists the codes of why an interface is reserved, sorted. They are part of the API.
func Reservations() []string { return slices.Sorted(maps.Keys(reservations)) }

// Warnings lists the codes of why a service on an interface would not work now, sorted. They are part of the API.
func Warnings() []string { return slices.Sorted(maps.Keys(warnings)) }

// Codes of reservations.
const (
	reservedAlways  = "always"
	reservedMember  = "bridge_member"
	reservedDHCP    = "dhcp_client"
	reservedRoute   = "default_route"
	reservedList    = "list_member"
	reservedClient  = "client"
	reservedService = "service_bridge"
	reservedBond    = "bond_port"
	reservedCarrier = "uplink_carrier"
	reservedPort    = "other_port"
)

// reservations say in English why an interface is reserved, behind a colon.
var reservations = map[string]string{
	reservedAlways:  "always reserved",
	reservedMember:  "member of {of}",
	reservedDHCP:    "has a DHCP client",
	reservedRoute:   "a default route exits through it",
	reservedList:    "member of interface list {of}",
	reservedClient:  "{of} client",
	reservedService: "bridge of a service",
	reservedBond:    "port of the bond {of}",
	reservedCarrier: "carries the uplink {of}",
	reservedPort:    "port of another interface",
}

// Codes of warnings.
const (
	warningDisabled = "disabled"
	warningPort     = "port"
	warningCarrier  = "carrier_disabled"
	warningInactive = "inactive"
	warningLink     = "no_link" // its cable or carrier is away
	// servers that the platform did not make
	warningDHCP    = "foreign_dhcp_server"
	warningRelay   = "foreign_dhcp_relay"
	warningHotspot = "foreign_hotspot"
	warningPPPoE   = "foreign_pppoe_server"
)

// warnings say in English why a service on an interface would not work, behind its name.
var warnings = map[string]string{
	warningDisabled: "is disabled",
	warningPort:     "is a port of another interface",
	warningCarrier:  "is carried by {of}, which is disabled",
	warningInactive: "is inactive",
	warningLink:     "has no link",
	warningDHCP:     "has a DHCP server already: {of}",
	warningRelay:    "has a DHCP relay already: {of}",
	warningHotspot:  "has a hotspot already: {of}",
	warningPPPoE:    "has a PPPoE server already: {of}",
}
