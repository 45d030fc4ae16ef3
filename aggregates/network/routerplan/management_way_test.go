package routerplan_test

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// cpe is the CPE server in these tests.
var cpe = routerplan.CPEServer{Address: netip.MustParseAddr("10.98.0.5"), Ports: []int{7547, 7567}}

// withCPE is the input of the firewall with a way to the CPE server.
func withCPE() routerplan.Firewall {
	f := fw
	f.CPE = cpe
	return f
}

// tunnelled is a management network whose devices reach the CPE server through the tunnel.
func tunnelled() routerplan.Service {
	s := managed("http://10.98.0.5:7547")
	s.Tunnelled, s.DNS = true, []string{"1.1.1.1"}
	return s
}

// lines writes resources with all values, one a line.
func lines(resources []routerplan.Resource) string {
	var b strings.Builder
	for _, r := range resources {
		b.WriteString(r.Path + " " + line(routerplan.Row(r.Values)) + "\n")
	}
	return b.String()
}

// The whole plan: rows of the service, and rules of the router in their order.
func TestManagement_TheWayIsTheOneThatWasReviewed(t *testing.T) {
	t.Parallel()
	golden(t, "management.txt", "service\n"+lines(routerplan.Desired(tunnelled(), modern))+
		"\nrules\n"+lines(routerplan.FirewallRules(withCPE()))+lines(routerplan.NATRules(withCPE())))
	config := bootstrapConfig()
	config.CPE = cpe
	script, err := routerplan.Bootstrap(config)
	if err != nil {
		t.Fatal(err)
	}
	checkScript(t, script)
	golden(t, "bootstrap_management.rsc", script)
}

// A network with a subnet that an operator chose elsewhere has no way: its route would lead other traffic of all into
// the tunnel.
func TestManagement_OnlyThePlanHasAWay(t *testing.T) {
	t.Parallel()
	one := id.Derive[id.Device]("test", "one")
	for subnet, has := range map[string]bool{
		"10.20.1.0/24": true, "10.20.0.0/16": true, "192.168.5.0/24": false, "10.0.0.0/8": false, "10.21.0.0/24": false,
		"": false,
	} {
		s := tunnelled()
		s.Addressing.Subnet = subnet
		member := slices.ContainsFunc(routerplan.Desired(s, modern), func(r routerplan.Resource) bool {
			return r.Path == routerplan.MenuListMember
		})
		if member != has {
			t.Errorf("%q: %v", subnet, member)
		}
		ways := routerplan.Ways([]routerplan.ManagementNetwork{{Router: one, Subnets: []string{subnet}}})
		if (len(ways[one]) == 1) != has {
			t.Errorf("%q: %v", subnet, ways)
		}
	}
	for _, kind := range []events.ServiceType{events.ServicePPPoE, events.ServiceHotspot} {
		s := testService(1, kind, "ether4", 0)
		s.Addressing, s.Tunnelled = tunnelled().Addressing, true
		for _, r := range routerplan.Desired(s, modern) {
			if r.Path == routerplan.MenuListMember {
				t.Errorf("%s is taken for a management network", kind)
			}
		}
	}
}

// Of two routers the older network has the subnet; what overlaps it has no way, whatever its size.
func TestWays_ASubnetLeadsToOneRouter(t *testing.T) {
	t.Parallel()
	a, b := id.Derive[id.Device]("test", "a"), id.Derive[id.Device]("test", "b")
	got := routerplan.Ways([]routerplan.ManagementNetwork{
		{Router: a, Subnets: []string{"10.20.1.0/24", "10.20.9.0/25"}}, // the second one is a former one
		{Router: b, Subnets: []string{"10.20.1.128/25", "10.20.2.7/24", "10.20.8.0/22"}},
		{Router: a, Subnets: []string{"10.20.2.0/24", "10.20.9.0/24", "10.20.1.0/24", "nonsense"}},
	})
	want := map[id.Device][]string{
		a: {"10.20.1.0/24", "10.20.9.0/25", "10.20.9.0/24"}, b: {"10.20.2.0/24"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// ready is a router of a release with the rules of setup and a tunnel that is up, a management network on ether4, one
// on a VLAN of ether5, and a customers' LAN on ether3. Its operator translates everything.
func ready(t *testing.T, version string) *router.Router {
	t.Helper()
	r := simulated(t, version)
	do := func(menu string, values router.Item) {
		t.Helper()
		if _, err := r.Do(menu, "add", values); err != nil {
			t.Fatalf("%s: /%s %v: %v", version, menu, values, err)
		}
	}
	do("interface/sstp-client", router.Item{
		"name": "platform-tunnel", "connect-to": "vpn.example.net", "user": "u", "disabled": "no",
	})
	do("ip/address", router.Item{"address": "10.50.1.1/24", "interface": "ether3"})
	do("ip/firewall/nat", router.Item{"chain": "srcnat", "action": "masquerade"})
	do("ip/firewall/filter", router.Item{"chain": "forward", "action": "accept", "place-before": firstRule(t, r)})
	write(t, r, routerplan.CompareFirewall(read(t, r, routerplan.FirewallMenus(withCPE())), withCPE()).Plan())
	second := tunnelled()
	second.ID = testService(2, events.ServiceCPEManagement, "", 0).ID
	second.Binding.ParentInterface, second.Binding.VlanID = "ether5", 20
	second.Addressing = events.ServiceAddressing{
		Subnet: "10.20.2.0/24", Gateway: "10.20.2.1", PoolStart: "10.20.2.2", PoolEnd: "10.20.2.254",
	}
	services := []routerplan.Service{tunnelled(), second}
	v := routerplan.ParseVersion(version)
	write(t, r, routerplan.CompareDevice(read(t, r, routerplan.ServiceMenus()), services, v).Plan())
	if d := routerplan.CompareDevice(read(t, r, routerplan.ServiceMenus()), services, v); !d.InSync() {
		t.Fatalf("%s: %+v", version, d.Resources())
	}
	if d := routerplan.CompareFirewall(read(t, r, routerplan.FirewallMenus(withCPE())), withCPE()); !d.InSync() {
		t.Fatalf("%s: %+v", version, d.Resources())
	}
	return r
}

// firstRule is the id of the first rule of the filter that a person made.
func firstRule(t *testing.T, r *router.Router) string {
	t.Helper()
	for _, row := range r.Snapshot(false)[routerplan.MenuFirewallFilter] {
		return row[".id"]
	}
	return ""
}

// Devices reach the CPE server's ports, with their own addresses, and addresses and names at their router; the server
// reaches them. Nothing else passes, although the operator's first rule lets everything through, and whatever addresses
// a device takes.
func TestManagement_DevicesReachTheirServerAndNothingElse(t *testing.T) {
	t.Parallel()
	at := netip.MustParseAddr
	const tunnel, lan, vlan = "platform-tunnel", "ether3", "vlan"
	for _, version := range releases {
		r := ready(t, version)
		on := "ether4"
		other := "vlan-svc-" + routerplan.Slug(testService(2, events.ServiceCPEManagement, "", 0).ID)
		for name, c := range map[string]struct {
			in, from, to, protocol, port, state string
			out                                 string // "-" = stopped, "" = for the router itself
		}{
			"inform":               {on, "10.20.1.7", "10.98.0.5", "tcp", "7547", "new", tunnel},
			"file":                 {other, "10.20.2.7", "10.98.0.5", "tcp", "7567", "new", tunnel},
			"answer to a call":     {on, "10.20.1.7", "10.98.0.5", "tcp", "40000", "established", tunnel},
			"call":                 {tunnel, "10.98.0.5", "10.20.1.7", "tcp", "30005", "new", on},
			"answer to an inform":  {tunnel, "10.98.0.5", "10.20.2.7", "tcp", "40000", "established", other},
			"name":                 {on, "10.20.1.7", "10.20.1.1", "udp", "53", "new", ""},
			"lease":                {on, "10.20.1.7", "10.20.1.1", "udp", "67", "new", ""},
			"the northbound port":  {on, "10.20.1.7", "10.98.0.5", "tcp", "7557", "new", "-"},
			"another protocol":     {on, "10.20.1.7", "10.98.0.5", "udp", "7547", "new", "-"},
			"the platform":         {on, "10.20.1.7", "10.99.0.1", "tcp", "443", "new", "-"},
			"the internet":         {on, "10.20.1.7", "8.8.8.8", "udp", "53", "new", "-"},
			"what was open before": {on, "10.20.1.7", "8.8.8.8", "tcp", "443", "established", "-"},
			"a customer":           {on, "10.20.1.7", "10.50.1.9", "tcp", "80", "new", "-"},
			"its neighbours":       {on, "10.20.1.7", "10.20.2.7", "tcp", "80", "new", "-"},
			"with another address": {on, "10.50.1.77", "10.50.1.9", "udp", "53", "new", "-"},
			"as nobody's":          {on, "192.0.2.1", "10.98.0.5", "tcp", "7547", "new", "-"},
			"the router":           {on, "10.20.1.7", "10.20.1.1", "tcp", "8291", "new", "-"},
			"the router elsewhere": {on, "10.20.1.7", "10.50.1.1", "tcp", "80", "new", "-"},
			"a customer's call":    {lan, "10.50.1.9", "10.20.1.7", "tcp", "80", "new", "-"},
			"from the internet":    {"ether1", "203.0.113.9", "10.20.1.7", "tcp", "7547", "new", "-"},
			"another router":       {tunnel, "10.99.7.9", "10.20.1.7", "tcp", "80", "new", "-"},
			"its devices":          {tunnel, "10.20.9.9", "10.20.1.7", "tcp", "80", "new", "-"},
			"server to a customer": {tunnel, "10.98.0.5", "10.50.1.9", "tcp", "80", "new", "-"},
			"server to the router": {tunnel, "10.98.0.5", "10.20.1.1", "tcp", "8291", "new", "-"},
			"server by datagrams":  {tunnel, "10.98.0.5", "10.20.1.7", "udp", "161", "new", "-"},
			"still the internet":   {lan, "10.50.1.9", "8.8.8.8", "tcp", "443", "new", "ether1"},
		} {
			got := r.Transit(router.Transit{
				In: c.in, From: at(c.from), To: at(c.to), Protocol: c.protocol, Port: c.port, State: c.state,
			})
			if got.Passed != (c.out != "-") || got.Passed && got.Out != c.out {
				t.Errorf("%s, %s: %+v", version, name, got)
			}
			if got.Passed && (c.in == on || c.in == other) && got.From != at(c.from) {
				t.Errorf("%s, %s: translated to %s", version, name, got.From)
			}
		}
	}
}

// A tunnel that is down leaves devices without their server; they do not look for it in the internet.
func TestManagement_WithoutATunnelNothingLeaves(t *testing.T) {
	t.Parallel()
	for _, version := range releases {
		r := ready(t, version)
		if _, err := r.Do("interface", "disable", router.Item{"numbers": "platform-tunnel"}); err != nil {
			t.Fatal(err)
		}
		got := r.Transit(router.Transit{
			In: "ether4", From: netip.MustParseAddr("10.20.1.7"), To: cpe.Address, Protocol: "tcp", Port: "7547",
		})
		if got.Passed {
			t.Errorf("%s: %+v", version, got)
		}
	}
}

// before is a router with a management network of a time without the way; its operator translates nothing.
func before(t *testing.T, version string) (r *router.Router, asMade router.Snapshot) {
	t.Helper()
	r = simulated(t, version)
	if _, err := r.Do("interface/sstp-client", "add", router.Item{
		"name": "platform-tunnel", "connect-to": "vpn.example.net", "user": "u", "disabled": "no",
	}); err != nil {
		t.Fatal(err)
	}
	for _, rule := range r.Snapshot(false)[routerplan.MenuNAT] {
		if _, err := r.Do(routerplan.MenuNAT, "remove", router.Item{".id": rule[".id"]}); err != nil {
			t.Fatal(err)
		}
	}
	asMade = r.Snapshot(false)
	old := tunnelled()
	old.Tunnelled = false
	write(t, r, ofRules(t, r, fw).Plan())
	write(t, r, ofServices(t, r, version, old).Plan())
	return r, asMade
}

// ofServices compares a router with one service.
func ofServices(t *testing.T, r *router.Router, version string, s routerplan.Service) routerplan.Diff {
	t.Helper()
	return routerplan.CompareDevice(read(t, r, routerplan.ServiceMenus()), []routerplan.Service{s},
		routerplan.ParseVersion(version))
}

// ofRules compares a router with the platform's rules.
func ofRules(t *testing.T, r *router.Router, f routerplan.Firewall) routerplan.Diff {
	t.Helper()
	return routerplan.CompareFirewall(read(t, r, routerplan.FirewallMenus(f)), f)
}

// Services and routers of before differ until they are reconciled. What the operator has stays, also after the removal.
func TestManagement_OldOnesAreDriftUntilTheyAreRepaired(t *testing.T) {
	t.Parallel()
	for _, version := range releases {
		r, asMade := before(t, version)
		want := []string{
			"add interface/list Platform-fw:management", "add interface/list/member ether4",
			"remove ip/firewall/nat 10.20.1.0/24", "set ip/dhcp-server/network 10.20.1.0/24",
		}
		got := shown(ofServices(t, r, version, tunnelled()).Plan())
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s: a service of before\n%s", version, diff)
		}
		write(t, r, ofServices(t, r, version, tunnelled()).Plan())
		if d := ofRules(t, r, withCPE()); d.InSync() {
			t.Errorf("%s: a router of before is in line", version)
		}
		write(t, r, ofRules(t, r, withCPE()).Plan())
		moved := withCPE()
		moved.CPE.Address = netip.MustParseAddr("10.98.0.6")
		write(t, r, ofRules(t, r, moved).Plan())
		if d, e := ofRules(t, r, moved), ofServices(t, r, version, tunnelled()); !d.InSync() || !e.InSync() {
			t.Errorf("%s: another address: %+v %+v", version, d.Resources(), e.Resources())
		}
		write(t, r, routerplan.CompareRemoval(read(t, r, routerplan.ServiceMenus()), tunnelled().ID).Plan())
		write(t, r, ofRules(t, r, routerplan.Firewall{}).Plan())
		after := r.Snapshot(false).Without(func(_ string, item router.Item) bool {
			return strings.HasPrefix(item["comment"], routerplan.FirewallTag)
		})
		if diff := cmp.Diff(asMade, after); diff != "" {
			t.Errorf("%s: something is left or was touched\n%s", version, diff)
		}
	}
}

// handMade has one change of the way by a person at a router.
type handMade struct {
	menu, find, value, command string
	values                     router.Item
}

// Each thing that somebody changes is told and repaired.
func TestManagement_ChangesByHandAreToldAndRepaired(t *testing.T) {
	t.Parallel()
	const way, route, filter = "Platform-fw:management", "ip/route", "ip/firewall/filter"
	const member = "interface/list/member"
	for _, version := range releases {
		r, _ := before(t, version)
		write(t, r, ofServices(t, r, version, tunnelled()).Plan())
		write(t, r, ofRules(t, r, withCPE()).Plan())
		for _, change := range []handMade{
			{route, "comment", way, "remove", nil},
			{route, "comment", way, "set", router.Item{"gateway": "ether1"}},
			{route, "comment", way, "set", router.Item{"dst-address": "10.0.0.0/8"}},
			{route, "comment", way, "set", router.Item{"disabled": "yes"}},
			{member, "list", "platform-management", "remove", nil},
			{member, "list", "platform-management", "set", router.Item{"disabled": "yes"}},
			{member, "list", "platform-management", "set", router.Item{"interface": "ether2"}},
			{filter, "comment", way + "-from-drop", "set", router.Item{"action": "accept"}},
			{filter, "comment", way + "-server", "set", router.Item{"dst-port": "1-65535"}},
			{filter, "comment", way + "-to-drop", "move", nil},
			{"ip/firewall/nat", "comment", way, "remove", nil},
		} {
			change.make(t, r)
			if ofServices(t, r, version, tunnelled()).InSync() && ofRules(t, r, withCPE()).InSync() {
				t.Errorf("%s: unseen: %+v", version, change)
			}
			write(t, r, ofServices(t, r, version, tunnelled()).Plan())
			write(t, r, ofRules(t, r, withCPE()).Plan())
			if d, e := ofServices(t, r, version, tunnelled()), ofRules(t, r, withCPE()); !d.InSync() || !e.InSync() {
				t.Errorf("%s: after %+v: %+v %+v", version, change, d.Resources(), e.Resources())
			}
		}
	}
}

// make does it to each row that fits.
func (h handMade) make(t *testing.T, r *router.Router) {
	t.Helper()
	for _, row := range r.Snapshot(false)[h.menu] {
		if row[h.find] != h.value {
			continue
		}
		args := router.Item{".id": row[".id"]}
		if h.command == "move" {
			args = router.Item{"numbers": row[".id"]}
		}
		maps.Copy(args, h.values)
		if _, err := r.Do(h.menu, h.command, args); err != nil {
			t.Fatalf("%+v: %v", h, err)
		}
	}
}

// The route is under the rollback of a repair: one that leads the tunnel into itself would cut the router off.
func TestManagement_TheRouteIsRolledBack(t *testing.T) {
	t.Parallel()
	for _, version := range releases {
		r := ready(t, version)
		moved := withCPE()
		moved.CPE.Address = netip.MustParseAddr("10.98.0.6")
		s := read(t, r, append(routerplan.FirewallMenus(moved), routerplan.MenuScheduler))
		steps := routerplan.CompareFirewall(s, moved).Plan()
		if risky := routerplan.Risky(steps); !slices.ContainsFunc(risky, func(s routerplan.Step) bool {
			return s.Path == routerplan.MenuRoute
		}) {
			t.Fatalf("%s: %v", version, shown(risky))
		}
		arm := routerplan.Arm(s, id.Derive[id.Run]("test", "way"), 0)
		write(t, r, steps)
		if out, err := r.Script(arm[0].Values["on-event"]); err != nil {
			t.Fatalf("%s: %v: %s", version, err, out)
		}
		d := routerplan.CompareFirewall(read(t, r, routerplan.FirewallMenus(withCPE())), withCPE())
		if slices.ContainsFunc(d.Resources(), func(x events.DriftedResource) bool { // the translation cuts nobody off
			return x.Path != routerplan.MenuNAT
		}) {
			t.Errorf("%s: %+v", version, d.Resources())
		}
	}
}
