package routerplan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

func TestRollback_RestoresFlagsAsARouterReadsThem(t *testing.T) {
	t.Parallel()
	run := id.New[id.Run]()
	s := routerplan.Snapshot{
		routerplan.MenuIPService: {
			{"name": "api", "disabled": "true", "port": "8728", "address": "10.0.0.0/8"}, {
				"name": "winbox", "port": "8291",
			},
		},
		routerplan.MenuPool: {{"name": "pool"}},
	}
	armed := routerplan.Arm(s, run, 0)[0]
	script := armed.Values["on-event"]
	if !strings.Contains(script,
		`/ip service set [find where name="api"] address="10.0.0.0/8" disabled="yes" port="8728" }`) ||
		strings.Contains(script, "pool") || strings.Contains(script, "winbox") {
		t.Errorf("restored by\n%s", script)
	}
	if armed.After["name"] != routerplan.RollbackName || armed.After["interval"] != "3m" {
		t.Errorf("told as %v", armed.After)
	}
	if slow := routerplan.Arm(s, run, 3*time.Minute+time.Second)[0]; slow.Values["interval"] != "4m" {
		t.Errorf("a slow router gets %s", slow.Values["interval"])
	}
	s[routerplan.MenuIPService] = append(s[routerplan.MenuIPService], routerplan.Row{"name": "api", "dynamic": "true"})
	if script := routerplan.Arm(s, run, 0)[0].Values["on-event"]; !strings.Contains(script,
		`[find where name="api" dynamic=no]`) {
		t.Errorf("a service with dynamic rows is restored by\n%s", script)
	}
}

// The entries of a run are its own: a later attempt keeps what the first one restores, and those of other runs go.
func TestRollback_TheEntriesOfARunAreKeptByItsLaterAttempts(t *testing.T) {
	t.Parallel()
	run := id.New[id.Run]()
	armed := routerplan.Arm(routerplan.Snapshot{
		routerplan.MenuIPService: {{"name": "www", "port": "80"}},
	}, run, 0)
	if len(armed) != 2 || armed[1].Values["start-time"] != "startup" || armed[1].Values["interval"] != "0s" ||
		armed[1].Values["on-event"] != armed[0].Values["on-event"] {
		t.Fatalf("armed is %+v", armed)
	}
	first, boot := routerplan.Row(armed[0].Values), routerplan.Row(armed[1].Values)
	first[".id"], boot[".id"] = "*1", "*2"
	s := routerplan.Snapshot{
		routerplan.MenuIPService: {{"name": "www", "port": "8080"}},
		routerplan.MenuScheduler: {
			first, boot, {".id": "*7", "name": "platform-rollback-2", "comment": "Platform"}, {"name": "mine"},
			{".id": "*8", "name": "platform-rollback", "comment": "of the operator"},
			{".id": "*9", "name": "platform-rollback-mine", "comment": "Platform"},
		},
	}
	again := routerplan.Arm(s, run, 0)
	if len(again) != 1 || again[0].Name != "platform-rollback-2" || again[0].Values["on-event"] != first["on-event"] {
		t.Errorf("the next attempt arms %+v", again)
	}
	for name, c := range map[string]struct {
		steps []routerplan.Step
		ids   []string
	}{
		"the end":         {routerplan.Disarm(s, run), []string{"*2", "*1"}},
		"of other runs":   {routerplan.LeftRollbacks(s, run), []string{"*7"}},
		"a renewal":       {routerplan.Renewed(s, run, "platform-rollback-2"), []string{"*1"}},
		"the same":        {routerplan.Renewed(s, run, first["name"]), nil},
		"for another run": {routerplan.Disarm(s, id.New[id.Run]()), nil},
	} {
		var ids []string
		for _, step := range c.steps {
			ids = append(ids, step.ID)
			if !step.Still(rowOf(s[routerplan.MenuScheduler], step.ID)) {
				t.Errorf("%s: %+v is not taken for its row", name, step)
			}
		}
		if !slices.Equal(ids, c.ids) {
			t.Errorf("%s removes %v", name, ids)
		}
	}
}

// rowOf is the row with an id.
func rowOf(rows []routerplan.Row, number string) routerplan.Row {
	at := slices.IndexFunc(rows, func(r routerplan.Row) bool { return r[".id"] == number })
	return rows[at]
}

func TestRollback_CountsOnlyWhenTheRouterWillRunIt(t *testing.T) {
	t.Parallel()
	const dead = "does not run its scheduler"
	run := id.New[id.Run]()
	for name, c := range map[string]struct {
		change  routerplan.Row
		now     string
		missing bool
		fault   string
	}{
		"as added":                {nil, "2026-11-20 06:01:00", false, ""},
		"next run in another way": {routerplan.Row{"next-run": "soon"}, "2026-11-20 06:01:00", false, ""},
		"a clock in another form": {nil, "? ?", false, ""},
		"disabled":                {routerplan.Row{"disabled": "true"}, "2026-11-20 06:01:00", false, dead},
		"inactive":                {routerplan.Row{"inactive": "true"}, "2026-11-20 06:01:00", false, dead},
		"never":                   {routerplan.Row{"next-run": ""}, "2026-11-20 06:01:00", false, dead},
		"late":                    {nil, "2026-11-20 06:03:00", false, dead},
		"rounded up": {
			routerplan.Row{"next-run": "2026-11-20 06:04:02"}, "2026-11-20 06:01:00", false, "",
		},
		"after a clock that was set back": {nil, "2025-11-20 06:01:00", true, "too late"},
		"after the end of summer time":    {nil, "2026-11-20 05:01:00", true, "too late"},
		"with a longer interval": {routerplan.Row{"interval": "1d", "next-run": "2026-11-21 06:00:00"},
			"2026-11-20 06:01:00", true, "too late"},
		"told as inactive": {routerplan.Row{".about": "not allowed by device-mode"}, "2026-11-20 06:01:00", false,
			"(not allowed by device-mode)"},
		"of another run": {routerplan.Row{"comment": "", "on-event": ""}, "2026-11-20 06:01:00", true, "no entry"},
		"with a note":    {routerplan.Row{"comment": "mine"}, "2026-11-20 06:01:00", false, ""},
	} {
		steps := routerplan.Arm(routerplan.Snapshot{}, run, 0)
		row, boot := routerplan.Row(steps[0].Values), routerplan.Row(steps[1].Values)
		row["next-run"] = "2026-11-20 06:03:00"
		for property, value := range c.change {
			row[property] = value
		}
		date, hour, _ := strings.Cut(c.now, " ")
		fault, missing := routerplan.Armed(routerplan.Snapshot{
			routerplan.MenuScheduler: {row, boot}, routerplan.MenuClock: {{"date": date, "time": hour}},
		}, run, steps[0].Name, routerplan.RollbackAfter)
		if missing != c.missing || (fault == "") != (c.fault == "") || !strings.Contains(fault, c.fault) {
			t.Errorf("%s: %q, missing %v", name, fault, missing)
		}
	}
	steps := routerplan.Arm(routerplan.Snapshot{}, run, 0)
	timed, boot := routerplan.Row(steps[0].Values), routerplan.Row(steps[1].Values)
	timed["next-run"] = "2026-11-20 06:03:00"
	for name, entries := range map[string][]routerplan.Row{
		"without the one for a boot": {timed}, "without the one that counts": {boot},
	} {
		s := routerplan.Snapshot{routerplan.MenuScheduler: entries}
		if _, missing := routerplan.Armed(s, run, steps[0].Name, routerplan.RollbackAfter); !missing {
			t.Errorf("%s nothing is missing", name)
		}
	}
	boot["start-time"] = "09:00:00"
	s := routerplan.Snapshot{routerplan.MenuScheduler: {timed, boot}}
	if fault, _ := routerplan.Armed(s, run, steps[0].Name, routerplan.RollbackAfter); !strings.Contains(fault, dead) {
		t.Errorf("an entry that does not start at a boot counts: %q", fault)
	}
}

// A router's clock may go back while the entries are there, without a boot: the first one would restore in a year then,
// and counts as missing, so that a new one is added.
func TestRollback_AfterTheClockWasSetBackTheEntryCountsAsMissing(t *testing.T) {
	t.Parallel()
	for _, version := range releases {
		r := bootstrapped(t, version, manual())
		menus := []string{routerplan.MenuScheduler, routerplan.MenuClock}
		run := id.New[id.Run]()
		write(t, r, routerplan.Arm(read(t, r, menus), run, 0))
		missing := func(name string) bool {
			_, gone := routerplan.Armed(read(t, r, menus), run, name, routerplan.RollbackAfter)
			return gone
		}
		r.StepClock(-2 * time.Second)
		if missing(routerplan.RollbackName) {
			t.Errorf("%s: a small correction of the clock counts", version)
		}
		r.StepClock(-365 * 24 * time.Hour)
		if !missing(routerplan.RollbackName) {
			t.Errorf("%s: a rollback that comes in a year counts as armed", version)
		}
		write(t, r, routerplan.Arm(read(t, r, menus), run, 0))
		if missing("platform-rollback-2") {
			t.Errorf("%s: the new entry does not count", version)
		}
	}
}

// Most routers have no battery for their clock: after a boot it is behind, and the way to a time server may be what was
// cut. The router restores itself all the same.
func TestRollback_RestoresAfterABootWithAClockThatIsBehind(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]time.Time{
		"as it was": {}, "of yesterday": time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC),
		"from 1970": time.Date(1970, 1, 2, 0, 0, 0, 0, time.UTC),
	} {
		now := manual()
		r := bootstrapped(t, "7.16", now)
		now.Advance(time.Minute)
		run := id.New[id.Run]()
		steps := routerplan.Arm(read(t, r, append(setupMenus(), routerplan.MenuClock)), run, 0)
		write(t, r, steps)
		for _, entry := range []router.Item{
			{"name": "platform-rollback-mine", "interval": "1d", "comment": steps[0].Values["comment"]},
			{"name": "platform-rollback-2", "interval": "1d", "comment": "of the operator"},
		} {
			if _, err := r.Do("system/scheduler", "add", entry); err != nil {
				t.Fatal(err)
			}
		}
		s := read(t, r, []string{routerplan.MenuScheduler, routerplan.MenuClock})
		if fault, missing := routerplan.Armed(s, run, routerplan.RollbackName, routerplan.RollbackAfter); fault != "" ||
			missing {
			t.Fatalf("%s: %q, missing %v", name, fault, missing)
		}
		if _, err := r.Do("ip/service", "set", router.Item{"numbers": "www", "address": "192.0.2.0/24"}); err != nil {
			t.Fatal(err)
		}
		if !back.IsZero() {
			now.Set(back)
		}
		r.Reboot()
		now.Advance(time.Minute)
		after := read(t, r, []string{routerplan.MenuIPService, routerplan.MenuScheduler})
		for _, row := range after[routerplan.MenuIPService] {
			if row["name"] == "www" && row["address"] != "10.99.0.0/16" {
				t.Errorf("%s: after the boot www is for %q", name, row["address"])
			}
		}
		if left := after[routerplan.MenuScheduler]; len(left) != 2 {
			t.Errorf("%s: of the entries are left %v", name, left)
		}
	}
}

// The script ends the rollbacks before it changes anything: what a run would restore is older than what the script
// writes. Entries of the operator stay, and a router that forbids its scheduler gets the rest all the same.
func TestBootstrap_EndsTheRollbacksOfRunsFirst(t *testing.T) {
	t.Parallel()
	script, err := routerplan.Bootstrap(bootstrapConfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range releases {
		r := bootstrapped(t, version, manual())
		entries := func() (names []string) {
			for _, row := range read(t, r, []string{routerplan.MenuScheduler})[routerplan.MenuScheduler] {
				names = append(names, row["name"])
			}
			return names
		}
		write(t, r, routerplan.Arm(read(t, r, setupMenus()), id.New[id.Run](), 0))
		for _, entry := range []router.Item{
			{"name": "platform-rollback-2", "comment": "Platform"},
			{"name": "platform-rollback-mine", "comment": "Platform"}, {"name": "mine", "comment": "Platform run 1"},
		} {
			if _, err := r.Do("system/scheduler", "add", entry); err != nil {
				t.Fatal(err)
			}
		}
		if out, faults := r.Paste(script); len(faults) > 0 {
			t.Fatalf("%s: %v: %s", version, faults, out)
		}
		if left := entries(); !slices.Equal(left, []string{"platform-rollback-mine", "mine"}) {
			t.Errorf("%s: left is %v", version, left)
		}
		for _, comment := range []string{"Platforms", "of the operator", "my Platform run 1"} {
			if _, err := r.Do("system/scheduler", "add", router.Item{
				"name": routerplan.RollbackName, "comment": comment,
			}); err != nil {
				t.Fatal(err)
			}
			if _, faults := r.Paste(script); len(faults) > 0 || !slices.Contains(entries(), routerplan.RollbackName) {
				t.Errorf("%s: an entry with the comment %q: %v, left is %v", version, comment, faults, entries())
			}
			if _, err := r.Do("system/scheduler", "remove",
				router.Item{"numbers": routerplan.RollbackName}); err != nil {
				t.Fatal(err)
			}
		}
		r.SetDeviceMode("system/scheduler")
		if out, faults := r.Paste(script); len(faults) > 0 || !strings.HasSuffix(out, "done\n") {
			t.Errorf("%s: without a scheduler: %v: %s", version, faults, out)
		}
	}
	removed, changed := strings.Index(script, "/system scheduler remove"), strings.Index(script, "/ppp profile")
	if removed < 0 || removed > changed {
		t.Errorf("the rollbacks are removed at %d, the first change is at %d", removed, changed)
	}
}

// A person's note in the comment of an entry does not save it from the script: its own line still names its run.
func TestBootstrap_EndsARollbackWithAnotherComment(t *testing.T) {
	t.Parallel()
	script, err := routerplan.Bootstrap(bootstrapConfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range releases {
		r := bootstrapped(t, version, manual())
		write(t, r, routerplan.Arm(read(t, r, setupMenus()), id.New[id.Run](), 0))
		for _, name := range []string{routerplan.RollbackName, routerplan.RollbackName + "-boot"} {
			if _, err := r.Do("system/scheduler", "set", router.Item{"numbers": name, "comment": "mine"}); err != nil {
				t.Fatal(err)
			}
		}
		if _, faults := r.Paste(script); len(faults) > 0 {
			t.Errorf("%s: %v", version, faults)
		}
		if left := read(t, r, []string{routerplan.MenuScheduler})[routerplan.MenuScheduler]; len(left) > 0 {
			t.Errorf("%s: left is %v", version, left)
		}
	}
}
