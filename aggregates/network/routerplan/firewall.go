package routerplan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lastmile-isp/lastmile/commands"
)

// FirewallTag begins the comment of every firewall rule of the platform. All other rules are the operator's.
const FirewallTag = "Platform-fw:"

// Comments of the platform's rules, in their order: the tunnel rule is first of the whole table. Source:
// docs/rules/network.md#firewall-rules.
const (
	fwTunnel  = FirewallTag + "tunnel"
	fwRadius  = FirewallTag + "radius-incoming"
	fwForward = FirewallTag + "tunnel-forward"
)

// Firewall is what the platform's rules depend on.
type Firewall struct {
	RadiusHost string // the platform's address in the tunnel
	CoAPort    int
}

// FirewallRules are the platform's rules in their order.
func FirewallRules(f Firewall) []Resource {
	rule := func(comment, chain string, more map[string]string) Resource {
		values := map[string]string{
			"chain": chain, propertyAction: "accept", "in-interface": TunnelInterface, propertyComment: comment,
		}
		for property, value := range more {
			values[property] = value
		}
		return Resource{Path: MenuFirewallFilter, Name: comment, Values: values}
	}
	return []Resource{
		rule(fwTunnel, "input", map[string]string{"src-address": commands.TunnelPlan.String()}),
		rule(fwRadius, "input", map[string]string{
			"src-address": f.RadiusHost, "protocol": "udp", "dst-port": strconv.Itoa(f.CoAPort),
		}),
		rule(fwForward, "forward", map[string]string{"src-address": commands.TunnelPlan.String()}),
	}
}

// harmless are properties of a rule that do not say what it matches.
var harmless = append([]string{"log", "log-prefix", propertyComment, propertyDisabled, "creation-time", "chain",
	propertyAction}, volatile...)

// placed is one rule of ours and what became of it.
type placed struct {
	want Resource
	row  Row // nil = to be added
	diff Difference
	bad  bool // values differ
	kept bool // stands where it should
}

// CompareFirewall compares the platform's rules, order included, with those of a router. Rules of the operator are
// neither compared nor written; that ours stand before them is all that is asked.
func CompareFirewall(s Snapshot, f Firewall) Diff {
	table := s.static(MenuFirewallFilter)
	left := slices.DeleteFunc(slices.Clone(table),
		func(r Row) bool { return !strings.HasPrefix(r[propertyComment], FirewallTag) })
	m := menu{path: MenuFirewallFilter, name: propertyComment, key: []string{propertyComment}}
	var rules []placed
	for _, want := range FirewallRules(f) {
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
	d.steps = firewallSteps(table, rules, left)
	return d
}

// compareRule compares one rule strictly: a matcher too much makes it another rule, which is replaced.
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

// keepInPlace finds the most rules that stand right: at the head of the table, before any rule of others, in their
// order.
func keepInPlace(table []Row, rules []placed) {
	var head []int // of rules, as the table has them
	for _, row := range table {
		if !strings.HasPrefix(row[propertyComment], FirewallTag) {
			break
		}
		at := slices.IndexFunc(rules, func(p placed) bool {
			return p.row != nil &&
				p.row[propertyID] == row[propertyID]
		})
		if at >= 0 && !rules[at].diff.replace { // others of ours go
			head = append(head, at)
		}
	}
	for _, at := range longestIncreasing(head) {
		rules[at].kept = true
	}
}

// longestIncreasing is the longest increasing part of a list; there are three rules, so the plain way will do.
func longestIncreasing(list []int) []int {
	var best []int
	for mask := range 1 << len(list) {
		var chosen []int
		for i, n := range list {
			if mask&(1<<i) != 0 && (len(chosen) == 0 || n > chosen[len(chosen)-1]) {
				chosen = append(chosen, n)
			}
		}
		if len(chosen) > len(best) {
			best = chosen
		}
	}
	return best
}

// difference is what is wrong with one rule: missing, other values, or another place.
func (p placed) difference(rules []placed, at int) (Difference, bool) {
	if p.row == nil {
		want := p.want
		return Difference{Path: MenuFirewallFilter, Kind: KindMissing, Name: want.Name, Expected: want.Values,
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

// firewallSteps brings the rules into their order before all others. New rules come before old ones go, so that the
// tunnel is never shut in between.
func firewallSteps(table []Row, rules []placed, left []Row) []Step {
	var steps, last []Step
	for i, p := range rules {
		anchor := anchorOf(table, rules, i)
		step := Step{Path: MenuFirewallFilter, Name: p.want.Name, Destination: anchor}
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
				Path: MenuFirewallFilter, Operation: commands.OperationSet, ID: p.row[propertyID], Name: p.want.Name,
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
		last = append(last, removal(Difference{Path: MenuFirewallFilter, Name: r[propertyComment], row: r}))
	}
	return append(steps, last...)
}

// withoutPlace are the properties that a set can write.
func withoutPlace(values map[string]string) map[string]string {
	out := map[string]string{}
	for property, value := range values {
		if property != "place" {
			out[property] = value
		}
	}
	return out
}

// anchorOf is the row before which rule i belongs: the next rule that stays where it is, else the first rule of others;
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
