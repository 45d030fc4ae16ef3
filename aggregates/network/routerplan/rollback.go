package routerplan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// RollbackName begins the names of the entries in a router's scheduler that restore what a run is about to change.
const RollbackName = "platform-rollback"

// spareRollback is the name of an entry that takes over from another one of the same run.
const spareRollback = RollbackName + "-2"

// RollbackAfter is the shortest time after which an entry restores. A slow router gets more: see Arm.
const RollbackAfter = 3 * time.Minute

// MenuClock has the date and the time of a router.
const MenuClock = "system/clock"

// Risky lists the steps that could cut the platform's own way to the router: those to services, users, the tunnel and
// the firewall.
func Risky(steps []Step) []Step {
	return slices.DeleteFunc(slices.Clone(steps), func(s Step) bool { return !s.Risky() })
}

// Risky reports whether a step could cut the platform's own way to the router.
func (s Step) Risky() bool {
	return slices.Contains([]string{MenuIPService, MenuUser, MenuFirewallFilter, MenuSSTPClient}, s.Path)
}

// rollbackComment is the comment of a run's entries, so that a later attempt of the run finds them.
func rollbackComment(run id.Run) string { return bootstrapComment + " run " + run.String() }

// Rollbacks lists the entries of a run: one, or two after a renewal whose end was lost.
func Rollbacks(s Snapshot, run id.Run) []Row {
	return slices.DeleteFunc(s.entries(), func(r Row) bool { return r[propertyComment] != rollbackComment(run) })
}

// entries lists all entries of runs.
func (s Snapshot) entries() []Row {
	return slices.DeleteFunc(slices.Clone(s[MenuScheduler]), func(r Row) bool {
		return r[propertyName] != RollbackName && r[propertyName] != spareRollback
	})
}

// Arm gives the step that adds an entry, which makes the router restore itself after the given time, rounded up to
// minutes and RollbackAfter at least, unless Disarm comes first. s is the router before the first step of the run. When
// the run has an entry already, the new one restores the same and counts from now: the router of s is changed by then.
// The entry restores all services and rules that any round of the run may write.
func Arm(s Snapshot, run id.Run, after time.Duration) Step {
	name, script := RollbackName, rollback(s)
	for _, row := range Rollbacks(s, run) {
		script = row["on-event"]
		if row[propertyName] == RollbackName {
			name = spareRollback
		}
	}
	minutes := (max(after, RollbackAfter) + time.Minute - 1) / time.Minute
	values := map[string]string{
		propertyName: name, "interval": fmt.Sprintf("%dm", minutes), "on-event": script,
		propertyComment: rollbackComment(run), "policy": "read,write",
	}
	return Step{
		Path: MenuScheduler, Operation: commands.OperationAdd, Name: name, Values: values,
		After: map[string]string{propertyName: name, "interval": values["interval"]},
	}
}

// Armed says why an entry will not restore the router, as a sentence; "" when it will. missing is set when there is no
// such entry. The snapshot has MenuScheduler and MenuClock.
func Armed(s Snapshot, run id.Run, name string) (fault string, missing bool) {
	rows := slices.DeleteFunc(Rollbacks(s, run), func(r Row) bool { return r[propertyName] != name })
	if len(rows) == 0 {
		return "The router has no entry in its scheduler that would restore it.", true
	}
	row := rows[0]
	about := row[".about"]
	switch {
	case isTrue(row[propertyDisabled]), isTrue(row["inactive"]), about != "", row["next-run"] == "", late(s, row):
		fault = "The router does not run its scheduler, so that it could not restore itself"
		if about != "" {
			fault += " (" + about + ")"
		}
		return fault + ". Nothing was written that could cut the platform off.", false
	}
	return "", false
}

// late reports whether the next run of an entry is not ahead by the router's own clock. A time in another form counts
// as ahead.
func late(s Snapshot, entry Row) bool {
	if len(s[MenuClock]) == 0 {
		return false
	}
	now, known := dateOf(s[MenuClock][0]["date"] + " " + s[MenuClock][0]["time"])
	next, readable := dateOf(entry["next-run"])
	return known && readable && !next.After(now)
}

// dateOf reads a date with a time in the form of any release.
func dateOf(text string) (time.Time, bool) {
	for _, layout := range []string{time.DateTime, "Jan/02/2006 15:04:05"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// Disarm gives the steps that remove the entries of a run, except the one with the name keep.
func Disarm(s Snapshot, run id.Run, keep string) []Step {
	return removals(slices.DeleteFunc(Rollbacks(s, run), func(r Row) bool { return r[propertyName] == keep }))
}

// LeftRollbacks gives the steps that remove the entries of other runs, which ended without removing them.
func LeftRollbacks(s Snapshot, run id.Run) []Step {
	return removals(slices.DeleteFunc(s.entries(), func(r Row) bool {
		return r[propertyComment] == rollbackComment(run)
	}))
}

// removals gives one step for each entry, which takes it off the router.
func removals(entries []Row) []Step {
	var steps []Step
	for _, row := range entries {
		steps = append(steps, Step{
			Path: MenuScheduler, Operation: commands.OperationRemove, ID: row[propertyID], Name: row[propertyName],
			Before: map[string]string{propertyName: row[propertyName]},
		})
	}
	return steps
}

// Unwritten lists the writes of entries that the router does not show: to add the missing ones and to remove the
// present ones. An announced write that is not among them was made.
func Unwritten(s Snapshot) []Step {
	present := removals(s.entries())
	steps := slices.Clone(present)
	for _, name := range []string{RollbackName, spareRollback} {
		if !slices.ContainsFunc(present, func(x Step) bool { return x.Name == name }) {
			steps = append(steps, Step{Path: MenuScheduler, Operation: commands.OperationAdd, Name: name})
		}
	}
	return steps
}

// restored lists the services of the router that a repair may write.
var restored = []string{"www", "www-ssl", "api", "api-ssl"}

// rollback writes the script that brings back what a repair may change: the platform's services and firewall rules as
// they were read. Each line stands alone, so that one that fails stops no other, and the script removes all entries at
// the end.
func rollback(s Snapshot) string {
	var b strings.Builder
	line := func(format string, args ...any) {
		fmt.Fprintf(&b, ":do { "+format+" } on-error={}\n", args...)
	}
	for _, row := range s.static(MenuIPService) {
		if slices.Contains(restored, row[propertyName]) {
			was := map[string]string{propertyAddress: row[propertyAddress], propertyDisabled: row[propertyDisabled]}
			if row["port"] != "" {
				was["port"] = row["port"]
			}
			line("/ip service set [find where name=%s%s] %s", quoted(row[propertyName]), onlyStatic(s, MenuIPService),
				settings(was))
		}
	}
	if _, read := s[MenuFirewallFilter]; read {
		line("%s", restoreRules(s))
	}
	line(`/system scheduler remove [find where name~"^%s"]`, RollbackName)
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

// settings writes properties for a script, in a fixed order.
func settings(values map[string]string) string {
	var list []string
	for _, property := range sortedKeys(values) {
		value := values[property]
		if forms[property] == formFlag {
			value = map[bool]string{true: "yes", false: "no"}[isTrue(value)]
		}
		list = append(list, property+"="+quoted(value))
	}
	return strings.Join(list, " ")
}
