package routerplan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/commands"
)

// RollbackName is the name of the entry in a router's scheduler that restores what a run is about to change.
const RollbackName = "platform-rollback"

// RollbackAfter is the time, in the router's form, after which the entry restores.
const RollbackAfter = "3m"

// Risky lists the steps that could cut the platform's own way to the router: those to services, users, the tunnel and
// the firewall.
func Risky(steps []Step) []Step {
	return slices.DeleteFunc(slices.Clone(steps), func(s Step) bool {
		return !slices.Contains([]string{MenuIPService, MenuUser, MenuFirewallFilter, MenuSSTPClient}, s.Path)
	})
}

// Arm gives the step that makes the router restore itself after RollbackAfter, unless Disarm comes first. s is the
// router before the steps.
func Arm(s Snapshot, steps []Step) Step {
	values := map[string]string{
		propertyName: RollbackName, "interval": RollbackAfter, "on-event": rollback(s, Risky(steps)),
		propertyComment: bootstrapComment, "policy": "read,write",
	}
	return Step{
		Path: MenuScheduler, Operation: commands.OperationAdd, Name: RollbackName, Values: values,
		After: map[string]string{propertyName: RollbackName, "interval": RollbackAfter},
	}
}

// Disarm gives the steps that remove the entry of this run and those that a dead program left.
func Disarm(s Snapshot) []Step {
	var steps []Step
	for _, row := range s[MenuScheduler] {
		if row[propertyName] == RollbackName {
			steps = append(steps, Step{
				Path: MenuScheduler, Operation: commands.OperationRemove, ID: row[propertyID], Name: RollbackName,
				Before: map[string]string{propertyName: RollbackName},
			})
		}
	}
	return steps
}

// rollback writes the script that undoes steps. Each line stands alone, so that one that fails stops no other, and the
// script removes its own entry at the end.
func rollback(s Snapshot, steps []Step) string {
	var b strings.Builder
	line := func(format string, args ...any) {
		fmt.Fprintf(&b, ":do { "+format+" } on-error={}\n", args...)
	}
	firewall := false
	for _, step := range steps {
		switch {
		case step.Path == MenuFirewallFilter:
			firewall = true
		case step.Operation == commands.OperationSet:
			line("/%s set [find where name=%s%s] %s", spaced(step.Path), quoted(step.Name), onlyStatic(s, step.Path),
				settings(step.Before))
		}
	}
	if firewall {
		line("%s", restoreRules(s))
	}
	line("/system scheduler remove [find where name=%s]", quoted(RollbackName))
	return b.String()
}

// restoreRules gives one command that puts the platform's rules back as they were: the former ones at the head of the
// table, in their order, then the present ones go.
func restoreRules(s Snapshot) string {
	words := []string{
		fmt.Sprintf(`:local old [/ip firewall filter find where comment~"^%s"]`, FirewallTag),
		":local ids [/ip firewall filter find where dynamic=no]",
	}
	for _, row := range s.static(MenuFirewallFilter) {
		if strings.HasPrefix(row[propertyComment], FirewallTag) {
			add := "/ip firewall filter add " + settings(plain(row))
			words = append(words, fmt.Sprintf(":if ([:len $ids] > 0) do={ %s place-before=($ids->0) } else={ %s }", add,
				add))
		}
	}
	words = append(words, ":foreach rule in=$old do={ /ip firewall filter remove $rule }")
	return strings.Join(words, "; ")
}

// onlyStatic narrows a search to rows that can be set, on a router that has other ones of the same name.
func onlyStatic(s Snapshot, path string) string {
	if slices.ContainsFunc(s[path], func(r Row) bool { return isTrue(r[propertyDynamic]) }) {
		return " dynamic=no"
	}
	return ""
}

// spaced writes the path of a menu as scripts of all releases read it.
func spaced(path string) string { return strings.ReplaceAll(path, "/", " ") }

// settings writes properties for a script, in a fixed order.
func settings(values map[string]string) string {
	var list []string
	for _, property := range sortedKeys(values) {
		value := values[property]
		if forms[property] == formFlag {
			value = map[bool]string{true: "yes", false: "no"}[isTrue(value)]
		}
		if property != "place" {
			list = append(list, property+"="+quoted(value))
		}
	}
	return strings.Join(list, " ")
}
