package routerplan_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
)

func TestBootstrap_TakesEachValueUpToItsLimit(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 256)
	for name, change := range map[string]func(*routerplan.BootstrapConfig){
		"first ports": func(c *routerplan.BootstrapConfig) { c.SSTPPort, c.CoAPort, c.APIPort = 1, 1, 1 },
		"last ports": func(c *routerplan.BootstrapConfig) {
			c.SSTPPort, c.CoAPort, c.APIPort = 65535, 65535,
				65535
		},
		"longest secret": func(c *routerplan.BootstrapConfig) { c.RadiusSecret, c.APIPassword = long, long },
		"no report":      func(c *routerplan.BootstrapConfig) { c.ReportURL = "" },
	} {
		c := bootstrapConfig()
		change(&c)
		if _, err := routerplan.Bootstrap(c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for want, change := range map[string][]func(*routerplan.BootstrapConfig){
		"sstpPort": {
			func(c *routerplan.BootstrapConfig) { c.SSTPPort = 0 },
			func(c *routerplan.BootstrapConfig) { c.SSTPPort = 65536 },
		},
		"coaPort": {
			func(c *routerplan.BootstrapConfig) { c.CoAPort = 0 },
			func(c *routerplan.BootstrapConfig) { c.CoAPort = 65536 },
		},
		"apiPort": {
			func(c *routerplan.BootstrapConfig) { c.APIPort = 0 },
			func(c *routerplan.BootstrapConfig) { c.APIPort = 65536 },
			func(c *routerplan.BootstrapConfig) { c.APIPort = 179 },
		},
		"apiPassword": {
			func(c *routerplan.BootstrapConfig) { c.APIPassword = "" },
			func(c *routerplan.BootstrapConfig) { c.APIPassword = long + "x" },
			func(c *routerplan.BootstrapConfig) { c.APIPassword = "a\xff" },
			func(c *routerplan.BootstrapConfig) { c.APIPassword = "a\n" },
		},
		"reportUrl": {
			func(c *routerplan.BootstrapConfig) { c.ReportURL = "https://isp.example.net/a?b" },
			func(c *routerplan.BootstrapConfig) { c.ReportURL = "https://[1/" },
		},
	} {
		for i, one := range change {
			c := bootstrapConfig()
			one(&c)
			if _, err := routerplan.Bootstrap(c); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, case %d: %v", want, i, err)
			}
		}
	}
}

func TestBootstrap_WritesEveryUnusualCharacterAsItsDigits(t *testing.T) {
	t.Parallel()
	c := bootstrapConfig()
	c.APIPassword = "azAZ09 ._-+=:@/,!#%*`{[^;~$\"\\?"
	script, err := routerplan.Bootstrap(c)
	want := `password="azAZ09\20._-+=:@/,!#%*\60\7B\5B\5E\3B\7E\24\22\5C\3F"`
	if err != nil || !strings.Contains(script, want) {
		t.Errorf("no %s in the script, %v", want, err)
	}
}

func TestConcentrator_RefusesWhatAFileCannotHold(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*routerplan.TunnelConfig){
		"port 0":         func(c *routerplan.TunnelConfig) { c.Port = 0 },
		"port 65536":     func(c *routerplan.TunnelConfig) { c.Port = 65536 },
		"user":           func(c *routerplan.TunnelConfig) { c.Clients[0].User = "nas 1" },
		"secret":         func(c *routerplan.TunnelConfig) { c.Clients[0].Secret = "short" },
		"user twice":     func(c *routerplan.TunnelConfig) { c.Clients[0].User = c.Clients[1].User },
		"address twice":  func(c *routerplan.TunnelConfig) { c.Clients[0].Address = c.Clients[1].Address },
		"platform twice": func(c *routerplan.TunnelConfig) { c.Clients = append(c.Clients, c.Clients[0]) },
	} {
		c := concentrator()
		change(&c)
		config, secrets, err := routerplan.AccelPPP(c)
		if err == nil || config+secrets != "" {
			t.Errorf("accel-ppp, %s: %q, %v", name, secrets, err)
		}
		if script, err := routerplan.RouterConcentrator(c); err == nil || script != "" {
			t.Errorf("router, %s: %v", name, err)
		}
	}
	for _, port := range []int{1, 65535} {
		c := concentrator()
		c.Port = port
		if _, _, err := routerplan.AccelPPP(c); err != nil {
			t.Errorf("port %d: %v", port, err)
		}
	}
	for _, platform := range []string{"10.99.0.1", "0.0.0.0", "2001:db8::1"} {
		c := concentrator()
		c.Platform = netip.MustParseAddr(platform)
		if script, err := routerplan.RouterConcentrator(c); err == nil || script != "" {
			t.Errorf("the platform at %s: %v", platform, err)
		}
	}
}

func TestDrift_ShowsLongValuesShortAndBoundsTheWhole(t *testing.T) {
	t.Parallel()
	s := testService(1, events.ServicePPPoE, "ether5", 0)
	told := func(value string, more int) map[string]string {
		row := routerplan.Row{
			"name": "left", "comment": routerplan.ServiceComment(s.ID), "a": value, "password": "secret",
		}
		for i := range more {
			row[fmt.Sprintf("m%02d", i)] = strings.Repeat("v", 400)
		}
		d := routerplan.CompareRemoval(routerplan.Snapshot{routerplan.MenuPool: {row}}, s.ID)
		return d.Resources()[0].Actual
	}
	whole, cut := strings.Repeat("é", 250), strings.Repeat("é", 250)+"x"
	if got := told(whole, 0); got["a"] != whole || got["password"] != "***" {
		t.Errorf("a value of the largest size: %v", got)
	}
	if got := told(cut, 0)["a"]; got != whole+"…" {
		t.Errorf("a larger value is told as %q", got)
	}
	size := 0
	many := told("x", 20)
	for property, value := range many {
		size += len(property) + len(value)
	}
	if size > 4000 || size < 3000 || many["a"] != "x" {
		t.Errorf("%d bytes are told of many properties", size)
	}
}

func TestValues_AreReadInEveryFormOfTheRouter(t *testing.T) {
	t.Parallel()
	for property, pairs := range map[string][][2]string{
		"disabled": {{"yes", "true"}, {"no", "false"}, {"", "no"}},
		"lease-time": {
			{"1h", "01:00:00"}, {"1d", "24:00:00"}, {"1w", "7d"}, {"90", "1m30s"}, {"1d02:00:00", "26h"},
			{"1d5", "1d5s"},
		},
		"ranges": {
			{"10.0.0.1", "10.0.0.1-10.0.0.1"}, {"10.0.0.0/30", "10.0.0.0-10.0.0.3"}, {"a,b", "b, a"}, {
				"10.0.0.1 - 10.0.0.2", "10.0.0.1-10.0.0.2",
			},
		},
		"address": {
			{"10.0.0.1", "10.0.0.1/32"}, {"2001:db8::1", "2001:db8::1/128"}, {"2001:DB8::/32", "2001:db8::/32"},
		},
		"login-by": {{"a,b", "b, a"}, {"a,a", "a"}},
		"max-limit": {
			{"10M/10M", "10000000/10000000"}, {"1k", "1000/1000"}, {"1G / 2", "1000000000/2"}, {"1.5M", "1500k"},
		},
		"vlan-id": {{"010", "8"}, {"0x10", "16"}},
		"name":    {{" a", "a "}},
	} {
		for _, pair := range pairs {
			if !routerplan.SameValue(property, pair[0], pair[1]) {
				t.Errorf("%s: %q and %q differ: %q, %q", property, pair[0], pair[1],
					routerplan.Canonical(property, pair[0]), routerplan.Canonical(property, pair[1]))
			}
		}
	}
	for property, pairs := range map[string][][2]string{
		"disabled": {{"yes", "no"}, {"maybe", "no"}},
		"lease-time": {
			{"1h", "1m"}, {"1ms", "1m"}, {"1x", "1"}, {"1:2", "1:2:0"}, {"-1:0:0", "0:0:0"}, {"", "0"},
			{"99999999999", "0"}, {"1:2:3:4", "1:2:3"},
		},
		"ranges":    {{"10.0.0.0/30", "10.0.0.0/29"}, {"2001:db8::/126", "2001:db8::-2001:db8::3"}},
		"address":   {{"10.0.0.1/24", "10.0.0.2/24"}, {"x", "y"}},
		"login-by":  {{"a,b", "a"}},
		"max-limit": {{"10M", "10k"}, {"1M/2M", "2M/1M"}, {"fast", "0"}, {"1kk", "0"}},
		"vlan-id":   {{"1", "2"}, {"x", "0"}},
		"name":      {{"1h", "01:00:00"}, {"yes", "true"}},
	} {
		for _, pair := range pairs {
			if routerplan.SameValue(property, pair[0], pair[1]) {
				t.Errorf("%s: %q and %q are the same", property, pair[0], pair[1])
			}
		}
	}
}

func TestDuration_IsNeverBeyondWhatCanBeCounted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"15250w1d23h47m16s": "2562047h47m16s", "1w2d3h4m5s": "219h4m5s", "1d02:03:04": "26h3m4s", "7": "7s",
	} {
		if got, ok := routerplan.ParseDuration(text); !ok || got.String() != want {
			t.Errorf("%s is %s, %t; want %s", text, got, ok, want)
		}
	}
	for _, bad := range []string{
		"", "s", "15251w", "15250w1d23h47m17s", "15250w1d23h47m17", "15250w1d23:47:17", "2147483648s", "1:00", "1h:",
		"h1", "2147483647:00:00",
	} {
		if got, ok := routerplan.ParseDuration(bad); ok || got < 0 {
			t.Errorf("%q is %s", bad, got)
		}
	}
}

func TestSession_IsToldWithoutTheCustomer(t *testing.T) {
	t.Parallel()
	s := testService(1, events.ServiceHotspot, "ether5", 0)
	server := "hs-svc-" + routerplan.Slug(s.ID)
	active := routerplan.Row{
		".id": "*1", "server": server, "user": "jane", "address": "10.50.1.9", "session-id": "80000001",
	}
	d := routerplan.CompareRemoval(routerplan.Snapshot{routerplan.MenuHotspotActive: {active}}, s.ID)
	want := []events.DriftedResource{{
		Path: routerplan.MenuHotspotActive, Kind: "extra", Name: "session 80000001",
		Actual: map[string]string{"server": server, "session-id": "80000001"},
	}}
	if diff := cmp.Diff(want, d.Resources()); diff != "" {
		t.Error(diff)
	}
	steps := d.Plan()
	if len(steps) != 1 || steps[0].Service != s.ID || steps[0].Name != "session 80000001" ||
		steps[0].Before["server"] != server || steps[0].ID != "*1" {
		t.Fatalf("%+v", steps)
	}
	if !steps[0].Still(active) {
		t.Error("the session is not known again")
	}
	for property, other := range map[string]string{".id": "*2", "user": "joe", "address": "10.50.1.8", "server": "x"} {
		row := routerplan.Row{}
		for k, v := range active {
			row[k] = v
		}
		if row[property] = other; steps[0].Still(row) {
			t.Errorf("another %s is taken for the session", property)
		}
	}
}

func TestFaults_OneOfEachServiceInWords(t *testing.T) {
	t.Parallel()
	a, b := testService(1, events.ServiceHotspot, "ether5", 0), testService(2, events.ServiceHotspot, "ether6", 0)
	r := newModel(t, routerplan.Snapshot{routerplan.MenuInterface: {
		{"name": "ether5", "running": "true"}, {"name": "ether6", "running": "true"},
	}})
	both := []routerplan.Service{a, b}
	r.run(t.Fatalf, routerplan.CompareDevice(r.menu, both, modern).Plan(), 100)
	r.menu[routerplan.MenuInterface][0]["slave"] = "true"
	r.menu[routerplan.MenuInterface][1]["running"] = "false"
	for i := range r.menu[routerplan.MenuDHCPServer] {
		r.menu[routerplan.MenuDHCPServer][i]["invalid"] = "true"
	}
	d := routerplan.CompareDevice(r.menu, both, modern)
	want := []routerplan.Fault{
		{Service: a.ID, Path: routerplan.MenuDHCPServer, Message: "dhcp-svc-" + routerplan.Slug(a.ID) +
			" is invalid on the router."},
		{Service: b.ID, Path: routerplan.MenuDHCPServer, Message: "dhcp-svc-" + routerplan.Slug(b.ID) +
			" is invalid on the router."},
	}
	if diff := cmp.Diff(want, d.Faults()); diff != "" {
		t.Error(diff)
	}
	told := map[string]events.DriftedResource{}
	for _, x := range d.Resources() {
		told[x.Name] = x
	}
	for name, want := range map[string]events.DriftedResource{
		"ether5": {Path: routerplan.MenuInterface, Kind: "changed", Name: "ether5",
			Expected: map[string]string{"slave": "false"}, Actual: map[string]string{"slave": "true"}},
		"ether6": {Path: routerplan.MenuInterface, Kind: "changed", Name: "ether6",
			Expected: map[string]string{"running": "true"}, Actual: map[string]string{"running": "false"}},
	} {
		if diff := cmp.Diff(want, told[name]); diff != "" {
			t.Error(diff)
		}
	}
}

func TestFirewall_TellsEachRuleThatIsNotAsItShouldBe(t *testing.T) {
	t.Parallel()
	r := walled(t)
	rows := r.menu[routerplan.MenuFirewallFilter]
	rows[1]["disabled"] = "true"
	r.add(routerplan.MenuFirewallFilter, map[string]string{"comment": "Platform-fw:old", "chain": "input"}, "")
	r.menu[routerplan.MenuFirewallFilter] = append(rows[:2:2], r.menu[routerplan.MenuFirewallFilter][3:]...)
	told := map[string]events.DriftedResource{}
	for _, x := range routerplan.CompareFirewall(r.menu, fw).Resources() {
		told[x.Kind+" "+x.Name] = x
	}
	if x := told["changed Platform-fw:tunnel"]; x.Expected["disabled"] != "no" || x.Actual["disabled"] != "true" {
		t.Errorf("a disabled rule is told as %+v", x)
	}
	x := told["extra Platform-fw:old"]
	if x.Path != routerplan.MenuFirewallFilter || x.Actual["chain"] != "input" || x.Expected != nil {
		t.Errorf("a rule of an older version is told as %+v", x)
	}
	if x := told["missing Platform-fw:radius-incoming"]; x.Expected["dst-port"] != "3799" || x.Actual != nil {
		t.Errorf("a missing rule is told as %+v", x)
	}
	if len(told) != 3 {
		t.Errorf("told: %v", told)
	}
}

func TestReserved_ListsThatTheRouterFillsItself(t *testing.T) {
	t.Parallel()
	for list, want := range map[string][]string{
		"all": {"ether1", "<l2tp-up>"}, "dynamic": {"<l2tp-up>"}, "static": {"ether1"}, "other": nil,
	} {
		s := routerplan.Snapshot{
			routerplan.MenuInterface: {
				{"name": "ether1", "type": "ether"}, {"name": "<l2tp-up>", "type": "l2tp-in", "dynamic": "true"},
			},
			routerplan.MenuInterfaceList: {{"name": "WAN", "include": list}},
		}
		reserved := routerplan.Reserved(s)
		for _, name := range []string{"ether1", "<l2tp-up>"} {
			wanted := false
			for _, w := range want {
				wanted = wanted || w == name
			}
			if (reserved[name].Code != "") != wanted {
				t.Errorf("a list with %s: %s is %q", list, name, reserved[name])
			}
		}
		if _, is := reserved[""]; is {
			t.Error("a name of nothing is reserved")
		}
	}
}

func TestService_IsTranslatedBesidesARuleWithAnyCondition(t *testing.T) {
	t.Parallel()
	s := working(events.ServicePPPoE)
	translates := func(rule routerplan.Row) bool {
		d := routerplan.CompareService(routerplan.Snapshot{routerplan.MenuNAT: {rule}}, s, modern)
		for _, x := range d.Differences {
			if x.Path == routerplan.MenuNAT {
				return true
			}
		}
		return false
	}
	for _, condition := range []string{
		"protocol", "dst-port", "src-port", "src-address-list", "dst-address", "dst-address-list", "in-interface",
		"in-interface-list", "packet-mark", "connection-mark", "routing-mark", "time", "invalid",
	} {
		if !translates(routerplan.Row{"chain": "srcnat", "action": "masquerade", condition: "true"}) {
			t.Errorf("a rule with %s counts for all traffic", condition)
		}
	}
	for _, action := range []string{"masquerade", "src-nat", "same"} {
		if translates(routerplan.Row{"chain": "srcnat", "action": action}) {
			t.Errorf("a rule with the action %s does not count", action)
		}
	}
	for _, other := range []routerplan.Row{
		{"chain": "srcnat", "action": "accept"}, {"chain": "dstnat", "action": "masquerade"},
		{"chain": "srcnat", "action": "masquerade", "src-address": "nowhere"},
		{"chain": "srcnat", "action": "masquerade", "dynamic": "true"},
	} {
		if !translates(other) {
			t.Errorf("%v counts for all traffic", other)
		}
	}
	if translates(routerplan.Row{"chain": "srcnat", "action": "same", "src-address": "10.50.1.0/24"}) {
		t.Error("a rule for just the subnet does not count")
	}
}

func TestBinding_EachFaultIsToldForItsOwnReason(t *testing.T) {
	t.Parallel()
	me, other := testService(1, events.ServiceHotspot, "ether5", 0), testService(2, events.ServiceHotspot, "ether6", 0)
	vlanOf := func(who routerplan.Service) string { return "vlan-svc-" + routerplan.Slug(who.ID) }
	s := routerplan.Snapshot{
		routerplan.MenuInterface: {
			{"name": "ether5", "type": "ether"}, {"name": "ether6", "type": "ether"},
			{"name": vlanOf(me), "type": "vlan"}, {"name": vlanOf(other), "type": "vlan"},
		},
		routerplan.MenuVlan: {
			{"name": vlanOf(me), "interface": "ether5", "vlan-id": "7", "comment": routerplan.ServiceComment(me.ID)},
			{"name": vlanOf(other), "interface": "ether5", "vlan-id": "8",
				"comment": routerplan.ServiceComment(other.ID)},
			{"name": "operators", "interface": "ether6", "vlan-id": "9"},
		},
		routerplan.MenuDHCPServer: {
			{"name": "theirs", "interface": "ether6", "comment": routerplan.ServiceComment(other.ID)},
			{"name": "dhcp-svc-" + routerplan.Slug(me.ID), "interface": "ether5"},
		},
	}
	for name, c := range map[string]struct {
		parent string
		vlan   int
		want   string // "" = allowed
	}{
		"free":              {"ether5", 0, ""},
		"unknown":           {"ether9", 0, "ether9 does not exist on this router"},
		"of another":        {vlanOf(other), 0, "belongs to another service"},
		"its own":           {vlanOf(me), 0, "belongs to this service itself"},
		"its own id":        {"ether5", 7, ""},
		"id of another":     {"ether5", 8, "vlanId 8 exists on ether5 already, as " + vlanOf(other)},
		"id of an operator": {"ether6", 9, "vlanId 9 exists on ether6 already, as operators"},
		"id elsewhere":      {"ether5", 9, ""},
		"server of another": {"ether6", 0, "ether6 has a DHCP server already: theirs"},
	} {
		err := routerplan.CheckBinding(s, me.ID, events.ServiceBinding{
			Type: events.ServiceHotspot, ParentInterface: c.parent, VlanID: c.vlan,
		})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
