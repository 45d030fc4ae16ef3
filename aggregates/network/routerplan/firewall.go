package routerplan

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lastmile-isp/lastmile/commands"
)

// FirewallTag begins the comment of every firewall rule of the platform. All other rules belong to the operator.
const FirewallTag = "Platform-fw:"

// Comments of the platform's rules in the order of the rules. The tunnel rule is the first of the whole table. Source:
// docs/rules/network.md#firewall-rules.
const (
	fwTunnel  = FirewallTag + "tunnel"
	fwRadius  = FirewallTag + "radius-incoming"
	fwForward = FirewallTag + "tunnel-forward"
	// What comes through the tunnel and is not from the platform comes from another router, perhaps of another
	// organization: it is dropped.
	fwDrop        = FirewallTag + "tunnel-drop"
	fwForwardDrop = FirewallTag + "tunnel-forward-drop"
)

// Firewall has the values that the platform's rules depend on.
type Firewall struct {
	RadiusHost string // the platform's address inside the tunnel
	CoAPort    int
	Garden     *Garden // nil = the router has no walled garden
	CPE        CPEServer
}

// FirewallRules lists the platform's rules of the filter in the order in which a router must have them.
func FirewallRules(f Firewall) []Resource {
	rule := func(comment, chain string, more map[string]string) Resource {
		values := map[string]string{
			"chain": chain, propertyAction: "accept", propertyIn: TunnelInterface, propertyComment: comment,
		}
		maps.Copy(values, more)
		return Resource{Path: MenuFirewallFilter, Name: comment, Values: values}
	}
	rules := []Resource{
		rule(fwTunnel, "input", map[string]string{"src-address": f.RadiusHost}),
		rule(fwRadius, "input", map[string]string{
			"src-address": f.RadiusHost, "protocol": "udp", "dst-port": strconv.Itoa(f.CoAPort),
		}),
		rule(fwDrop, "input", map[string]string{propertyAction: "drop"}),
		rule(fwForward, "forward", map[string]string{"src-address": f.RadiusHost}),
	}
	rules = append(rules, f.CPE.managementIn()...)
	rules = append(rules, rule(fwForwardDrop, "forward", map[string]string{propertyAction: "drop"}))
	rules = append(rules, f.CPE.managementRules()...)
	if f.Garden != nil {
		rules = append(rules, f.Garden.filterRules(f.RadiusHost)...)
	}
	return rules
}

// NATRules lists the platform's rules of the translation in the order in which a router must have them, before those of
// the operator; none without a walled garden or a way to the CPE server.
func NATRules(f Firewall) []Resource {
	rules := f.CPE.managementNAT()
	if f.Garden != nil {
		rules = append(rules, f.Garden.natRules(f.RadiusHost)...)
	}
	return rules
}

// harmless lists properties that do not change which packets a rule matches.
var harmless = append([]string{"log", "log-prefix", propertyComment, propertyDisabled, "creation-time", "chain",
	propertyAction}, volatile...)

// placed is one rule of the platform with the row found for it.
type placed struct {
	want Resource
	row  Row // nil = to be added
	diff Difference
	bad  bool // the values of the row differ
	kept bool // the row stays where it is
}

// CompareFirewall compares the platform's rules, and their order, with those of a router: the filter, the translation,
// the way to the CPE server and the list of what the walled garden allows. The operator's rules are neither compared
// nor written; the platform's rules must only stand before them. A menu that is not in the snapshot counts as empty.
func CompareFirewall(s Snapshot, f Firewall) Diff {
	d := compareRules(s, MenuFirewallFilter, FirewallRules(f)).With(compareRules(s, MenuNAT, NATRules(f)))
	d = d.With(compareWay(s, f.CPE))
	if f.Garden != nil {
		return d.With(CompareAllowed(s, *f.Garden))
	}
	return d.With(CompareAllowed(s, Garden{}))
}

// onlyRead leaves the parts of a difference that are in menus which were read.
func (d Diff) onlyRead(s Snapshot) Diff {
	unread := func(path string) bool {
		if path == MenuRoute {
			path = MenuOwnRoute
		}
		_, read := s[path]
		return !read
	}
	d.Differences = slices.DeleteFunc(d.Differences, func(x Difference) bool { return unread(x.Path) })
	d.steps = slices.DeleteFunc(d.steps, func(x Step) bool { return unread(x.Path) })
	return d
}

// compareRules compares the platform's rules in one table of a router's firewall.
func compareRules(s Snapshot, path string, wanted []Resource) Diff {
	table := s.static(path)
	left := slices.DeleteFunc(slices.Clone(table),
		func(r Row) bool { return !strings.HasPrefix(r[propertyComment], FirewallTag) })
	m := menu{path: path, name: propertyComment, key: []string{propertyComment}}
	var rules []placed
	for _, want := range wanted {
		p := placed{want: want}
		at := slices.IndexFunc(left, func(r Row) bool { return r[propertyComment] == want.Name })
		if at >= 0 {
			p.row, left = left[at], slices.Delete(slices.Clone(left), at, at+1)
			p.diff, p.bad = compareRule(m, want, p.row)
		}
		rules = append(rules, p)
	}
	keepInPlace(table, rules)
	var d Diff
	for i := range rules {
		if x, differs := rules[i].difference(rules, i); differs {
			d.Differences = append(d.Differences, x)
		}
	}
	for _, r := range left {
		d.Differences = append(d.Differences, Difference{
			Path: m.path, Kind: KindExtra, Name: r[propertyComment], Actual: plain(r), row: r,
		})
	}
	d.steps = firewallSteps(path, table, rules, left)
	return d
}

// compareRule compares one rule strictly: an additional matcher makes it a different rule, which is replaced.
func compareRule(m menu, want Resource, row Row) (Difference, bool) {
	for property := range row {
		if _, wanted := want.Values[property]; !wanted && !slices.Contains(harmless, property) {
			m.foreign = append(m.foreign, property)
		}
	}
	x, differs := m.changed(want, row)
	if isTrue(row[propertyDisabled]) {
		x.Expected[propertyDisabled], x.Actual[propertyDisabled] = "no", row[propertyDisabled]
		differs = true
	}
	return x, differs
}

// keepInPlace marks the largest number of rules that can stay: those at the head of the table, before any rule of the
// operator, that are already in order.
func keepInPlace(table []Row, rules []placed) {
	var head []int // indexes of rules, in the order of the table
	for _, row := range table {
		if !strings.HasPrefix(row[propertyComment], FirewallTag) {
			break
		}
		at := slices.IndexFunc(rules, func(p placed) bool {
			return p.row != nil &&
				p.row[propertyID] == row[propertyID]
		})
		if at >= 0 && !rules[at].diff.replace { // duplicates and replaced rules are removed
			head = append(head, at)
		}
	}
	for _, at := range longestIncreasing(head) {
		rules[at].kept = true
	}
}

// longestIncreasing is the longest increasing part of the list.
func longestIncreasing(list []int) []int {
	var best []int
	ending := make([][]int, len(list)) // the longest part that ends with each number
	for i, n := range list {
		for at := range i {
			if list[at] < n && len(ending[at]) > len(ending[i]) {
				ending[i] = ending[at]
			}
		}
		ending[i] = append(slices.Clone(ending[i]), n)
		if len(ending[i]) > len(best) {
			best = ending[i]
		}
	}
	return best
}

// difference describes one rule that is missing, has other values, or stands at another place; false for a right one.
func (p placed) difference(rules []placed, at int) (Difference, bool) {
	if p.row == nil {
		want := p.want
		return Difference{Path: want.Path, Kind: KindMissing, Name: want.Name, Expected: want.Values,
			want: &want}, true
	}
	x := p.diff
	if !p.kept && !x.replace {
		place := "first"
		if at > 0 {
			place = "after " + rules[at-1].want.Name
		}
		x.Expected["place"], x.Actual["place"] = place, "elsewhere"
	}
	return x, p.bad || !p.kept
}

// firewallSteps puts the rules into their order before all others. New rules are added before old ones are removed, so
// that the tunnel is never blocked in between.
func firewallSteps(path string, table []Row, rules []placed, left []Row) []Step {
	var steps, last []Step
	for i, p := range rules {
		anchor := anchorOf(table, rules, i)
		step := Step{Path: p.want.Path, Name: p.want.Name, Destination: anchor}
		if p.row == nil || p.diff.replace {
			step.Operation, step.Values, step.After = commands.OperationAdd, p.want.Values, p.want.Values
			steps = append(steps, step)
			if p.row != nil {
				last = append(last, removal(p.diff))
			}
			continue
		}
		if p.bad {
			values := withoutPlace(p.diff.Expected)
			steps = append(steps, Step{
				Path: p.want.Path, Operation: commands.OperationSet, ID: p.row[propertyID], Name: p.want.Name,
				Values: values, Before: withoutPlace(p.diff.Actual), After: values,
			})
		}
		if !p.kept {
			step.Operation, step.ID = commands.OperationMove, p.row[propertyID]
			step.Before, step.After = map[string]string{"place": "elsewhere"}, map[string]string{
				"place": "before the operator's rules",
			}
			steps = append(steps, step)
		}
	}
	for _, r := range left {
		last = append(last, removal(Difference{Path: path, Name: r[propertyComment], row: r}))
	}
	return append(steps, last...)
}

// withoutPlace drops the place, which is no property of a router: a move writes it.
func withoutPlace(values map[string]string) map[string]string {
	out := map[string]string{}
	for property, value := range values {
		if property != propertyPlace {
			out[property] = value
		}
	}
	return out
}

// anchorOf is the id of the row before which rule i belongs: the next rule that stays, else the operator's first rule;
// "" = the end of the table.
func anchorOf(table []Row, rules []placed, i int) string {
	for _, p := range rules[i+1:] {
		if p.kept {
			return p.row[propertyID]
		}
	}
	for _, row := range table {
		if !strings.HasPrefix(row[propertyComment], FirewallTag) {
			return row[propertyID]
		}
	}
	return ""
}
