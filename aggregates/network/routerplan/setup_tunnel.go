package routerplan

import (
	"slices"
	"strconv"
)

// TunnelLink has the values of a router's SSTP client, through which the platform reaches it. Without a Concentrator
// the client is not compared.
type TunnelLink struct {
	Concentrator string // host name or address of the SSTP server
	Port         int
	User         string
}

// tunnelNeeded is the fault of a tunnel that differs. The platform does not write to it: each write makes the router
// dial again, a wrong one leaves no way to the router, and its password cannot be read back.
const tunnelNeeded = "carries the platform's own connection and is not written through it: run the bootstrap script " +
	"again on the router"

// tunnelClient compares the SSTP client of the management tunnel, except its password, which routers hide, and the
// check of the server's certificate, which an operator may make stricter than the script does.
func tunnelClient(s Snapshot, want TunnelLink, v Version) []Difference {
	rows, read := s[MenuSSTPClient]
	if !read || want.Concentrator == "" {
		return nil
	}
	port := strconv.Itoa(want.Port)
	values := map[string]string{
		"connect-to": want.Concentrator, "user": want.User, "profile": TunnelInterface, "add-default-route": "no",
		propertyDisabled: "no",
	}
	if !v.AtLeast(7, 0) {
		values["connect-to"] += ":" + port
	}
	m := menu{path: MenuSSTPClient, name: propertyName}
	r := Resource{Path: MenuSSTPClient, Name: TunnelInterface, Values: values}
	at := slices.IndexFunc(rows, func(row Row) bool { return row[propertyName] == TunnelInterface })
	if at < 0 {
		return []Difference{{Path: m.path, Kind: KindMissing, Name: r.Name, Expected: values, fault: tunnelNeeded}}
	}
	if rows[at]["port"] != "" { // release 6 has the port in connect-to
		values["port"] = port
	}
	x, differs := m.changed(r, rows[at])
	if !differs {
		return nil
	}
	x.fault = tunnelNeeded
	return []Difference{x}
}
