package routerplan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
)

// fw is the input of the platform's firewall rules in these tests.
var fw = routerplan.Firewall{RadiusHost: "10.99.0.1", CoAPort: 3799}

// walled is a router with the platform's rules and some rules of the operator.
func walled(t *testing.T) *model {
	r := newModel(t, routerplan.Snapshot{routerplan.MenuFirewallFilter: {
		{"chain": "forward", "action": "passthrough", "dynamic": "true", "comment": "special dummy rule"},
		{"chain": "input", "action": "accept", "connection-state": "established,related", "mark": "1"}, {
			"chain": "input", "action": "drop", "mark": "2",
		},
	}})
	r.run(t.Fatalf, routerplan.CompareFirewall(r.menu, fw).Plan(), 100)
	if d := routerplan.CompareFirewall(r.menu, fw); !d.InSync() {
		t.Fatalf("%+v", d.Resources())
	}
	return r
}

func TestFirewall_TunnelRuleComesFirst(t *testing.T) {
	t.Parallel()
	r := walled(t)
	var comments []string
	for _, row := range r.menu[routerplan.MenuFirewallFilter] {
		comments = append(comments, row["comment"])
	}
	want := []string{
		"special dummy rule", "Platform-fw:tunnel", "Platform-fw:radius-incoming", "Platform-fw:tunnel-drop",
		"Platform-fw:tunnel-forward", "Platform-fw:tunnel-forward-drop", "", "",
	}
	if diff := cmp.Diff(want, comments); diff != "" {
		t.Error(diff)
	}
}

func TestFirewall_RepairsOrderAndValuesWithTheFewestWrites(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*model)
		want   []string
	}{
		"operator's rule put first": {func(r *model) {
			r.add(routerplan.MenuFirewallFilter, map[string]string{"chain": "input", "mark": "3"},
				r.menu[routerplan.MenuFirewallFilter][1][".id"])
		}, []string{
			"move ip/firewall/filter Platform-fw:tunnel", "move ip/firewall/filter Platform-fw:radius-incoming",
			"move ip/firewall/filter Platform-fw:tunnel-drop", "move ip/firewall/filter Platform-fw:tunnel-forward",
			"move ip/firewall/filter Platform-fw:tunnel-forward-drop",
		}},
		"two changed places": {func(r *model) {
			rows := r.menu[routerplan.MenuFirewallFilter]
			rows[1], rows[2] = rows[2], rows[1]
		}, []string{"move ip/firewall/filter Platform-fw:tunnel"}},
		"disabled": {
			func(r *model) { r.menu[routerplan.MenuFirewallFilter][1]["disabled"] = "true" }, []string{
				"set ip/firewall/filter Platform-fw:tunnel",
			},
		},
		"narrowed: the new one comes before the old one goes": {
			func(r *model) { r.menu[routerplan.MenuFirewallFilter][1]["protocol"] = "tcp" },
			[]string{"add ip/firewall/filter Platform-fw:tunnel", "remove ip/firewall/filter Platform-fw:tunnel"},
		},
		"one of an older version": {func(r *model) {
			r.add(routerplan.MenuFirewallFilter, map[string]string{"comment": "Platform-fw:old"}, "")
		}, []string{"remove ip/firewall/filter Platform-fw:old"}},
		"one missing": {func(r *model) {
			rows := r.menu[routerplan.MenuFirewallFilter]
			r.menu[routerplan.MenuFirewallFilter] = append(rows[:2:2], rows[3:]...)
		}, []string{"add ip/firewall/filter Platform-fw:radius-incoming"}},
	} {
		r := walled(t)
		c.change(r)
		before := r.foreign()
		d := routerplan.CompareFirewall(r.menu, fw)
		if diff := cmp.Diff(c.want, shown(d.Plan())); diff != "" {
			t.Errorf("%s\n%s", name, diff)
		}
		r.run(t.Fatalf, d.Plan(), 100)
		if d := routerplan.CompareFirewall(r.menu, fw); !d.InSync() {
			t.Errorf("%s: still %+v", name, d.Resources())
		}
		if diff := cmp.Diff(before, r.foreign()); diff != "" {
			t.Errorf("%s: the operator's rules\n%s", name, diff)
		}
	}
}
