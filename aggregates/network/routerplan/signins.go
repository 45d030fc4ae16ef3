package routerplan

import (
	"maps"
	"slices"
)

// SignIns tells which sign-ins a router takes to the platform's RADIUS server, whoever else is asked where that is
// silent.
type SignIns struct {
	PPP, Hotspot bool
	// Except are the servers with a RADIUS client of their own, and the hotspots that ask none.
	Except map[Server]bool
}

// Server is a hotspot by its name, or a server of PPPoE by that of its service.
type Server struct {
	Hotspot bool
	Name    string
}

// Come reports whether sign-ins of a server of PPP, or of a hotspot, come to the platform. A name may be "", where it
// is not known.
func (s SignIns) Come(hotspot bool, server string) bool {
	if come, is := s.Except[Server{hotspot, server}]; is {
		return come
	}
	return hotspot && s.Hotspot || !hotspot && s.PPP
}

// Home is how a router and the platform's RADIUS server reach each other.
type Home struct {
	// Server is the address of the RADIUS server; "" = whatever a client has leads to it, since the router's reports
	// come: a platform that has moved may answer at its former address, too.
	Server  string
	Tunnel  string // the router's own address in the tunnel; "" = not known
	Address string // its address outside, from which it asks another address of the platform; "" = not known
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
	out := SignIns{Except: map[Server]bool{}}
	out.PPP, out.Hotspot = home.asked(s, out.Except, false), home.asked(s, out.Except, true)
	if slices.ContainsFunc(s[MenuPPPAAA], off) {
		out.PPP = false
		maps.DeleteFunc(out.Except, func(server Server, _ bool) bool { return !server.Hotspot })
	}
	local := map[string]bool{}
	for _, r := range s[MenuHotspotProfile] {
		local[r[propertyName]] = off(r)
	}
	for _, r := range s[MenuHotspot] {
		if local[r["profile"]] {
			out.Except[Server{true, r[propertyName]}] = false
		}
	}
	return out
}

// off reports whether a row says that RADIUS is not used.
func off(r Row) bool { return r["use-radius"] != "" && !isTrue(r["use-radius"]) }

// asked reports whether the first RADIUS client that serves users of any server leads to the platform, and adds the
// servers that have one of their own before it. The next one is asked only where the first is silent
// (docs/facts/routeros.md#radius-order).
func (h Home) asked(s Snapshot, except map[Server]bool, hotspot bool) bool {
	for _, r := range s.static(MenuRadius) {
		server := Server{hotspot, r["called-id"]}
		_, before := except[server]
		switch {
		case passedOver(r) || !serves(r, hotspot) || before:
		case server.Name == "":
			return h.leads(r)
		default:
			except[server] = h.leads(r)
		}
	}
	return false
}

// passedOver reports whether a router asks no RADIUS client about sign-ins that is as a row.
func passedOver(r Row) bool { return isTrue(r[propertyDisabled]) || isTrue(r["accounting-backup"]) }

// serves reports whether a RADIUS client is for PPP, or for hotspots.
func serves(r Row, hotspot bool) bool {
	service := "ppp"
	if hotspot {
		service = "hotspot"
	}
	return slices.Contains(splitList(r["service"]), service)
}

// alone reports whether all RADIUS clients of PPP, or of hotspots, are the platform's.
func (h Home) alone(s Snapshot, hotspot bool) (us bool) {
	for _, r := range s[MenuRadius] {
		switch {
		case isTrue(r[propertyDisabled]) || !serves(r, hotspot):
		case r[propertyComment] != bootstrapComment || r["called-id"] != "" || !h.leads(r):
			return false
		default:
			us = true
		}
	}
	return us
}

// leads reports whether a RADIUS client asks the platform about all users of its servers.
func (h Home) leads(r Row) bool {
	own := []string{h.Tunnel}
	if h.Server == "" {
		own = append(own, h.Address)
	}
	for property, whole := range narrowing(r, own...) {
		if property != "called-id" && r[property] != whole {
			return false
		}
	}
	return h.Server == "" ||
		r[propertyAddress] == h.Server && slices.Contains([]string{"", "1812"}, r["authentication-port"])
}
