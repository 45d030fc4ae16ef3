package routerplan

import (
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Sessions counts the connected customers that a change of the service would disconnect, whatever addresses they have.
// Devices with only a DHCP lease have no session. The snapshot must have SessionMenus.
func Sessions(s Snapshot, service Service) int {
	switch service.Binding.Type {
	case events.ServiceHotspot:
		return len(hotspotSessions(s, service.ID))
	case events.ServicePPPoE:
		return len(pppoeSessions(s, service.ID))
	case events.ServiceCPEManagement:
	}
	return 0
}

// pppoeSessions lists the sessions of the service's PPPoE server. The router names server and user of a session in
// MenuPPPoESession only. A row there that is not running is a binding of the operator's for a customer who is away.
func pppoeSessions(s Snapshot, service id.Service) []Row {
	servers := []string{names(service).pppoe}
	for _, r := range s[MenuPPPoEServer] {
		if tag, tagged := taggedService(r[propertyComment]); tagged && tag == service {
			servers = append(servers, r[propertyServiceName]) // an operator may have renamed it
		}
	}
	var found []Row
	for _, r := range s[MenuPPPoESession] {
		if slices.Contains(servers, r["service"]) && r["service"] != "" && r["running"] != "false" {
			found = append(found, r)
		}
	}
	return found
}

// hotspotSessions lists the signed-in customers of the service's hotspot, whatever name an operator gave it.
func hotspotSessions(s Snapshot, service id.Service) []Row {
	servers := []string{names(service).hotspot}
	for _, r := range s[MenuHotspot] {
		if ofProfile(r, names(service)) {
			servers = append(servers, r[propertyName])
		}
	}
	var found []Row
	for _, r := range s[MenuHotspotActive] {
		if slices.Contains(servers, r[propertyServer]) {
			found = append(found, r)
		}
	}
	return found
}

// sessionsOf lists all sessions of a service as things that the router should not have. Removing one disconnects the
// customer.
func sessionsOf(s Snapshot, service id.Service) []Difference {
	var found []Difference
	sessions := pppoeSessions(s, service)
	for _, r := range s[MenuPPPActive] {
		mine := func(session Row) bool {
			caller, from := r["caller-id"], session["remote-address"]
			return session["user"] == r[propertyName] && (caller == "" || from == "" || strings.EqualFold(caller, from))
		}
		if r["service"] == "pppoe" && slices.ContainsFunc(sessions, mine) {
			found = append(found, online(MenuPPPActive, service, r))
		}
	}
	for _, r := range hotspotSessions(s, service) {
		found = append(found, online(MenuHotspotActive, service, r))
	}
	return found
}

// identity are the properties that tell one session from another: identifiers of rows are used again.
var identity = []string{propertyName, "user", "service", propertyServer, "caller-id", "mac-address", propertyAddress}

// online is the difference of one session. Its name and values say nothing about the customer: what a run writes is
// recorded for ever.
func online(path string, service id.Service, r Row) Difference {
	name := "session"
	if r["session-id"] != "" {
		name += " " + r["session-id"]
	}
	shown := map[string]string{}
	for _, property := range []string{"service", propertyServer, "session-id"} {
		if r[property] != "" {
			shown[property] = r[property]
		}
	}
	return Difference{Path: path, Kind: KindExtra, Name: name, Service: service, Actual: shown, row: r}
}

// disconnection is the step that ends a session.
func disconnection(x Difference) Step {
	return Step{
		Path: x.Path, Operation: commands.OperationRemove, ID: x.row[propertyID], Name: x.Name, Service: x.Service,
		Before: x.Actual, session: x.row,
	}
}

// sameSession reports whether a row is still the session that a step ends.
func (s Step) sameSession(row Row) bool {
	return row[propertyID] == s.ID && !slices.ContainsFunc(identity, func(property string) bool {
		return row[property] != s.session[property]
	})
}
