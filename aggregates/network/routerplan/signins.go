package routerplan

import "slices"

// SignIns tells which sign-ins a router takes to the platform's RADIUS server, whoever else is asked where that is
// silent.
type SignIns struct {
	PPP, Hotspot bool
	// Local are the hotspots that ask no RADIUS server.
	Local []string
}

// Come reports whether sign-ins of PPP, or of a hotspot of some name, come to the platform.
func (s SignIns) Come(hotspot bool, server string) bool {
	if hotspot {
		return s.Hotspot && !slices.Contains(s.Local, server)
	}
	return s.PPP
}

// Home is how a router and the platform's RADIUS server reach each other.
type Home struct {
	// Server is the address of the RADIUS server; "" = whatever a client has leads to it, since the router's reports
	// come: a platform that has moved may answer at its former address, too.
	Server string
	Router string // the router's own address in the tunnel; "" = not known
}

// SignInReads lists what is read before SignInsOf.
func SignInReads() []Read {
	return []Read{
		{Menu: MenuRadius, Props: []string{
			propertyID, "service", propertyComment, propertyDisabled, propertyDynamic, propertyAddress,
			"authentication-port", "called-id", "domain", "realm", "protocol", "accounting-backup", propertySrcAddress,
		}},
		{Menu: MenuPPPAAA, Props: []string{"use-radius"}},
		{
			Menu:  MenuHotspot,
			Props: []string{propertyID, propertyName, propertyInterface, "profile", propertyDisabled},
		},
		{Menu: MenuHotspotProfile, Props: []string{propertyID, propertyName, "use-radius"}},
	}
}

// SignInsOf finds out which sign-ins come to the platform. A switch that the router does not show is believed to be on.
func SignInsOf(s Snapshot, home Home) SignIns {
	out := SignIns{PPP: home.asked(s, "ppp"), Hotspot: home.asked(s, "hotspot")}
	for _, r := range s[MenuPPPAAA] {
		out.PPP = out.PPP && !off(r)
	}
	local := map[string]bool{}
	for _, r := range s[MenuHotspotProfile] {
		local[r[propertyName]] = off(r)
	}
	for _, r := range s[MenuHotspot] {
		if local[r["profile"]] {
			out.Local = append(out.Local, r[propertyName])
		}
	}
	return out
}

// off reports whether a row says that RADIUS is not used.
func off(r Row) bool { return r["use-radius"] != "" && !isTrue(r["use-radius"]) }

// asked reports whether the first RADIUS client that serves all users of a service leads to the platform. The next one
// is asked only where the first is silent (docs/facts/routeros.md#radius-order).
func (h Home) asked(s Snapshot, service string) bool {
	for _, r := range s.static(MenuRadius) {
		if !isTrue(r[propertyDisabled]) && r["called-id"] == "" && slices.Contains(splitList(r["service"]), service) {
			return h.leads(r)
		}
	}
	return false
}

// alone reports whether all RADIUS clients of a service are the platform's.
func (h Home) alone(s Snapshot, service string) (us bool) {
	for _, r := range s[MenuRadius] {
		switch {
		case isTrue(r[propertyDisabled]) || !slices.Contains(splitList(r["service"]), service):
		case r[propertyComment] != bootstrapComment || !h.leads(r):
			return false
		default:
			us = true
		}
	}
	return us
}

// leads reports whether a RADIUS client asks the platform about all users of its services.
func (h Home) leads(r Row) bool {
	for property, whole := range narrowing(r, h.Router) {
		if r[property] != whole {
			return false
		}
	}
	return h.Server == "" ||
		r[propertyAddress] == h.Server && slices.Contains([]string{"", "1812"}, r["authentication-port"])
}
