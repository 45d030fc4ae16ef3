package router_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/simulators/router"
)

// limited is a login with the rights that the platform's API user has, and no more.
func (k *kit) limited(menu, command string, args router.Item) (int, string) {
	k.t.Helper()
	body := "{"
	for name, value := range args {
		if len(body) > 1 {
			body += ","
		}
		body += `"` + name + `":"` + value + `"`
	}
	return k.as("limited", "POST", "/rest/"+menu+"/"+command, body+"}")
}

// withLimited makes the user limited.
func (k *kit) withLimited() *kit {
	k.do("user/group", "add", router.Item{"name": "api", "policy": "read,write,api,rest-api"})
	k.do("user", "add", router.Item{"name": "limited", "group": "api", "password": "secret"})
	return k
}

func TestScheduler_ARollbackRunsByTheSimulatorsClock(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		k := newKit(t, version)
		before := k.Snapshot(false)
		k.do("ip/pool", "add", router.Item{"name": "p", "ranges": "10.0.0.1"})
		id := k.do("ip/firewall/filter", "add", router.Item{"chain": "input", "action": "drop", "comment": "new"})
		k.do("ip/service", "set", router.Item{"numbers": "api", "disabled": "yes"})
		k.do("system/scheduler", "add", router.Item{
			"name": "rollback", "interval": "5m", "comment": "Platform-rollback", "on-event": `
:do { /ip firewall filter remove [find where comment="new"] } on-error={}
/ip service set [find where name="api"] disabled=no
/ip pool remove [find where name="p"]
/system scheduler remove [find where comment="Platform-rollback"]`,
		})
		k.clock.Advance(5*time.Minute - time.Second)
		if item := k.only("system/scheduler", "name", "rollback"); item["run-count"] != "0" || item["next-run"] == "" {
			t.Errorf("%s, too early: %v", version, item)
		}
		k.only("ip/pool", "name", "p")
		k.clock.Advance(time.Second)
		if after := k.Snapshot(false); len(after["ip/pool"]) != len(before["ip/pool"]) ||
			len(after["ip/firewall/filter"]) != len(before["ip/firewall/filter"]) ||
			len(after["system/scheduler"]) != 0 {
			t.Errorf("%s: not rolled back (rule %v): %v", version, id, after)
		}
		if _, err := k.login("api", "admin", "secret"); err != nil {
			t.Errorf("%s: %v", version, err)
		}
	}
}

func TestScheduler_DisarmedInTimeDoesNothing(t *testing.T) {
	t.Parallel()
	k := newKit(t, "7.16")
	k.do("system/scheduler", "add", router.Item{
		"name": "a", "interval": "1m", "on-event": "/system identity set name=ran",
	})
	k.do("system/scheduler", "add", router.Item{
		"name": "b", "interval": "1m", "on-event": "/system identity set name=ran",
	})
	k.do("system/scheduler", "disable", router.Item{"numbers": "a"})
	k.do("system/scheduler", "remove", router.Item{"numbers": "b"})
	k.clock.Advance(time.Hour)
	if got := k.do("system/identity", "print", nil)[0]["name"]; got != "MikroTik" {
		t.Error(got)
	}
}

func TestScheduler_RepeatsStartsAtBootAndMissesWhatPassesWithoutPower(t *testing.T) {
	t.Parallel()
	k := newKit(t, "7.16")
	add := func(name string, more router.Item) {
		args := router.Item{"name": name, "on-event": ":put x"}
		for property, value := range more {
			args[property] = value
		}
		k.do("system/scheduler", "add", args)
	}
	add("every", router.Item{"interval": "10m"})
	add("boot", router.Item{"start-time": "startup"})
	add("once", router.Item{"start-date": "2026-03-02", "start-time": "09:30:00"})
	add("past", router.Item{"start-date": "2026-03-01", "start-time": "09:30:00"})
	runs := func(want map[string]string) {
		t.Helper()
		for name, n := range want {
			if item := k.only("system/scheduler", "name", name); item["run-count"] != n {
				t.Errorf("%s: %v, not %s runs", name, item, n)
			}
		}
	}
	k.clock.Advance(25 * time.Minute)
	runs(map[string]string{"every": "2", "boot": "1", "once": "0", "past": "0"})
	k.SetPower(false)
	k.clock.Advance(10 * time.Minute)
	k.SetPower(true)
	k.clock.Advance(2 * time.Second)
	runs(map[string]string{"every": "2", "boot": "1", "once": "0"})
	k.clock.Advance(10 * time.Minute)
	runs(map[string]string{"every": "3", "boot": "2", "once": "0"})
	k.clock.Advance(24 * 365 * time.Hour) // bounded
	runs(map[string]string{"boot": "2"})
}

// A next run keeps its date: after a step back of the router's clock it is as much later, after one ahead it is due.
func TestScheduler_CountsByTheRoutersOwnClock(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		k := newKit(t, version)
		k.do("system/scheduler", "add", router.Item{"name": "a", "interval": "3m"})
		next := k.only("system/scheduler", "name", "a")["next-run"]
		k.StepClock(-365 * 24 * time.Hour)
		k.clock.Advance(time.Hour)
		if item := k.only("system/scheduler", "name", "a"); item["run-count"] != "0" || item["next-run"] != next {
			t.Errorf("%s: after a step back: %v, before %s", version, item, next)
		}
		if date := k.do("system/clock", "print", nil)[0]["date"]; !strings.Contains(date, "2025") {
			t.Errorf("%s: the clock shows %s", version, date)
		}
		k.StepClock(365 * 24 * time.Hour)
		if item := k.only("system/scheduler", "name", "a"); item["run-count"] != "20" {
			t.Errorf("%s: after a step ahead: %v", version, item)
		}
	}
}

func TestScheduler_HasNoMoreRightsThanItsAuthor(t *testing.T) {
	t.Parallel()
	k := newKit(t, "7.16").withLimited()
	if status, body := k.limited("system/scheduler", "add", router.Item{
		"name": "a", "interval": "1m", "policy": "read,write,policy", "on-event": ":put x",
	}); status != 500 {
		t.Errorf("more rights than the author has: %d %s", status, body)
	}
	if status, body := k.limited("system/scheduler", "add", router.Item{
		"name": "a", "interval": "1m",
		"on-event": "/system identity set name=ran; /user set [find name=admin] group=read",
	}); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	if item := k.only("system/scheduler", "name", "a"); item["policy"] != "read,write" || item["owner"] != "limited" {
		t.Errorf("%v", item)
	}
	k.clock.Advance(time.Minute)
	if got := k.do("system/identity", "print", nil)[0]["name"]; got != "ran" {
		t.Errorf("identity %q", got)
	}
	if group := k.only("user", "name", "admin")["group"]; group != "full" {
		t.Errorf("a scheduled script changed a user: %s", group)
	}
}

func TestScripts_RunByNameWithTheirOwnRights(t *testing.T) {
	t.Parallel()
	k := newKit(t, "7.16").withLimited()
	k.do("system/script", "add", router.Item{"name": "s", "source": "/system identity set name=ran"})
	if status, body := k.limited("system/script", "run", router.Item{"numbers": "s"}); status != 500 {
		t.Errorf("a script with more rights than the caller: %d %s", status, body)
	}
	k.do("system/scheduler", "add", router.Item{"name": "a", "interval": "1m", "on-event": "s"})
	k.clock.Advance(time.Minute)
	if got := k.do("system/identity", "print", nil)[0]["name"]; got != "ran" {
		t.Errorf("identity %q", got)
	}
	if s := k.only("system/script", "name", "s"); s["run-count"] != "1" {
		t.Errorf("%v", s)
	}
}

// TestScheduler_ARollbackMayUseAllThatChangesConfiguration: add with a place, set, move, enable, disable and remove, by
// find with a comment, in menus with spaces.
func TestScheduler_ARollbackMayUseAllThatChangesConfiguration(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		k := newKit(t, version)
		rule := func(comment string) {
			k.do("ip/firewall/filter", "add", router.Item{"chain": "input", "action": "drop", "comment": comment})
		}
		rule("Platform-fw:a")
		rule("Platform-fw:b")
		k.do("ip/firewall/filter", "disable", router.Item{"numbers": k.only("ip/firewall/filter", "comment",
			"Platform-fw:a")[".id"]})
		k.do("user/group", "add", router.Item{"name": "platform-api", "policy": "read"})
		k.do("system/scheduler", "add", router.Item{"name": "Platform-rollback", "interval": "3m", "on-event": `
/ip firewall filter enable [find where comment="Platform-fw:a"]
/ip firewall filter disable [find where comment="Platform-fw:b"]
:local first [/ip firewall filter find where dynamic=no]
:if ([:len $first] > 0) do={
/ip firewall filter add chain=input action=accept comment="Platform-fw:first" place-before=($first->0)
}
/ip firewall filter move [find where comment="Platform-fw:b"] destination=($first->0)
/user group set [find where name="platform-api"] policy=read,write,api,!policy
/ip service set www address=10.99.0.0/16 port=8080
/system scheduler remove [find where name="Platform-rollback"]`})
		k.clock.Advance(3 * time.Minute)
		after := k.Snapshot(false)
		var order []string
		for _, rule := range after["ip/firewall/filter"][:2] {
			order = append(order, rule["comment"]+" "+rule["disabled"])
		}
		if len(order) != 2 || order[0] != "Platform-fw:first " || order[1] != "Platform-fw:b true" {
			t.Errorf("%s: rules %q", version, order)
		}
		if a := k.only("ip/firewall/filter", "comment", "Platform-fw:a"); a["disabled"] != "false" {
			t.Errorf("%s: %v", version, a)
		}
		if www := after["ip/service"][2]; www["port"] != "8080" || www["address"] != "10.99.0.0/16" {
			t.Errorf("%s: %v", version, www)
		}
		if len(after["system/scheduler"]) != 0 {
			t.Errorf("%s: the entry is still there; log %v", version, k.Log())
		}
	}
}

func TestScripts_ThatRunThemselvesEnd(t *testing.T) {
	t.Parallel()
	k := newKit(t, "7.16")
	k.do("system/script", "add", router.Item{"name": "a", "source": "/system script run b"})
	k.do("system/script", "add", router.Item{"name": "b", "source": "/system script run a"})
	k.do("system/script", "run", router.Item{"numbers": "a"})
	if n := k.only("system/script", "name", "a")["run-count"]; n != "5" {
		t.Errorf("%s runs", n)
	}
	k.refused("system/scheduler", "add", router.Item{"name": "s", "interval": "500ms"}, "interval")
}
