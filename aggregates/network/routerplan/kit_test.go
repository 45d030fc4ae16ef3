package routerplan_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// modern is a version that has everything the platform uses.
var modern = routerplan.Version{Major: 7, Minor: 16}

// firewallMenus lists the menus to read before the rules of a router without a way to the CPE server are compared.
func firewallMenus() []string { return routerplan.FirewallMenus(routerplan.Firewall{}) }

// setupMenus lists them for its whole setup.
func setupMenus() []string { return routerplan.SetupMenus(routerplan.Firewall{}) }

// testService is the n-th service; its subnet and id follow from n.
func testService(n int, t events.ServiceType, parent string, vlan int) routerplan.Service {
	s := routerplan.Service{
		ID:      id.Derive[id.Service]("test", fmt.Sprint("service", n)),
		Binding: events.ServiceBinding{Type: t, ParentInterface: parent, VlanID: vlan},
		Addressing: events.ServiceAddressing{
			Subnet: fmt.Sprintf("10.50.%d.0/24", n), Gateway: fmt.Sprintf("10.50.%d.1", n),
			PoolStart: fmt.Sprintf("10.50.%d.2", n), PoolEnd: fmt.Sprintf("10.50.%d.254", n),
		},
	}
	if t == events.ServiceHotspot {
		s.WalledGarden = events.WalledGarden{
			Domains: []string{"*.example.com", "pay.example.org"}, Addresses: []string{"192.0.2.0/24"},
		}
	}
	return s
}

// model imitates the menus of a router: it accepts steps as a router does, and writes values in its own form.
type model struct {
	t    testing.TB
	menu routerplan.Snapshot
	next int
}

// fatalf ends the test. It exists because rapid's T is not a testing.TB.
type fatalf func(format string, args ...any)

// newModel is a router with these rows in its menus.
func newModel(t testing.TB, rows routerplan.Snapshot) *model {
	r := &model{t: t, menu: routerplan.Snapshot{}}
	for path, list := range rows {
		for _, row := range list {
			r.add(path, row, "")
		}
	}
	return r
}

// add stores a row as a router does, before another row or at the end.
func (r *model) add(path string, values map[string]string, before string) {
	row := routerplan.Row{}
	for property, value := range values {
		row[property] = stored(property, value)
	}
	r.next++
	row[".id"] = fmt.Sprintf("*%X", r.next)
	at := slices.IndexFunc(r.menu[path], func(o routerplan.Row) bool { return o[".id"] == before })
	if at < 0 {
		at = len(r.menu[path])
	}
	r.menu[path] = slices.Insert(slices.Clone(r.menu[path]), at, row)
}

// stored is the form in which a router returns a value.
func stored(property, value string) string {
	switch {
	case value == "yes" && property != "name":
		return "true"
	case value == "no" && property != "name":
		return "false"
	case property == "lease-time" && value == "1h":
		return "01:00:00"
	}
	return value
}

// apply executes one step. A wrong id or a wrong operation ends the test.
func (r *model) apply(fail fatalf, s routerplan.Step) {
	if s.Operation == commands.OperationAdd {
		r.add(s.Path, s.Values, s.Destination)
		return
	}
	at := slices.IndexFunc(r.menu[s.Path], func(o routerplan.Row) bool { return o[".id"] == s.ID })
	if at < 0 {
		fail("%s %s %s: no such item %s", s.Operation, s.Path, s.Name, s.ID)
		return
	}
	row := maps.Clone(r.menu[s.Path][at])
	rest := slices.Delete(slices.Clone(r.menu[s.Path]), at, at+1)
	switch s.Operation {
	case commands.OperationRemove:
		r.menu[s.Path] = rest
	case commands.OperationSet:
		for property, value := range s.Values {
			row[property] = stored(property, value)
		}
		r.menu[s.Path] = slices.Insert(rest, at, row)
	case commands.OperationMove:
		to := slices.IndexFunc(rest, func(o routerplan.Row) bool { return o[".id"] == s.Destination })
		if to < 0 {
			to = len(rest)
		}
		r.menu[s.Path] = slices.Insert(rest, to, row)
	default:
		fail("operation %q", s.Operation)
	}
}

// run executes at most the first n steps, as if the program died after them.
func (r *model) run(fail fatalf, steps []routerplan.Step, n int) {
	for _, s := range steps[:min(n, len(steps))] {
		r.apply(fail, s)
	}
}

// foreign lists the rows that the platform must not touch, with their ids and in order; a property "mark" identifies
// them.
func (r *model) foreign() []string {
	var out []string
	for _, path := range slices.Sorted(maps.Keys(r.menu)) {
		for _, row := range r.menu[path] {
			if row["mark"] != "" {
				out = append(out, path+" "+line(row))
			}
		}
	}
	return out
}

// line writes a row as text, with sorted properties.
func line(row routerplan.Row) string {
	var parts []string
	for _, property := range slices.Sorted(maps.Keys(row)) {
		parts = append(parts, property+"="+row[property])
	}
	return strings.Join(parts, " ")
}

// shown writes each step as one short line.
func shown(steps []routerplan.Step) []string {
	var out []string
	for _, s := range steps {
		out = append(out, s.Operation+" "+s.Path+" "+s.Name)
	}
	return out
}
