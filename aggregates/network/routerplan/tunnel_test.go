package routerplan_test

import (
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// concentrator is a complete input for both kinds of concentrators.
func concentrator() routerplan.TunnelConfig {
	return routerplan.TunnelConfig{
		Port: 4443, Certificate: "operator", Key: "/etc/key.pem", Platform: netip.MustParseAddr("192.168.88.10"),
		Clients: []routerplan.TunnelClient{
			{User: "nas-1", Secret: "secretOfOne", Address: "10.99.3.4"}, {
				User: "nas-2", Secret: "secretOfTwo", Address: "10.99.7.9",
			},
		},
	}
}

func TestConcentrator_RulesNameTheInterfacesThatTheConfigurationMakes(t *testing.T) {
	t.Parallel()
	config, _, err := routerplan.AccelPPP(concentrator())
	if err != nil {
		t.Fatal(err)
	}
	made := regexp.MustCompile(`(?m)^ifname=(\S+)%d$`).FindStringSubmatch(config)
	if made == nil {
		t.Fatalf("no interface name in %s", config)
	}
	rules := routerplan.AccelFirewall(routerplan.CPEServer{})
	named := regexp.MustCompile(`[io]ifname "([^"]+)\*"`).FindAllStringSubmatch(rules, -1)
	for _, one := range named {
		if one[1] != made[1] {
			t.Errorf("rules are about %s*, interfaces are %s0, …", one[1], made[1])
		}
	}
	for _, want := range []string{`iifname "` + made[1] + `*" drop`, `oifname "` + made[1] + `*" drop`} {
		if !strings.Contains(rules[strings.Index(rules, "chain forward"):], want) {
			t.Errorf("forwarding is not closed by %s", want)
		}
	}
}

// RADIUS knows a router by its tunnel address: a packet counts only when the way back to its source leads through the
// tunnel that it came from.
func TestConcentrator_ARouterCannotSendAsAnotherOne(t *testing.T) {
	t.Parallel()
	rules := routerplan.AccelFirewall(routerplan.CPEServer{})
	chain := regexp.MustCompile(`(?s)chain source \{(.*?)\}`).FindStringSubmatch(rules)
	if chain == nil || !strings.Contains(chain[1], "hook prerouting") ||
		!strings.Contains(chain[1], `iifname "lmtun*" fib saddr . iif oif missing drop`) {
		t.Errorf("sources are not checked: %s", rules)
	}
	script, err := routerplan.RouterConcentrator(concentrator())
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(script, "\n") {
		if strings.Contains(line, `"lastmile-tunnel:radius"`) && strings.Contains(line, "filter add") &&
			!strings.Contains(line, "src-address=10.99.0.0/16") {
			t.Errorf("any source is let through: %s", line)
		}
	}
}

// TestConcentrator_OnARouterIsolatesAndRunsTwice on all releases: the rules stand first and in order, tunnels are in
// the list that the rules name, and RADIUS reaches the platform.
func TestConcentrator_OnARouterIsolatesAndRunsTwice(t *testing.T) {
	t.Parallel()
	for _, version := range releases {
		r := simulated(t, version)
		if err := r.Certify(); err != nil {
			t.Fatal(err)
		}
		script, err := routerplan.RouterConcentrator(concentrator())
		if err != nil {
			t.Fatal(err)
		}
		checkScript(t, script)
		before := withoutOurs(r)
		if out, err := r.Script(script); err != nil || !strings.HasSuffix(out, "2 routers\n") {
			t.Fatalf("%s: %v: %s", version, err, out)
		}
		first := withoutIDs(r)
		if _, faults := r.Paste(script); len(faults) > 0 {
			t.Fatalf("%s: %v", version, faults)
		}
		if diff := cmp.Diff(first, withoutIDs(r)); diff != "" {
			t.Errorf("%s: a second run changed something:\n%s", version, diff)
		}
		if diff := cmp.Diff(before, withoutOurs(r)); diff != "" {
			t.Errorf("%s: rules of others:\n%s", version, diff)
		}
		after := r.Snapshot(false)
		for i, want := range []string{
			"ping", "input-drop", "answers", "radius", "redirect", "from-tunnels-drop", "platform",
			"to-tunnels-drop",
		} {
			rule := after["ip/firewall/filter"][i]
			if rule["comment"] != "lastmile-tunnel:"+want ||
				rule["in-interface-list"]+rule["out-interface-list"] != "lastmile-tunnel" {
				t.Errorf("%s: rule %d is %v, not %s", version, i, rule, want)
			}
		}
		checkTranslations(t, version, after["ip/firewall/nat"])
		for _, profile := range after["ppp/profile"] {
			if profile["name"] == "lastmile-tunnel" && profile["interface-list"] != "lastmile-tunnel" {
				t.Errorf("%s: tunnels are in no list: %v", version, profile)
			}
		}
		c := concentrator()
		c.Clients = c.Clients[:1]
		if script, err = routerplan.RouterConcentrator(c); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Script(script); err != nil || len(r.Snapshot(false)["ppp/secret"]) != 1 {
			t.Errorf("%s: %v: the secret of a router that is gone stays", version, err)
		}
	}
}

// withoutIDs is a router's configuration without the ids of the concentrator's rules, which each run makes anew.
func withoutIDs(r *router.Router) router.Snapshot {
	s := r.Snapshot(false)
	for _, menu := range []string{"ip/firewall/filter", "ip/firewall/nat"} {
		for _, rule := range s[menu] {
			if strings.HasPrefix(rule["comment"], "lastmile-tunnel:") {
				delete(rule, ".id")
			}
		}
	}
	return s
}

// withoutOurs is a router's firewall without the concentrator's rules.
func withoutOurs(r *router.Router) router.Snapshot {
	return r.Snapshot(false).Without(func(menu string, item router.Item) bool {
		return !strings.HasPrefix(menu, "ip/firewall/") || strings.HasPrefix(item["comment"], "lastmile-tunnel:")
	})
}

// checkTranslations wants RADIUS and the redirect of the walled garden to reach the platform, which is 10.99.0.1 to
// routers.
func checkTranslations(t *testing.T, version string, rules []router.Item) {
	t.Helper()
	for i, want := range []string{"udp 1812,1813", "tcp 1880"} {
		rule := rules[i]
		if rule["dst-address"] != "10.99.0.1" || rule["to-addresses"] != "192.168.88.10" ||
			rule["protocol"]+" "+rule["dst-port"] != want {
			t.Errorf("%s: %s goes nowhere: %v", version, want, rule)
		}
	}
	if rule := rules[2]; rule["src-address"] != "192.168.88.10" || rule["to-addresses"] != "10.99.0.1" {
		t.Errorf("%s: the platform is not 10.99.0.1 to routers: %v", version, rule)
	}
}
