package routerplan_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// garden is a walled garden with all its parts.
func garden() *routerplan.Garden {
	return &routerplan.Garden{
		Allowed: []string{"acme.lastmile.example", "*.bank.example", "198.51.100.7", "203.0.113.0/24"},
		DNS:     "192.0.2.53", Redirect: true,
	}
}

// gardenFirewall is the platform's firewall with the walled garden.
func gardenFirewall() routerplan.Firewall {
	f := fw
	f.Garden = garden()
	return f
}

// Addresses of the customers and sites in these tests.
const (
	walledIn = "10.50.1.17"
	paying   = "10.50.1.18"
	anywhere = "151.101.1.1"
	payPage  = "192.0.2.80"
	bank     = "192.0.2.81"
)

// gardened is a router with an operator's rules, the platform's setup and a customer in the walled garden.
func gardened(t *testing.T, version string) *router.Router {
	t.Helper()
	r := simulated(t, version)
	do := doer(t, r)
	do("ip/firewall/filter", "add", router.Item{
		"chain": "forward", "action": "fasttrack-connection", "connection-state": "established,related",
	})
	do("ip/firewall/filter", "add", router.Item{
		"chain": "forward", "action": "accept", "connection-state": "established,related",
	})
	do("ip/firewall/filter", "add", router.Item{"chain": "input", "action": "accept", "protocol": "icmp"})
	do("ip/firewall/nat", "add", router.Item{
		"chain": "dstnat", "action": "dst-nat", "protocol": "tcp", "dst-port": "8000", "to-addresses": "10.50.1.18",
	})
	c := bootstrapConfig()
	c.Garden = garden()
	script, err := routerplan.Bootstrap(c)
	if err != nil {
		t.Fatal(err)
	}
	checkScript(t, script)
	for range 2 { // a script may run again
		if out, faults := r.Paste(script); len(faults) > 0 {
			t.Fatalf("%s: %v, %s", version, faults, out)
		}
	}
	do("ip/firewall/address-list", "add", router.Item{
		"list": routerplan.GardenList, "address": walledIn, "timeout": "1d", // dynamic, as RADIUS makes it
	})
	return r
}

// worldOf is a router with its rules as they are now.
func worldOf(t *testing.T, r *router.Router) world {
	return world{
		t: t, rows: read(t, r, firewallMenus()), local: "10.50.1.1", out: "ether1",
		names: map[string]string{"acme.lastmile.example": payPage, "bank.example": bank},
	}
}

// gardenSays lists packets of a customer in the walled garden, and what becomes of them.
var gardenSays = []struct {
	name string
	sent packet
	want verdict
}{
	{"a question to any name server", packet{to: "9.9.9.9", protocol: "udp", port: "53"},
		verdict{"accept", "192.0.2.53", "53"}},
	{"a long question", packet{to: "192.0.2.53", protocol: "tcp", port: "53"}, verdict{"accept", "192.0.2.53", "53"}},
	{"a question that went elsewhere before", packet{to: "9.9.9.9", protocol: "udp", port: "53", state: "established"},
		verdict{"icmp-admin-prohibited", "9.9.9.9", "53"}},
	{"a phone's probe", packet{to: anywhere, protocol: "tcp", port: "80"}, verdict{"accept", "10.99.0.1", "1880"}},
	{"the payment page", packet{to: payPage, protocol: "tcp", port: "443"}, verdict{"accept", payPage, "443"}},
	{"the payment page, plain", packet{to: payPage, protocol: "tcp", port: "80"}, verdict{"accept", payPage, "80"}},
	{"an allowed site", packet{to: bank, protocol: "tcp", port: "443"}, verdict{"accept", bank, "443"}},
	{"an allowed subnet", packet{to: "203.0.113.9", protocol: "udp", port: "443"},
		verdict{"accept", "203.0.113.9", "443"}},
	{"another site", packet{to: anywhere, protocol: "tcp", port: "443"}, verdict{"tcp-reset", anywhere, "443"}},
	{"another site, since before", packet{to: anywhere, protocol: "tcp", port: "443", state: "established"},
		verdict{"tcp-reset", anywhere, "443"}},
	{"another site over QUIC", packet{to: anywhere, protocol: "udp", port: "443"},
		verdict{"icmp-admin-prohibited", anywhere, "443"}},
	{"a tunnel in pings", packet{to: anywhere, protocol: "icmp"}, verdict{"icmp-admin-prohibited", anywhere, ""}},
	{"an answer to the ISP's ping", packet{to: "10.50.1.1", protocol: "icmp", state: "established"},
		verdict{"accept", "10.50.1.1", ""}},
	{"the router's console", packet{to: "10.50.1.1", protocol: "tcp", port: "8291"},
		verdict{"tcp-reset", "10.50.1.1", "8291"}},
	{"the lease", packet{to: "10.50.1.1", protocol: "udp", port: "67"}, verdict{"accept", "10.50.1.1", "67"}},
	{"another port of the platform's tunnel", packet{to: "10.99.0.1", protocol: "tcp", port: "8080"},
		verdict{"tcp-reset", "10.99.0.1", "8080"}},
	{"a neighbour", packet{to: paying, protocol: "tcp", port: "22"}, verdict{"tcp-reset", paying, "22"}},
}

// A customer in the walled garden reaches name server, payment page and allowed sites, and nothing else; everything
// else is refused at once.
func TestGarden_ACustomerInItReachesOnlyWhatIsAllowed(t *testing.T) {
	t.Parallel()
	for _, version := range releases {
		w := worldOf(t, gardened(t, version))
		for _, c := range gardenSays {
			c.sent.from = walledIn
			if got := w.walk(c.sent); got != c.want {
				t.Errorf("%s, %s: %+v, want %+v", version, c.name, got, c.want)
			}
		}
	}
}

// The rules change nothing for customers who have paid, who match none of them but by their list.
func TestGarden_PayingCustomersAreNotTouched(t *testing.T) {
	t.Parallel()
	for _, version := range releases {
		r := gardened(t, version)
		with := worldOf(t, r)
		bare := with
		bare.rows = routerplan.Snapshot{}
		for path, rows := range with.rows {
			bare.rows[path] = slices.DeleteFunc(slices.Clone(rows), func(row routerplan.Row) bool {
				return strings.HasPrefix(row["comment"], routerplan.FirewallTag+"garden")
			})
		}
		for _, c := range gardenSays {
			c.sent.from = paying
			if before, after := bare.walk(c.sent), with.walk(c.sent); before != after {
				t.Errorf("%s, %s: %+v, and %+v without the walled garden", version, c.name, after, before)
			}
		}
		for _, rule := range slices.Concat(routerplan.FirewallRules(gardenFirewall()),
			routerplan.NATRules(gardenFirewall())) {
			mine := strings.HasPrefix(rule.Name, routerplan.FirewallTag+"garden")
			if mine && rule.Values["chain"] != "platform-garden" &&
				rule.Values["src-address-list"] != routerplan.GardenList {
				t.Errorf("%s is for customers who are not in the walled garden", rule.Name)
			}
		}
	}
}

// Without a name server of the ISP's the router answers; without the redirect, plain pages are refused like others.
func TestGarden_WithoutNameServerAndRedirect(t *testing.T) {
	t.Parallel()
	r := simulated(t, "7.16")
	do := doer(t, r)
	do("ip/firewall/address-list", "add", router.Item{"list": routerplan.GardenList, "address": walledIn})
	f := fw
	f.Garden = &routerplan.Garden{}
	if out, faults := r.Paste(mustBootstrap(t)); len(faults) > 0 {
		t.Fatalf("%v, %s", faults, out)
	}
	write(t, r, routerplan.CompareFirewall(read(t, r, firewallMenus()), f).Plan())
	w := worldOf(t, r)
	for _, c := range []struct {
		sent packet
		want verdict
	}{
		{packet{to: "9.9.9.9", protocol: "udp", port: "53"}, verdict{"accept", "10.50.1.1", "53"}},
		{packet{to: "9.9.9.9", protocol: "udp", port: "53", state: "established"},
			verdict{"icmp-admin-prohibited", "9.9.9.9", "53"}},
		{packet{to: anywhere, protocol: "tcp", port: "80"}, verdict{"tcp-reset", anywhere, "80"}},
	} {
		c.sent.from = walledIn
		if got := w.walk(c.sent); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.sent, got, c.want)
		}
	}
}

// mustBootstrap is the script without a walled garden, as older programs wrote it.
func mustBootstrap(t *testing.T) string {
	t.Helper()
	script, err := routerplan.Bootstrap(bootstrapConfig())
	if err != nil {
		t.Fatal(err)
	}
	return script
}

// A router with the setup of an older program shows the walled garden as missing, and the repair makes it; one that
// leaves it loses all of it. The operator's rules and entries stay in both cases.
func TestGarden_IsDriftOfARouterOfBeforeAndGoesWithoutATrace(t *testing.T) {
	t.Parallel()
	for _, version := range releases {
		r := simulated(t, version)
		if out, faults := r.Paste(mustBootstrap(t)); len(faults) > 0 {
			t.Fatalf("%s: %v, %s", version, faults, out)
		}
		do := doer(t, r)
		do("ip/firewall/address-list", "add", router.Item{
			"list": routerplan.AllowedList, "address": "198.51.100.7", "comment": "mine",
		})
		do("ip/firewall/address-list", "add", router.Item{"list": "blocked", "address": "192.0.2.1"})
		before := firewallOf(t, r)
		d := routerplan.CompareFirewall(read(t, r, firewallMenus()), gardenFirewall())
		write(t, r, d.Plan())
		if d := routerplan.CompareFirewall(read(t, r, firewallMenus()), gardenFirewall()); !d.InSync() {
			t.Errorf("%s: %+v", version, d.Resources())
		}
		if diff := cmp.Diff(before, foreignFirewall(t, r, "garden")); diff != "" {
			t.Errorf("%s: the operator's\n%s", version, diff)
		}
		write(t, r, routerplan.CompareFirewall(read(t, r, firewallMenus()), fw).Plan())
		if diff := cmp.Diff(before, firewallOf(t, r)); diff != "" {
			t.Errorf("%s: something is left or was touched\n%s", version, diff)
		}
	}
}

// firewallOf has all rows of the firewall's menus.
func firewallOf(t *testing.T, r *router.Router) routerplan.Snapshot {
	return read(t, r, firewallMenus())
}

// foreignFirewall has the rows of the firewall's menus without those of the platform whose name begins so.
func foreignFirewall(t *testing.T, r *router.Router, name string) routerplan.Snapshot {
	s := firewallOf(t, r)
	for path := range s {
		s[path] = slices.DeleteFunc(s[path], func(row routerplan.Row) bool {
			return strings.HasPrefix(row["comment"], routerplan.FirewallTag+name)
		})
		if len(s[path]) == 0 {
			delete(s, path)
		}
	}
	return s
}

// Whatever somebody does to a rule or entry of the walled garden is a difference, and the repair brings all back.
func TestGarden_EveryRuleIsRepaired(t *testing.T) {
	t.Parallel()
	r := gardened(t, "7.23.7")
	do := doer(t, r)
	whole := firewallOf(t, r)
	for path, rows := range whole {
		for _, row := range rows {
			if !strings.HasPrefix(row["comment"], routerplan.FirewallTag+"garden") {
				continue
			}
			for name, change := range map[string]router.Item{
				"removed": nil, "disabled": {"disabled": "yes"}, "another comment": {"comment": "mine now"},
				"narrowed": {"protocol": "gre"},
			} {
				at := slices.IndexFunc(firewallOf(t, r)[path], func(now routerplan.Row) bool { return same(now, row) })
				if at < 0 {
					t.Fatalf("%s %s is gone before it was %s", path, row["comment"], name)
				}
				id := firewallOf(t, r)[path][at][".id"]
				switch {
				case change == nil:
					do(path, "remove", router.Item{".id": id})
				case path == routerplan.MenuAddressList && change["protocol"]+change["comment"] != "":
					continue // an entry of the operator's own serves as well; entries have no matchers
				default:
					args := router.Item{".id": id}
					maps.Copy(args, change)
					if change["protocol"] != "" && row["dst-port"] != "" {
						continue // a router refuses a port without its protocol
					}
					do(path, "set", args)
				}
				d := routerplan.CompareFirewall(firewallOf(t, r), gardenFirewall())
				if d.InSync() {
					t.Errorf("%s %s: %s is no difference", path, row["comment"], name)
				}
				for _, step := range d.Plan() {
					if step.Touches() && !step.Still(find(firewallOf(t, r)[step.Path], step.ID)) {
						t.Errorf("%s %s: the row of %s is not known again", path, row["comment"], step.Name)
					}
				}
				write(t, r, d.Plan())
				if d := routerplan.CompareFirewall(firewallOf(t, r), gardenFirewall()); !d.InSync() {
					t.Errorf("%s %s: %s, after the repair %+v", path, row["comment"], name, d.Resources())
				}
			}
		}
	}
}

// same reports whether two rows are of the same rule or entry of the platform.
func same(a, b routerplan.Row) bool {
	return a["comment"] == b["comment"] && a["address"] == b["address"]
}

// What a service allows is written with the service; the other entries come with the rules that need them.
func TestGarden_SitesOfServicesAreWrittenWithThem(t *testing.T) {
	t.Parallel()
	r := simulated(t, "7.16")
	lists := func() (list []string) {
		for _, row := range firewallOf(t, r)[routerplan.MenuAddressList] {
			list = append(list, row["list"]+" "+row["address"]+" "+row["comment"])
		}
		slices.Sort(list)
		return list
	}
	g := *garden()
	const ours = " Platform-fw:garden-allowed"
	for _, c := range []struct{ sites, want []string }{
		{nil, nil},
		{[]string{"*.news.example", "192.0.2.7", "news.example"}, []string{
			"walled-garden-allowed 192.0.2.7" + ours, "walled-garden-allowed news.example" + ours,
		}},
		{[]string{"192.0.2.7", "198.51.100.7"}, []string{
			"walled-garden-allowed 192.0.2.7" + ours, "walled-garden-allowed 198.51.100.7" + ours,
		}},
		{nil, []string{"walled-garden-allowed 198.51.100.7" + ours}}, // the platform allows it, too
	} {
		g.Sites = c.sites
		write(t, r, routerplan.CompareSites(firewallOf(t, r), g).Plan())
		if diff := cmp.Diff(c.want, lists()); diff != "" {
			t.Errorf("sites %v\n%s", c.sites, diff)
		}
		if d := routerplan.CompareSites(firewallOf(t, r), g); !d.InSync() || len(d.Plan()) > 0 {
			t.Errorf("sites %v: %+v", c.sites, d.Resources())
		}
	}
}

// The rollback of a repair brings back the rules of the walled garden as they were, in their order.
func TestGarden_ARollbackRestoresItsRules(t *testing.T) {
	t.Parallel()
	for _, version := range releases {
		r := gardened(t, version)
		do := doer(t, r)
		run := id.Derive[id.Run]("test", "run")
		script := routerplan.Arm(read(t, r, setupMenus()), run, 0)[0].Values["on-event"]
		for _, row := range firewallOf(t, r)[routerplan.MenuFirewallFilter] {
			if strings.HasSuffix(row["comment"], "garden-forward") || strings.HasSuffix(row["comment"], "-tcp") {
				do(routerplan.MenuFirewallFilter, "remove", router.Item{".id": row[".id"]})
			}
		}
		if d := routerplan.CompareFirewall(firewallOf(t, r), gardenFirewall()); d.InSync() {
			t.Errorf("%s: nothing was broken", version)
		}
		if out, err := r.Script(script); err != nil {
			t.Fatalf("%s: %v, %s", version, err, out)
		}
		if d := routerplan.CompareFirewall(firewallOf(t, r), gardenFirewall()); !d.InSync() {
			t.Errorf("%s: after the rollback %+v", version, d.Resources())
		}
	}
}
