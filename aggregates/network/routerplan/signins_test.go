package routerplan_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
)

// TestSignInsOf_WhereTheFirstClientThatServesAllLeadsToThePlatform, and the router uses RADIUS at all.
func TestSignInsOf_WhereTheFirstClientThatServesAllLeadsToThePlatform(t *testing.T) {
	t.Parallel()
	with := func(changes routerplan.Row) routerplan.Row {
		row := routerplan.Row{
			"service": "ppp,hotspot", "address": "10.99.0.1", "comment": "Platform", "authentication-port": "1812",
			"protocol": "udp", "disabled": "false", "src-address": "0.0.0.0",
		}
		for property, value := range changes {
			row[property] = value
		}
		return row
	}
	ours, theirs := with(nil), with(routerplan.Row{"address": "192.0.2.9", "comment": "billing"})
	type radius = []routerplan.Row
	for name, c := range map[string]struct {
		clients            radius
		ppp, hotspot, only bool
	}{
		"none":                 {nil, false, false, false},
		"ours":                 {radius{ours}, true, true, true},
		"from its own address": {radius{with(routerplan.Row{"src-address": "10.99.0.7"})}, true, true, true},
		"disabled":             {radius{with(routerplan.Row{"disabled": "true"})}, false, false, false},
		"leads elsewhere":      {radius{with(routerplan.Row{"address": "10.99.0.200"})}, false, false, false},
		"another port":         {radius{with(routerplan.Row{"authentication-port": "1645"})}, false, false, false},
		"another protocol":     {radius{with(routerplan.Row{"protocol": "radsec"})}, false, false, false},
		"users of a realm":     {radius{with(routerplan.Row{"realm": "home"})}, false, false, false},
		"of one server":        {radius{with(routerplan.Row{"called-id": "lan"})}, false, false, false},
		"from another address": {radius{with(routerplan.Row{"src-address": "192.0.2.7"})}, false, false, false},
		"of PPP":               {radius{with(routerplan.Row{"service": "ppp"})}, true, false, false},
		"theirs first":         {radius{theirs, ours}, false, false, false},
		"theirs second":        {radius{ours, theirs}, true, true, false},
		"theirs of one server": {
			radius{with(routerplan.Row{"address": "192.0.2.9", "called-id": "x"}), ours}, true, true, false,
		},
		"theirs, of the switch": {
			radius{with(routerplan.Row{"address": "192.0.2.9", "service": "login"}), ours}, true, true, true,
		},
	} {
		s := routerplan.Snapshot{
			routerplan.MenuRadius: c.clients, routerplan.MenuPPPAAA: {{"use-radius": "true"}},
			routerplan.MenuHotspot: {{"name": "free", "profile": "local"}, {"name": "spot", "profile": "ours"}},
			routerplan.MenuHotspotProfile: {
				{"name": "local", "use-radius": "false"}, {"name": "ours", "use-radius": "true"},
			},
		}
		home := routerplan.Home{Server: "10.99.0.1", Tunnel: "10.99.0.7", Address: "203.0.113.5"}
		got := routerplan.Observe(s, home)
		if come := got.SignIns; come.Come(false, "") != c.ppp || come.Come(true, "spot") != c.hotspot ||
			come.Come(true, "free") {
			t.Errorf("%s: %+v", name, come)
		}
		if (got.Asks.PPP && got.Asks.Hotspot) != c.only {
			t.Errorf("%s: and no other one %+v", name, got.Asks)
		}
		s[routerplan.MenuPPPAAA] = []routerplan.Row{{"use-radius": "false"}}
		if routerplan.SignInsOf(s, home).Come(false, "") {
			t.Errorf("%s: sign-ins of PPP come, although the router does not use RADIUS for it", name)
		}
	}
}

// A router whose reports come asks the platform at whatever address it has: the platform may have moved, and answer at
// the former one, too.
func TestSignInsOf_AnAddressIsNotComparedWhereReportsCome(t *testing.T) {
	t.Parallel()
	rows := routerplan.Snapshot{routerplan.MenuRadius: {{
		".id": "*1", "service": "ppp,hotspot", "address": "198.51.100.7", "authentication-port": "11812",
	}}}
	if got := routerplan.SignInsOf(rows, routerplan.Home{}); !got.PPP || !got.Hotspot {
		t.Errorf("reports come: %+v", got)
	}
	if got := routerplan.SignInsOf(rows, routerplan.Home{Server: "198.51.100.1"}); got.PPP || got.Hotspot {
		t.Errorf("nothing comes: %+v", got)
	}
}

// A router whose reports come may ask the platform from each address by which the platform knows it.
func TestSignInsOf_ARegisteredAddressLeadsToThePlatformWhereReportsCome(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]bool{"203.0.113.5": true, "10.99.0.7": true, "192.0.2.7": false} {
		rows := routerplan.Snapshot{routerplan.MenuRadius: {{
			".id": "*1", "service": "ppp,hotspot", "address": "198.51.100.7", "src-address": from,
		}}}
		home := routerplan.Home{Tunnel: "10.99.0.7", Address: "203.0.113.5"}
		if got := routerplan.SignInsOf(rows, home); got.PPP != want || got.Hotspot != want {
			t.Errorf("from %s: %+v", from, got)
		}
		home.Server = "10.99.0.1"
		if got := routerplan.Observe(rows, home); got.SignIns.PPP || got.Reported.SignIns.PPP != want {
			t.Errorf("looked at, from %s: %+v", from, got)
		}
	}
}

// A server has the first client that is for it, whether it serves all servers or this one.
func TestSignInsOf_AServerMayHaveAClientOfItsOwn(t *testing.T) {
	t.Parallel()
	client := func(address, server, more string) routerplan.Row {
		return routerplan.Row{
			"service": "ppp,hotspot", "address": address, "called-id": server, "disabled": more,
		}
	}
	const ours, theirs = "10.99.0.1", "192.0.2.9"
	accounting := client(theirs, "", "")
	accounting["accounting-backup"] = "true"
	of := func(clients ...routerplan.Row) routerplan.SignIns {
		return routerplan.SignInsOf(routerplan.Snapshot{
			routerplan.MenuRadius: clients, routerplan.MenuHotspot: {{"name": "free", "profile": "local"}},
			routerplan.MenuHotspotProfile: {{"name": "local", "use-radius": "false"}},
		}, routerplan.Home{Server: ours})
	}
	for name, c := range map[string]struct {
		got         routerplan.SignIns
		lan, others bool
	}{
		"ours":                     {of(client(ours, "lan", "")), true, false},
		"disabled":                 {of(client(ours, "lan", "true")), false, false},
		"for accounting":           {of(accounting, client(ours, "", "")), true, true},
		"ours before theirs":       {of(client(ours, "lan", ""), client(theirs, "", "")), true, false},
		"after theirs":             {of(client(theirs, "", ""), client(ours, "lan", "")), false, false},
		"theirs before ours":       {of(client(theirs, "lan", ""), client(ours, "", "")), false, true},
		"theirs before ours of it": {of(client(theirs, "lan", ""), client(ours, "lan", "")), false, false},
	} {
		for _, hotspot := range []bool{false, true} {
			if c.got.Come(hotspot, "lan") != c.lan || c.got.Come(hotspot, "wan") != c.others ||
				c.got.Come(hotspot, "") != c.others {
				t.Errorf("%s, hotspot %v: %+v", name, hotspot, c.got)
			}
		}
	}
	if of(client(ours, "free", "")).Come(true, "free") {
		t.Error("a hotspot that asks nobody has a client")
	}
	s := routerplan.Snapshot{
		routerplan.MenuRadius: {client(ours, "lan", "")}, routerplan.MenuPPPAAA: {{"use-radius": "false"}},
	}
	if routerplan.SignInsOf(s, routerplan.Home{}).Come(false, "lan") {
		t.Error("PPP does not use RADIUS")
	}
}
