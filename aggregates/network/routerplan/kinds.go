package routerplan

import "slices"

// menuTypes maps each menu that lists the interfaces of one type, with what lies below them, to the type that the menu
// interface shows for them. Source: docs/facts/routeros.md#interface-types.
var menuTypes = map[string]string{
	MenuVlan: "vlan", MenuBonding: "bond", MenuPPPoEClient: "pppoe-out", MenuVRRP: "vrrp", MenuMACVLAN: "macvlan",
	MenuMACsec: "macsec",
}

// otherTypes are the types of interfaces that are in none of those menus. A type that is missing here makes a reading
// longer, never wrong.
var otherTypes = []string{
	"ether", "bridge", "loopback", "wlan", "wifi", "lte", "wg", "pppoe-in", "ppp-in", "ppp-out", "l2tp-in", "l2tp-out",
	"sstp-in", "sstp-out", "pptp-in", "pptp-out", "ovpn-in", "ovpn-out",
}

// Stages divides the menus of one reading. A menu of the second stage needs to be read only unless Vacant says, after
// the first stage, that nothing is in it.
func Stages(menus []string) (first, second []string) {
	for _, menu := range menus {
		if menuTypes[menu] != "" {
			second = append(second, menu)
		} else {
			first = append(first, menu)
		}
	}
	return first, second
}

// Vacant reports whether nothing is in a menu of the second stage, by the types of all interfaces: none has the type of
// the menu, and each has a type that is known. It is false when the menu interface was not read, or shows nothing. It
// is right for the time at which that was read, so that what was written since must be read for itself.
func Vacant(s Snapshot, menu string) bool {
	kind, rows := menuTypes[menu], s[MenuInterface]
	return kind != "" && len(rows) > 0 && !slices.ContainsFunc(rows, func(r Row) bool {
		return r["type"] == kind || !knownType(r["type"])
	})
}

// knownType reports whether it is known in which menu the interfaces of a type are; a missing type is not known.
func knownType(kind string) bool {
	if slices.Contains(otherTypes, kind) {
		return true
	}
	for _, listed := range menuTypes {
		if listed == kind {
			return true
		}
	}
	return false
}
