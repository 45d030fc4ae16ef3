package routerplan

import (
	"maps"
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Values of the property "place", which no router has: a move or the place of an addition writes it.
const (
	propertyPlace = "place"
	placeFirst    = "before all other clients of these services"
)

// radiusServices are the services whose users the platform's RADIUS server knows.
var radiusServices = []string{"ppp", "hotspot"}

// narrowing gives the values that the platform's RADIUS client must have of those properties with which it would serve
// a part of the users only, or none: under another name, from an address that the server does not know, in a protocol
// that the server does not have, or as a second one for accounting. own are the router's addresses. It has only
// properties whose present value is another one; an absent property is as good as its default.
func narrowing(row Row, own ...string) map[string]string {
	values := map[string]string{}
	for _, property := range []string{"called-id", "domain", "realm"} {
		if row[property] != "" {
			values[property] = ""
		}
	}
	if !slices.Contains(append([]string{"", "0.0.0.0", "::"}, own...), row[propertySrcAddress]) {
		values[propertySrcAddress] = "0.0.0.0"
	}
	if row["protocol"] != "" {
		values["protocol"] = "udp"
	}
	if isTrue(row["accounting-backup"]) {
		values["accounting-backup"] = "no"
	}
	return values
}

// radiusClient compares the RADIUS client that the script made, and its place; other clients are the operator's and
// stay as they are. A router asks the first client that serves a user, and the next one only when that one is silent:
// the platform's users are refused while an operator's client stands before its own. Source:
// docs/facts/routeros.md#radius-order.
func radiusClient(s Snapshot, want Setup) []Difference {
	rows, read := s[MenuRadius]
	if !read {
		return nil
	}
	values := map[string]string{
		"service": strings.Join(radiusServices, ","), propertyAddress: want.Firewall.RadiusHost,
		"authentication-port": "1812", "accounting-port": "1813", "timeout": "3s", propertyDisabled: "no",
		propertyComment: bootstrapComment,
	}
	m := menu{path: MenuRadius, name: propertyComment, key: []string{propertyComment}}
	r := Resource{Path: MenuRadius, Name: bootstrapComment, Values: values}
	ours := platformClients(rows, want.Firewall.RadiusHost)
	if len(ours) == 0 {
		values["secret"] = want.RadiusSecret
		return []Difference{{Path: m.path, Kind: KindMissing, Name: r.Name, Expected: values, want: &r}}
	}
	maps.Copy(values, narrowing(ours[0], want.TunnelAddress))
	var found []Difference
	x, differs := m.changed(r, ours[0])
	if shown := ours[0]["secret"]; hidden(shown) && want.SecretStale || !hidden(shown) && shown != want.RadiusSecret {
		x.Expected["secret"], x.Actual["secret"], differs = want.RadiusSecret, shown, true
	}
	if before := asked(s, want.Firewall.RadiusHost); before != nil {
		x.Expected[propertyPlace], x.Actual[propertyPlace] = placeFirst, "after "+before[propertyAddress]
		differs = true
	}
	if differs {
		x.want = &r
		found = append(found, x)
	}
	for _, row := range ours[1:] {
		found = append(found, surplus(m, KindExtra, id.Service{}, row))
	}
	return found
}

// platformClients lists the RADIUS clients that the script made, by their comment. When no client has it, the first one
// with the platform's address that serves its users counts: an operator may have written another comment.
func platformClients(rows []Row, host string) []Row {
	found := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r[propertyComment] != bootstrapComment })
	if len(found) > 0 {
		return found
	}
	for _, row := range rows {
		if row[propertyAddress] == host && !isTrue(row[propertyDynamic]) && servesUs(row) {
			return []Row{row}
		}
	}
	return nil
}

// servesUs reports whether a RADIUS client is for a service whose users the platform knows.
func servesUs(row Row) bool {
	return slices.ContainsFunc(splitList(row["service"]), func(one string) bool {
		return slices.Contains(radiusServices, strings.TrimSpace(one))
	})
}

// hidden reports whether a router hides a secret from the API user.
func hidden(secret string) bool { return strings.Trim(secret, "*") == "" }

// asked is the operator's RADIUS client that a router asks about the platform's users before the platform's own, or
// instead of it where that is missing; nil = none. A client with a called-id is for other servers than those of
// services.
func asked(s Snapshot, host string) Row {
	ours := platformClients(s[MenuRadius], host)
	for _, row := range s.static(MenuRadius) {
		switch {
		case len(ours) > 0 && row[propertyID] == ours[0][propertyID]:
			return nil
		case passedOver(row) || row["called-id"] != "":
			continue
		}
		if servesUs(row) {
			return row
		}
	}
	return nil
}

// radiusSteps gives the writes for the platform's RADIUS client: its values, and its place before the client that is
// asked first; nil = it need not move.
func radiusSteps(x Difference, first Row) []Step {
	if x.row == nil {
		step := addition(x)
		step.Destination = first[propertyID]
		return []Step{step}
	}
	var steps []Step
	values := x
	values.Expected, values.Actual = withoutPlace(x.Expected), withoutPlace(x.Actual)
	if len(values.Expected) > 0 {
		steps = append(steps, change(values))
	}
	if first != nil {
		steps = append(steps, Step{
			Path: x.Path, Operation: commands.OperationMove, ID: x.row[propertyID], Name: x.Name,
			Destination: first[propertyID], Before: map[string]string{propertyPlace: x.Actual[propertyPlace]},
			After: map[string]string{propertyPlace: placeFirst},
		})
	}
	return steps
}

// Takes lists the steps after which other customers are asked of the platform: its RADIUS client comes before one of
// the operator's, so that users whom only the operator's server knows are refused.
func Takes(steps []Step) []Step {
	return slices.DeleteFunc(slices.Clone(steps), func(s Step) bool {
		return s.Path != MenuRadius || s.Destination == ""
	})
}
