package routerplan_test

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// releases has one version of each group in docs/facts/routeros.md#releases.
var releases = []string{"6.49.10", "7.6", "7.16", "7.23.7"}

// simulated starts a simulated router of a version, as it leaves the factory; it ends with the test.
func simulated(t *testing.T, version string) *router.Router {
	t.Helper()
	return fresh(t, router.RouterConfig{Version: version}).Router("r1")
}

// fresh starts a simulator of one router, r1, whose tunnel address is 10.99.0.2.
func fresh(t *testing.T, c router.RouterConfig) *router.Simulator {
	t.Helper()
	c.Name, c.Password, c.Tunnel = "r1", "secret", netip.MustParseAddr("10.99.0.2")
	sim, err := router.New(router.Config{
		Routers: []router.RouterConfig{c},
		Clock:   clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)), CommandLimit: 50 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := sim.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sim.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return sim
}

// read returns the rows of the menus, as print shows them.
func read(t *testing.T, r *router.Router, paths []string) routerplan.Snapshot {
	t.Helper()
	s := routerplan.Snapshot{}
	for _, path := range paths {
		items, err := r.Do(routerplan.MenuOf(path), "print", nil)
		if err != nil && !strings.HasPrefix(err.Error(), "no such command") {
			t.Fatalf("%s: %v", path, err)
		}
		for _, item := range items {
			s[path] = append(s[path], routerplan.Row(item))
		}
	}
	return s
}

// write executes steps on the router.
func write(t *testing.T, r *router.Router, steps []routerplan.Step) {
	t.Helper()
	for _, s := range steps {
		args := router.Item{}
		maps.Copy(args, s.Values)
		switch {
		case s.Operation == "move":
			args["numbers"] = s.ID
			if s.Destination != "" {
				args["destination"] = s.Destination
			}
		case s.Operation == "add" && s.Destination != "":
			args["place-before"] = s.Destination
		case s.Operation != "add":
			args[".id"] = s.ID
		}
		if _, err := r.Do(s.Path, s.Operation, args); err != nil {
			t.Fatalf("%s %s %v: %v", s.Operation, s.Path, args, err)
		}
	}
}

func TestBootstrap_RunsOnAllReleasesAndTwice(t *testing.T) {
	t.Parallel()
	for _, version := range releases {
		r := simulated(t, version)
		before := foreignRules(t, r)
		script, err := routerplan.Bootstrap(bootstrapConfig())
		if err != nil {
			t.Fatal(err)
		}
		out, err := r.Script(script)
		if err != nil || !strings.HasSuffix(out, "BOOTSTRAP_VERSION=2 done\n") {
			t.Fatalf("%s: %v, %s", version, err, out)
		}
		for run := range 2 {
			if d := routerplan.CompareFirewall(read(t, r, firewallMenus()), fw); !d.InSync() {
				t.Errorf("%s, run %d: firewall %+v", version, run, d.Resources())
			}
			if got := routerplan.BootstrapOf(read(t, r, routerplan.InterfaceMenus())); got != (routerplan.Bootstrapped{
				Version: routerplan.BootstrapVersion, Tunnel: routerplan.Mark(bootstrapConfig().TunnelRef),
				Radius: routerplan.Mark(bootstrapConfig().RadiusRef),
			}) {
				t.Errorf("%s, run %d: reads %+v", version, run, got)
			}
			if diff := cmp.Diff(before, foreignRules(t, r)); diff != "" {
				t.Errorf("%s, run %d: rules of others\n%s", version, run, diff)
			}
			if out, faults := r.Paste(script); len(faults) > 0 || !strings.HasSuffix(out, "done\n") {
				t.Fatalf("%s pasted: %v, %s", version, faults, out)
			}
		}
		for path, want := range map[string]int{"ppp/profile": 3, "radius": 1, "interface/sstp-client": 1} {
			if items, err := r.Do(path, "print", nil); err != nil || len(items) != want {
				t.Errorf("%s: %d of %s: %v", version, len(items), path, err)
			}
		}
	}
}

// foreignRules are the firewall rules of the operator, with all properties.
func foreignRules(t *testing.T, r *router.Router) []routerplan.Row {
	t.Helper()
	return slices.DeleteFunc(read(t, r, firewallMenus())[routerplan.MenuFirewallFilter],
		func(row routerplan.Row) bool {
			return strings.HasPrefix(row["comment"], routerplan.FirewallTag)
		})
}

func TestServices_ConvergeOnAllReleasesAndLeaveNothing(t *testing.T) {
	t.Parallel()
	for _, version := range releases {
		r := simulated(t, version)
		v := routerplan.ParseVersion(version)
		before := r.Snapshot(false)
		services := []routerplan.Service{
			testService(1, events.ServicePPPoE, "ether4", 100), testService(2, events.ServiceHotspot, "ether5", 0),
			testService(3, events.ServiceCPEManagement, "ether4", 200),
		}
		for _, s := range services {
			if err := routerplan.CheckBinding(read(t, r, routerplan.CheckMenus(s.Binding)), s.ID,
				s.Binding); err != nil {
				t.Errorf("%s: %v", version, err)
			}
		}
		plan := routerplan.CompareDevice(read(t, r, routerplan.ServiceMenus()), services, v).Plan()
		write(t, r, plan)
		if d := routerplan.CompareDevice(read(t, r, routerplan.ServiceMenus()), services, v); !d.InSync() {
			t.Fatalf("%s: %+v", version, d.Resources())
		}
		services[1].Addressing = testService(9, events.ServiceHotspot, "", 0).Addressing
		services[1].WalledGarden.Domains = []string{"new.example.com"}
		write(t, r, routerplan.CompareDevice(read(t, r, routerplan.ServiceMenus()), services, v).Plan())
		write(t, r, routerplan.CompareRemoval(read(t, r, routerplan.ServiceMenus()), services[0].ID).Plan())
		if d := routerplan.CompareDevice(read(t, r, routerplan.ServiceMenus()), services[1:], v); !d.InSync() {
			t.Errorf("%s: %+v", version, d.Resources())
		}
		// all rows of the platform are orphans now
		write(t, r, routerplan.CompareDevice(read(t, r, routerplan.ServiceMenus()), nil, v).Plan())
		if diff := cmp.Diff(before, r.Snapshot(false)); diff != "" {
			t.Errorf("%s: something is left or was touched\n%s", version, diff)
		}
	}
}

// TestBootstrap_TakesAnySecretAndLeavesSomebodysUserAlone checks that a router takes an operator's input as text and
// never as a command, and that an existing login, such as admin, keeps its group and password.
func TestBootstrap_TakesAnySecretAndLeavesSomebodysUserAlone(t *testing.T) {
	t.Parallel()
	for _, version := range releases {
		r := simulated(t, version)
		user := func(name string) router.Item {
			for _, item := range r.Snapshot(false)["user"] {
				if item["name"] == name {
					return item
				}
			}
			return nil
		}
		admin := user("admin")
		c := bootstrapConfig()
		c.APIUser, c.RadiusSecret = "admin", `se"c $r]e}t?\; /system reset "é`
		for range 2 {
			script, err := routerplan.Bootstrap(c)
			if err != nil {
				t.Fatal(err)
			}
			checkScript(t, script)
			if out, faults := r.Paste(script); len(faults) > 0 ||
				!strings.HasSuffix(out, "BOOTSTRAP_VERSION=2 done\n") {
				t.Fatalf("%s: %v, %s", version, faults, out)
			}
		}
		if diff := cmp.Diff(admin, user("admin")); diff != "" {
			t.Errorf("%s: admin changed: %s", version, diff)
		}
		if clients := r.Snapshot(false)["radius"]; len(clients) != 1 || clients[0]["secret"] != c.RadiusSecret {
			t.Errorf("%s: RADIUS clients %q", version, clients)
		}
		c.APIUser, c.APIPassword = `plat"form`, "first$1"
		for _, password := range []string{"first$1", "second?"} {
			c.APIPassword = password
			script, err := routerplan.Bootstrap(c)
			if err != nil {
				t.Fatal(err)
			}
			if _, faults := r.Paste(script); len(faults) > 0 || user(c.APIUser)["group"] != "platform-api" ||
				user(c.APIUser)["password"] != password {
				t.Errorf("%s: %v, user %v", version, faults, user(c.APIUser))
			}
		}
	}
}
