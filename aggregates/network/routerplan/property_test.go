package routerplan_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// foreignTexts are comments and names of an operator; some look similar to the platform's.
var foreignTexts = []string{
	"", "uplink", "Platform", "Platform-svc", "Platform-svc:", "Platform-svc:not-an-id",
	"my Platform-svc:0195a000-0000-7000-8000-000000000001", "pool-svc-zz", "hs-svc-1234567", "Platform-fw",
	"x Platform-fw:tunnel",
}

// drawForeign adds rows of an operator to all menus of the router.
func drawForeign(t *rapid.T, r *model) {
	for _, path := range append(routerplan.ServiceMenus(), routerplan.MenuFirewallFilter) {
		for range rapid.IntRange(0, 3).Draw(t, path) {
			r.add(path, map[string]string{
				"mark": "x", "name": rapid.SampledFrom(foreignTexts).Draw(t, "name"),
				"comment":  rapid.SampledFrom(foreignTexts).Draw(t, "comment"),
				"dst-host": rapid.SampledFrom([]string{"", "*.example.com"}).Draw(t, "host"), "service-name": "isp",
				"interface": "ether5", "address": "10.50.1.1/24",
				"disabled": rapid.SampledFrom([]string{"", "true", "no"}).Draw(t, "disabled"), "chain": "input",
				"action": "drop", "dynamic": rapid.SampledFrom([]string{"", "true"}).Draw(t, "dynamic"),
			}, "")
		}
	}
}

// drawService draws one of three services in any valid form.
func drawService(t *rapid.T) routerplan.Service {
	n := rapid.IntRange(1, 3).Draw(t, "n")
	s := testService(n, rapid.SampledFrom([]events.ServiceType{
		events.ServicePPPoE, events.ServiceHotspot, events.ServiceCPEManagement,
	}).Draw(t, "type"), fmt.Sprint("ether", n), rapid.SampledFrom([]int{0, 7, 4094}).Draw(t, "vlan"))
	if s.Binding.Type == events.ServiceHotspot {
		s.WalledGarden.Domains = s.WalledGarden.Domains[:rapid.IntRange(0, 2).Draw(t, "domains")]
	}
	if s.Masquerade = rapid.Bool().Draw(t, "masquerade"); s.Masquerade {
		s.DNS = []string{"192.0.2.53"}
	}
	if rapid.Bool().Draw(t, "moved") {
		s.Addressing = testService(n+100, events.ServicePPPoE, "", 0).Addressing
	}
	return s
}

// tamper changes, removes or doubles one row of the platform, as an operator could.
func tamper(t *rapid.T, r *model) {
	path := rapid.SampledFrom(append(routerplan.ServiceMenus(), routerplan.MenuFirewallFilter)).Draw(t, "menu")
	at := slices.IndexFunc(r.menu[path], func(row routerplan.Row) bool { return row["mark"] == "" })
	if at < 0 {
		return
	}
	row := maps.Clone(r.menu[path][at])
	rest := slices.Delete(slices.Clone(r.menu[path]), at, at+1)
	switch rapid.IntRange(0, 3).Draw(t, "how") {
	case 0:
		r.menu[path] = rest
	case 1:
		row["disabled"] = "true"
		r.menu[path] = slices.Insert(rest, at, row)
	case 2: // the answer to an add was lost, and the row was added again
		r.add(path, row, "")
	case 3:
		row["src-address"], row["ranges"], row["interface"] = "198.51.100.9", "10.9.9.9-10.9.9.10", "ether9"
		r.menu[path] = slices.Insert(rest, 0, row)
	}
}

func TestReconcile_ForeignResourcesStayAndTheNextDiffIsEmpty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		firewall := drawFirewall(t)
		r := newModel(nil, nil)
		drawForeign(t, r)
		before := r.foreign()
		services := map[id.Service]routerplan.Service{}
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			if s := drawService(t); rapid.IntRange(0, 4).Draw(t, "delete") == 0 {
				delete(services, s.ID) // its resources become orphans, unless its removal ran
			} else {
				services[s.ID] = s
			}
			tamper(t, r)
			kill := rapid.IntRange(0, 40).Draw(t, "kill")
			r.run(t.Fatalf, routerplan.CompareDevice(r.menu, slices.Collect(maps.Values(services)), modern).Plan(),
				kill)
			firewall = drawFirewall(t)
			r.run(t.Fatalf, routerplan.CompareFirewall(r.menu, firewall).Plan(), kill)
		}
		all := slices.Collect(maps.Values(services))
		device := routerplan.CompareDevice(r.menu, all, modern)
		checkMinimal(t, device)
		r.run(t.Fatalf, device.Plan(), 1000)
		r.run(t.Fatalf, routerplan.CompareFirewall(r.menu, firewall).Plan(), 1000)
		if diff := cmp.Diff(before, r.foreign()); diff != "" {
			t.Fatalf("foreign resources (-before +after)\n%s", diff)
		}
		if d := routerplan.CompareDevice(r.menu, all, modern); !d.InSync() || len(d.Plan()) > 0 || d.Hash() != "" {
			t.Fatalf("second diff %+v", d.Resources())
		}
		if d := routerplan.CompareFirewall(r.menu, firewall); !d.InSync() || len(d.Plan()) > 0 {
			t.Fatalf("second diff of the firewall %+v", d.Resources())
		}
		checkFirewallOrder(t, r, firewall)
		for _, s := range all {
			r.run(t.Fatalf, routerplan.CompareRemoval(r.menu, s.ID).Plan(), 1000)
		}
		if left := routerplan.CompareDevice(r.menu, nil, modern); !left.InSync() {
			t.Fatalf("removal left %+v", left.Resources())
		}
		if diff := cmp.Diff(before, r.foreign()); diff != "" {
			t.Fatalf("foreign resources after removal (-before +after)\n%s", diff)
		}
	})
}

// drawFirewall is the platform's firewall, with or without a walled garden.
func drawFirewall(t *rapid.T) routerplan.Firewall {
	f := routerplan.Firewall{RadiusHost: "10.99.0.1", CoAPort: 3799}
	if rapid.Bool().Draw(t, "garden") {
		f.Garden = &routerplan.Garden{
			Allowed: rapid.SliceOf(rapid.SampledFrom([]string{
				"acme.example", "*.bank.example", "bank.example", "192.0.2.1", "203.0.113.0/24",
			})).Draw(t, "allowed"),
			DNS:      rapid.SampledFrom([]string{"", "192.0.2.53"}).Draw(t, "name server"),
			Redirect: rapid.Bool().Draw(t, "redirect"),
		}
	}
	return f
}

// checkMinimal wants at most one write for a difference and two for a replacement, no row written twice, and no set of
// a value that was right.
func checkMinimal(t *rapid.T, d routerplan.Diff) {
	if len(d.Plan()) < len(d.Differences) || len(d.Plan()) > 2*len(d.Differences) {
		t.Fatalf("%d steps for %d differences", len(d.Plan()), len(d.Differences))
	}
	seen := map[string]bool{}
	for _, s := range d.Plan() {
		if s.Operation != commands.OperationAdd && seen[s.Path+s.ID] {
			t.Fatalf("%s %s is written twice", s.Path, s.Name)
		}
		seen[s.Path+s.ID] = s.ID != ""
		for property, value := range s.Values {
			if s.Operation == commands.OperationSet && routerplan.SameValue(property, value, s.Before[property]) {
				t.Fatalf("%s %s: %s was right", s.Path, s.Name, property)
			}
		}
	}
}

// checkFirewallOrder wants the platform's rules in order, before all rules of the operator that are not dynamic.
func checkFirewallOrder(t *rapid.T, r *model, f routerplan.Firewall) {
	for path, rules := range map[string][]routerplan.Resource{
		routerplan.MenuFirewallFilter: routerplan.FirewallRules(f), routerplan.MenuNAT: routerplan.NATRules(f),
	} {
		var comments []string
		for _, row := range r.menu[path] {
			if row["dynamic"] != "true" {
				comments = append(comments, row["comment"])
			}
		}
		for i, rule := range rules {
			if comments[i] != rule.Name {
				t.Fatalf("%s: rule %d is %q of %q", path, i, comments[i], comments)
			}
		}
	}
}

func TestHash_IsStableUnderOrderAndIds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := newModel(nil, nil)
		drawForeign(t, r)
		service := drawService(t)
		r.run(t.Fatalf, routerplan.CompareService(r.menu, service, modern).Plan(), 1000)
		for range 3 {
			tamper(t, r)
		}
		want := routerplan.CompareService(r.menu, service, modern).Hash()
		shuffled := routerplan.Snapshot{}
		for _, path := range slices.Sorted(maps.Keys(r.menu)) {
			for i, row := range rapid.Permutation(r.menu[path]).Draw(t, path) {
				row = maps.Clone(row)
				row[".id"], row["hits"] = fmt.Sprintf("*%X", 9000-i), fmt.Sprint(i)
				shuffled[path] = append(shuffled[path], row)
			}
		}
		if got := routerplan.CompareService(shuffled, service, modern).Hash(); got != want {
			t.Fatalf("hash %s, was %s", got, want)
		}
	})
}
