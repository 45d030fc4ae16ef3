package routerplan_test

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// setupOf is the desired setup of a router that ran the script of bootstrapConfig.
func setupOf() routerplan.Setup {
	c := bootstrapConfig()
	return routerplan.Setup{
		Firewall:     routerplan.Firewall{RadiusHost: c.RadiusHost, CoAPort: c.CoAPort},
		RadiusSecret: c.RadiusSecret, APIUser: c.APIUser, APIPort: c.APIPort,
		Tunnel: routerplan.TunnelLink{Concentrator: c.Concentrator, Port: c.SSTPPort, User: c.TunnelUser},
	}
}

// bootstrapped is a simulated router of a version on which the script ran.
func bootstrapped(t *testing.T, version string, now *clock.Manual) *router.Router {
	t.Helper()
	sim, err := router.New(router.Config{Routers: []router.RouterConfig{{
		Name: "r1", Version: version, Password: "secret", Tunnel: netip.MustParseAddr("10.99.0.2"),
	}}, Clock: now})
	if err == nil {
		err = sim.Start(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sim.Stop(context.Background()) })
	r := sim.Router("r1")
	script, err := routerplan.Bootstrap(bootstrapConfig())
	if err != nil {
		t.Fatal(err)
	}
	if out, err := r.Script(script); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r
}

// manual is a clock for one test.
func manual() *clock.Manual { return clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)) }

func TestSetup_AfterTheScriptNothingDiffersAndEachDriftIsToldAndRepaired(t *testing.T) {
	t.Parallel()
	for _, version := range releases {
		r, v := bootstrapped(t, version, manual()), routerplan.ParseVersion(version)
		compare := func(want routerplan.Setup) routerplan.Diff {
			return routerplan.CompareSetup(read(t, r, setupMenus()), want, v)
		}
		if d := compare(setupOf()); !d.InSync() {
			t.Fatalf("%s: after the script: %+v", version, d.Resources())
		}
		client := read(t, r, []string{routerplan.MenuRadius})[routerplan.MenuRadius][0]
		for _, e := range []router.Edit{
			{Menu: "ppp/aaa", Command: "set", Args: router.Item{"use-radius": "no"}},
			{Menu: "radius/incoming", Command: "set", Args: router.Item{"port": "1700"}},
			{Menu: "radius", Command: "set", Args: router.Item{".id": client[".id"], "secret": "another"}},
			{Menu: "ip/service", Command: "set", Args: router.Item{"numbers": "www", "address": ""}},
		} {
			if _, err := r.Do(e.Menu, e.Command, e.Args); err != nil {
				t.Fatalf("%s: %+v: %v", version, e, err)
			}
		}
		d := compare(setupOf())
		told := map[string]bool{}
		for _, x := range d.Resources() {
			told[x.Path] = true
			if strings.Contains(x.Expected["secret"]+x.Actual["secret"], "another") {
				t.Errorf("%s: the secret is shown: %+v", version, x)
			}
		}
		want := map[string]bool{"ppp/aaa": true, "radius/incoming": true, "radius": true, "ip/service": true}
		if diff := cmp.Diff(want, told); diff != "" || d.Hash() == "" {
			t.Errorf("%s: %s", version, diff)
		}
		write(t, r, d.Plan())
		if d := compare(setupOf()); !d.InSync() {
			t.Errorf("%s: after the repair: %+v", version, d.Resources())
		}
		changed := setupOf()
		changed.SecretStale, changed.Firewall.CoAPort = true, 3800
		hidden := read(t, r, setupMenus())
		if d := routerplan.CompareSetup(hidden, changed, v); len(d.Plan()) != 2 { // the port, the rule of the port
			t.Errorf("%s: a secret that is read and right: %v", version, shown(d.Plan()))
		}
		hidden[routerplan.MenuRadius][0]["secret"] = "*****"
		if d := routerplan.CompareSetup(hidden, changed, v); len(d.Plan()) != 3 { // the secret, too
			t.Errorf("%s: another secret and CoA port: %v", version, shown(d.Plan()))
		}
	}
}

func TestSetup_WhatOnlyTheScriptCanRepairHasNoWrite(t *testing.T) {
	t.Parallel()
	s := routerplan.Snapshot{
		routerplan.MenuUser:      {{"name": bootstrapConfig().APIUser, "group": "platform-api", "address": ""}},
		routerplan.MenuUserGroup: {{"name": "platform-api", "policy": "read,write,api,rest-api,policy,!ftp"}},
		routerplan.MenuIPService: {
			{".id": "*1", "name": "www-ssl", "port": "443", "address": "10.99.0.0/16", "certificate": "none"},
			{".id": "*2", "name": "www", "port": "80", "address": "10.99.0.0/16", "disabled": "false"},
			{".id": "*3", "name": "www", "port": "80", "dynamic": "true"},
		},
		routerplan.MenuCertificate: {},
	}
	want := setupOf()
	want.APIPort = 443
	d := routerplan.CompareSetup(s, want, modern)
	if len(d.Plan()) > 0 || len(d.Differences) != 3 || len(d.Faults()) == 0 {
		t.Errorf("%+v, plan %v", d.Resources(), shown(d.Plan()))
	}
	for _, x := range d.Resources() {
		if !commands.ScriptOnly(x) {
			t.Errorf("%+v can be repaired by more than the script", x)
		}
	}
	s[routerplan.MenuUser][0]["group"] = "full" // a login of the operator's
	if d := routerplan.CompareSetup(s, want, modern); len(d.Differences) != 1 {
		t.Errorf("%+v", d.Resources())
	}
	if d := routerplan.CompareSetup(nil, want, modern); !d.InSync() {
		t.Errorf("what was not read differs: %+v", d.Resources())
	}
}

// A write that cuts the platform off is undone by the router itself.
func TestRollback_TheRouterRestoresItselfUnlessItIsDisarmed(t *testing.T) {
	t.Parallel()
	for _, version := range releases {
		for _, disarmed := range []bool{false, true} {
			now := manual()
			r := bootstrapped(t, version, now)
			menus := []string{routerplan.MenuIPService, routerplan.MenuFirewallFilter}
			before := read(t, r, setupMenus())
			want := setupOf()
			want.APIPort, want.Firewall.RadiusHost = 8080, "10.99.0.9"
			plan := routerplan.CompareSetup(before, want, routerplan.ParseVersion(version)).Plan()
			risky := routerplan.Risky(plan)
			if len(risky) == 0 || len(risky) == len(plan) {
				t.Fatalf("%s: of %v risky are %v", version, shown(plan), shown(risky))
			}
			run := id.New[id.Run]()
			write(t, r, append(routerplan.Arm(before, run, 0), plan...))
			if disarmed {
				armed := read(t, r, []string{routerplan.MenuScheduler})
				steps := routerplan.Disarm(armed, run)
				if len(steps) != 2 || !steps[1].Still(armed[routerplan.MenuScheduler][0]) {
					t.Fatalf("%s: disarm %v", version, shown(steps))
				}
				write(t, r, steps)
			}
			changed := configured(read(t, r, menus))
			now.Advance(4 * time.Minute)
			after := configured(read(t, r, menus))
			expected := configured(before)
			if disarmed {
				expected = changed
			}
			for _, menu := range menus {
				if diff := cmp.Diff(expected[menu], after[menu]); diff != "" {
					t.Errorf("%s, disarmed %v: %s %s", version, disarmed, menu, diff)
				}
			}
			if left := read(t, r, []string{routerplan.MenuScheduler})[routerplan.MenuScheduler]; len(left) > 0 {
				t.Errorf("%s: left %v", version, left)
			}
		}
	}
}

// configured is a snapshot without identifiers, dynamic rows and counters.
func configured(s routerplan.Snapshot) map[string][]string {
	out := map[string][]string{}
	for menu, rows := range s {
		for _, row := range rows {
			if row["dynamic"] != "true" {
				out[menu] = append(out[menu], strings.Join([]string{
					row["name"], row["comment"], row["port"], row["address"], row["disabled"], row["chain"],
					row["action"], row["src-address"], row["in-interface"], row["dst-port"],
				}, " "))
			}
		}
	}
	return out
}
