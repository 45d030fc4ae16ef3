package routerplan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// RollbackName begins the names of the entries in a router's scheduler that restore what a run is about to change.
const RollbackName = "platform-rollback"

// spareRollback is the name of an entry that takes over from another one of the same run; bootRollback is the name of
// the one that restores after a boot.
const (
	spareRollback = RollbackName + "-2"
	bootRollback  = RollbackName + "-boot"
)

// rollbackNames lists the names of all entries of runs.
var rollbackNames = []string{RollbackName, spareRollback, bootRollback}

// atBoot is the start of an entry that runs when the router has booted.
const atBoot = "startup"

// RollbackAfter is the shortest time after which an entry restores. A slow router gets more: see Arm.
const RollbackAfter = 3 * time.Minute

// MenuClock has the date and the time of a router.
const MenuClock = "system/clock"

// Risky lists the steps that could cut the platform's own way to the router: those to services, users, the tunnel, the
// firewall and routes.
func Risky(steps []Step) []Step {
	return slices.DeleteFunc(slices.Clone(steps), func(s Step) bool { return !s.Risky() })
}

// Risky reports whether a step could cut the platform's own way to the router.
func (s Step) Risky() bool {
	return slices.Contains([]string{MenuIPService, MenuUser, MenuFirewallFilter, MenuSSTPClient, MenuRoute},
		MenuOf(s.Path))
}

// runComment begins the comment of a run's entries; a space and the run follow.
const runComment = bootstrapComment + " run"

// rollbackComment is the comment of a run's entries, so that a later attempt of the run finds them.
func rollbackComment(run id.Run) string { return runComment + " " + run.String() }

// ownLine is in what an entry of a run does: it removes the entries of its run, which it names. So an entry is known
// also when a person has written another comment.
var ownLine = regexp.MustCompile(`comment="Platform\\20run\\20([0-9a-f-]{36})"`)

// runOf is the run of an entry: the one that its script names, or else its comment; zero in entries of older versions.
func runOf(r Row) id.Run {
	name := strings.TrimPrefix(r[propertyComment], runComment+" ")
	if found := ownLine.FindStringSubmatch(r["on-event"]); found != nil {
		name = found[1]
	}
	run, err := id.Parse[id.Run](name)
	if err != nil {
		return id.Run{}
	}
	return run
}

// Rollbacks lists the entries of a run: one that counts from its adding, or two after a renewal whose end was lost, and
// one for a boot.
func Rollbacks(s Snapshot, run id.Run) []Row {
	return slices.DeleteFunc(s.entries(), func(r Row) bool { return runOf(r) != run })
}

// Timed lists the entries of a run without the one for a boot.
func Timed(s Snapshot, run id.Run) []Row {
	return slices.DeleteFunc(Rollbacks(s, run), func(r Row) bool { return r[propertyName] == bootRollback })
}

// entries lists all entries of runs.
func (s Snapshot) entries() []Row {
	return slices.DeleteFunc(slices.Clone(s[MenuScheduler]), func(r Row) bool { return !isRollback(r) })
}

// isRollback reports whether an entry of the scheduler is one of a run: by its exact name, and by its comment or by
// what it does. Older versions wrote comments without the run.
func isRollback(r Row) bool {
	comment := r[propertyComment]
	return slices.Contains(rollbackNames, r[propertyName]) && (comment == bootstrapComment ||
		strings.HasPrefix(comment, runComment+" ") || ownLine.MatchString(r["on-event"]))
}

// nameTaken is the fault of an entry of somebody else with the name of a rollback.
const nameTaken = "in the scheduler is not the platform's, and has a name that the platform's rollback needs: rename " +
	"or remove it"

// foreignRollbacks tells the entries of somebody else that have a name of a rollback. A router has each name once, so
// that no rollback can be given beside them, and no write removes what is not the platform's.
func foreignRollbacks(s Snapshot) []Difference {
	var found []Difference
	for _, row := range s[MenuScheduler] {
		if slices.Contains(rollbackNames, row[propertyName]) && !isRollback(row) {
			found = append(found, Difference{
				Path: MenuScheduler, Kind: KindExtra, Name: row[propertyName], fault: nameTaken,
				Actual: map[string]string{propertyName: row[propertyName], propertyComment: row[propertyComment]},
			})
		}
	}
	return found
}

// Unarmable says why a router cannot be given a rollback: an entry of somebody else has one of its names. It is a
// sentence with the name; "" when nothing is in the way. The snapshot has MenuScheduler.
func Unarmable(s Snapshot) string {
	for _, f := range (Diff{Differences: foreignRollbacks(s)}).Faults() {
		return f.Message
	}
	return ""
}

// Arm gives the steps that add the entries of a run, unless Disarm comes first: the first one makes the router restore
// itself after the given time, rounded up to minutes and RollbackAfter at least. The second one does so after a boot,
// because the first one counts by a clock that a boot may set back: most routers have no battery for it. s is the
// router before the first step of the run. When the run has entries already, the new ones restore the same and count
// from now: the router of s is changed by then. They restore all services and rules that any round of the run may
// write.
func Arm(s Snapshot, run id.Run, after time.Duration) []Step {
	name, script, booting := RollbackName, rollback(s, run), false
	for _, row := range Rollbacks(s, run) {
		script = row["on-event"]
		switch row[propertyName] {
		case RollbackName:
			name = spareRollback
		case bootRollback:
			booting = true
		}
	}
	minutes := (max(after, RollbackAfter) + time.Minute - 1) / time.Minute
	steps := []Step{entry(name, run, script, map[string]string{"interval": fmt.Sprintf("%dm", minutes)})}
	if !booting {
		steps = append(steps, entry(bootRollback, run, script, map[string]string{
			propertyStart: atBoot, "interval": "0s",
		}))
	}
	return steps
}

// propertyStart is the property of an entry of the scheduler that has its time of day, or atBoot.
const propertyStart = "start-time"

// entry gives the step that adds an entry which runs the script at the given times.
func entry(name string, run id.Run, script string, times map[string]string) Step {
	values := map[string]string{
		propertyName: name, "on-event": script, propertyComment: rollbackComment(run), "policy": "read,write",
	}
	told := map[string]string{propertyName: name}
	for property, value := range times {
		values[property], told[property] = value, value
	}
	return Step{Path: MenuScheduler, Operation: commands.OperationAdd, Name: name, Values: values, After: told}
}

// Armed says why the entries of a run will not restore the router, as a sentence; "" when they will. name is the one
// that counts from its adding, and must restore within the given time. missing is set when another entry may help:
// this one, or the one for a boot, is not there, or this one comes too late, because the router's clock went back after
// its adding. The snapshot has MenuScheduler and MenuClock.
func Armed(s Snapshot, run id.Run, name string, within time.Duration) (fault string, missing bool) {
	for _, wanted := range []string{name, bootRollback} {
		rows := slices.DeleteFunc(Rollbacks(s, run), func(r Row) bool { return r[propertyName] != wanted })
		if len(rows) == 0 {
			return "The router has no entry in its scheduler that would restore it.", true
		}
		row := rows[0]
		about := row[".about"]
		left, known := remaining(s, row)
		ahead := row["next-run"] != "" && (!known || left > 0)
		if wanted == bootRollback {
			ahead, known = row[propertyStart] == atBoot, false
		}
		if isTrue(row[propertyDisabled]) || isTrue(row["inactive"]) || about != "" || !ahead {
			fault = "The router does not run its scheduler, so that it could not restore itself"
			if about != "" {
				fault += " (" + about + ")"
			}
			return fault + ".", false
		}
		if known && left > within+clockSlack {
			return "The router would restore itself too late, because its clock was set back.", true
		}
	}
	return "", false
}

// clockSlack is by how much the next run of an entry may be too far ahead: routers round to seconds, and time servers
// make small corrections.
const clockSlack = 10 * time.Second

// remaining is the time until the next run of an entry by the router's own clock; false for times in another form.
func remaining(s Snapshot, entry Row) (left time.Duration, known bool) {
	if len(s[MenuClock]) == 0 {
		return 0, false
	}
	now, known := dateOf(s[MenuClock][0]["date"] + " " + s[MenuClock][0]["time"])
	next, readable := dateOf(entry["next-run"])
	return next.Sub(now), known && readable
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

// Disarm gives the steps that remove the entries of a run. The one for a boot goes first: what would be left of an
// interrupted removal restores the router soon, and not at a boot long afterwards.
func Disarm(s Snapshot, run id.Run) []Step { return removals(Rollbacks(s, run)) }

// place is the place of an entry among those that are removed: the one for a boot is the first.
func place(r Row) int {
	if r[propertyName] == bootRollback {
		return 0
	}
	return 1
}

// Renewed gives the steps that remove the entries that another one of the same run, keep, has taken over from.
func Renewed(s Snapshot, run id.Run, keep string) []Step {
	return removals(slices.DeleteFunc(Timed(s, run), func(r Row) bool { return r[propertyName] == keep }))
}

// LeftRollbacks gives the steps that remove the entries of other runs than the given ones, which ended without removing
// them.
func LeftRollbacks(s Snapshot, running ...id.Run) []Step { return removals(s.left(running)) }

// left lists the entries of other runs than the given ones.
func (s Snapshot) left(running []id.Run) []Row {
	return slices.DeleteFunc(s.entries(), func(r Row) bool {
		run := runOf(r)
		return !run.IsZero() && slices.Contains(running, run)
	})
}

// RollbackRuns lists the runs that have entries on a router. Entries of older versions name none.
func RollbackRuns(s Snapshot) []id.Run {
	var runs []id.Run
	for _, row := range s.entries() {
		if run := runOf(row); !run.IsZero() && !slices.Contains(runs, run) {
			runs = append(runs, run)
		}
	}
	return runs
}

// leftRollbacks tells the entries of runs that have ended: each would restore an old state, the one for a boot even
// months later. Only what no run of an entry changes is told, so that the difference stays the same.
func leftRollbacks(s Snapshot, running []id.Run) []Difference {
	var found []Difference
	for _, step := range LeftRollbacks(s, running...) {
		found = append(found, Difference{Path: step.Path, Kind: KindExtra, Name: step.Name, Actual: step.Before})
	}
	return found
}

// removals gives one step for each entry, which takes it off the router. Those for a boot go first.
func removals(entries []Row) []Step {
	slices.SortStableFunc(entries, func(a, b Row) int { return place(a) - place(b) })
	var steps []Step
	for _, row := range entries {
		steps = append(steps, Step{
			Path: MenuScheduler, Operation: commands.OperationRemove, ID: row[propertyID], Name: row[propertyName],
			Before: map[string]string{propertyName: row[propertyName], propertyComment: row[propertyComment]},
		})
	}
	return steps
}

// Unwritten lists the writes of entries that the router does not show: to add the missing ones and to remove the
// present ones. An announced write that is not among them was made.
func Unwritten(s Snapshot) []Step {
	present := removals(s.entries())
	steps := slices.Clone(present)
	for _, name := range rollbackNames {
		if !slices.ContainsFunc(present, func(x Step) bool { return x.Name == name }) {
			steps = append(steps, Step{Path: MenuScheduler, Operation: commands.OperationAdd, Name: name})
		}
	}
	return steps
}

// restored lists the services of the router that a repair may write.
var restored = []string{"www", "www-ssl", "api", "api-ssl"}

// rollback writes the script that brings back what a repair may change: the platform's services, firewall rules and
// route as they were read. Each line stands alone, so that one that fails stops no other, and the script removes all
// entries of the run at the end.
func rollback(s Snapshot, run id.Run) string {
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
	if _, read := s[MenuOwnRoute]; read {
		line("/ip route remove [find where comment=%s]", quoted(fwManagement))
		for _, row := range s.ownRoutes() {
			line("/ip route add %s", settings(map[string]string{
				propertyDstAddress: row[propertyDstAddress], propertyGateway: row[propertyGateway],
				propertyDisabled: row[propertyDisabled], propertyComment: fwManagement,
			}))
		}
	}
	for _, name := range rollbackNames {
		line("/system scheduler remove [find where name=%s and (comment=%s or on-event~%s)]", quoted(name),
			quoted(rollbackComment(run)), quoted(run.String())) // a person may have written another comment
	}
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
