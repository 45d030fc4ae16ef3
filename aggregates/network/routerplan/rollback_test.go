package routerplan_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/internal/id"
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
	armed := routerplan.Arm(s, run, 0)
	script := armed.Values["on-event"]
	if !strings.Contains(script,
		`/ip service set [find where name="api"] address="10.0.0.0/8" disabled="yes" port="8728" }`) ||
		strings.Contains(script, "pool") || strings.Contains(script, "winbox") {
		t.Errorf("restored by\n%s", script)
	}
	if armed.After["name"] != routerplan.RollbackName || armed.After["interval"] != "3m" {
		t.Errorf("told as %v", armed.After)
	}
	if slow := routerplan.Arm(s, run, 3*time.Minute+time.Second); slow.Values["interval"] != "4m" {
		t.Errorf("a slow router gets %s", slow.Values["interval"])
	}
	s[routerplan.MenuIPService] = append(s[routerplan.MenuIPService], routerplan.Row{"name": "api", "dynamic": "true"})
	if script := routerplan.Arm(s, run, 0).Values["on-event"]; !strings.Contains(script,
		`[find where name="api" dynamic=no]`) {
		t.Errorf("a service with dynamic rows is restored by\n%s", script)
	}
}

// The entries of a run are its own: a later attempt keeps what the first one restores, and those of other runs go.
func TestRollback_TheEntriesOfARunAreKeptByItsLaterAttempts(t *testing.T) {
	t.Parallel()
	run := id.New[id.Run]()
	first := routerplan.Row(routerplan.Arm(routerplan.Snapshot{
		routerplan.MenuIPService: {{"name": "www", "port": "80"}},
	}, run, 0).Values)
	first[".id"] = "*1"
	s := routerplan.Snapshot{
		routerplan.MenuIPService: {{"name": "www", "port": "8080"}},
		routerplan.MenuScheduler: {
			first, {".id": "*7", "name": "platform-rollback-2", "comment": "Platform"}, {"name": "mine"},
		},
	}
	again := routerplan.Arm(s, run, 0)
	if again.Name != "platform-rollback-2" || again.Values["on-event"] != first["on-event"] {
		t.Errorf("the next attempt arms %+v", again.Values)
	}
	for name, steps := range map[string][]routerplan.Step{
		"*1": routerplan.Disarm(s, run, ""), "*7": routerplan.LeftRollbacks(s, run),
	} {
		if len(steps) != 1 || steps[0].ID != name || steps[0].Before["name"] != steps[0].Name {
			t.Errorf("%s is removed by %+v", name, steps)
		}
	}
	if steps := routerplan.Disarm(s, run, first["name"]); len(steps) > 0 {
		t.Errorf("the entry that is kept is removed by %+v", steps)
	}
	if steps := routerplan.Disarm(s, id.New[id.Run](), ""); len(steps) > 0 {
		t.Errorf("another run removes %+v", steps)
	}
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
		"told as inactive": {routerplan.Row{".about": "not allowed by device-mode"}, "2026-11-20 06:01:00", false,
			"(not allowed by device-mode)"},
		"of another run": {routerplan.Row{"comment": "Platform"}, "2026-11-20 06:01:00", true, "no entry"},
	} {
		step := routerplan.Arm(routerplan.Snapshot{}, run, 0)
		row := routerplan.Row(step.Values)
		row["next-run"] = "2026-11-20 06:03:00"
		for property, value := range c.change {
			row[property] = value
		}
		date, hour, _ := strings.Cut(c.now, " ")
		fault, missing := routerplan.Armed(routerplan.Snapshot{
			routerplan.MenuScheduler: {row}, routerplan.MenuClock: {{"date": date, "time": hour}},
		}, run, step.Name)
		if missing != c.missing || (fault == "") != (c.fault == "") || !strings.Contains(fault, c.fault) {
			t.Errorf("%s: %q, missing %v", name, fault, missing)
		}
	}
}
