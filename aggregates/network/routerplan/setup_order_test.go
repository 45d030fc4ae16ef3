package routerplan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// A router asks its RADIUS clients in their order, and the answer of the first one counts: while an operator's client
// stands before the platform's, the platform's customers are refused.
func TestSetup_TheRADIUSClientOfThePlatformIsAskedFirst(t *testing.T) {
	t.Parallel()
	for _, version := range releases {
		r, v := bootstrapped(t, version, manual()), routerplan.ParseVersion(version)
		do := doer(t, r)
		ours := read(t, r, []string{routerplan.MenuRadius})[routerplan.MenuRadius][0]
		for _, client := range []router.Item{
			{"service": "login", "address": "192.0.2.9"},
			{"service": "ppp", "address": "192.0.2.8", "called-id": "old-server"},
			{"service": "hotspot", "address": "192.0.2.7", "disabled": "yes"},
		} {
			client["place-before"] = ours[".id"]
			do("radius", "add", client)
		}
		compare := func() routerplan.Diff {
			return routerplan.CompareSetup(read(t, r, setupMenus()), setupOf(), v)
		}
		if d := compare(); !d.InSync() {
			t.Errorf("%s: clients for other users: %+v", version, d.Resources())
		}
		do("radius", "add", router.Item{
			"service": "wireless,ppp", "address": "192.0.2.1", "place-before": ours[".id"],
		})
		service := testService(1, events.ServicePPPoE, "ether4", 0)
		write(t, r, routerplan.CompareService(read(t, r, routerplan.ServiceMenus()), service, v).Plan())
		dial := func(user string) error {
			_, err := r.Connect(router.Session{
				Kind: "pppoe", User: user, Server: "pppoe-svc-" + routerplan.Slug(service.ID), RADIUS: "10.99.0.1",
			})
			return err
		}
		if err := dial("jane"); err == nil || !strings.Contains(err.Error(), "192.0.2.1 does not know") {
			t.Errorf("%s: with another client before ours: %v", version, err)
		}
		d := compare()
		want := []events.DriftedResource{{
			Path: "radius", Kind: "changed", Name: "Platform",
			Expected: map[string]string{"place": "before all other clients of these services"},
			Actual:   map[string]string{"place": "after 192.0.2.1"},
		}}
		if diff := cmp.Diff(want, d.Resources()); diff != "" {
			t.Errorf("%s: %s", version, diff)
		}
		if got := shown(routerplan.Takes(d.Plan())); !cmp.Equal(got, []string{"move radius Platform"}) {
			t.Errorf("%s: to be confirmed: %v", version, got)
		}
		write(t, r, d.Plan())
		if d := compare(); !d.InSync() {
			t.Errorf("%s: after the repair: %+v", version, d.Resources())
		}
		if err := dial("jane"); err != nil {
			t.Errorf("%s: after the repair: %v", version, err)
		}
		do("radius", "remove", router.Item{".id": ours[".id"]})
		write(t, r, compare().Plan())
		if d := compare(); !d.InSync() || dial("joe") != nil {
			t.Errorf("%s: a client that was missing: %+v", version, d.Resources())
		}
	}
}

// doer gives a function that runs a console command, which must not be refused.
func doer(t *testing.T, r *router.Router) func(menu, command string, args router.Item) {
	return func(menu, command string, args router.Item) {
		t.Helper()
		if _, err := r.Do(menu, command, args); err != nil {
			t.Fatalf("%s %s %v: %v", menu, command, args, err)
		}
	}
}

// A client that serves a part of the users only, or under another name, is not what the script made.
func TestSetup_TheRADIUSClientServesAllUsers(t *testing.T) {
	t.Parallel()
	r := bootstrapped(t, "7.16", manual())
	ours := read(t, r, []string{routerplan.MenuRadius})[routerplan.MenuRadius][0]
	if _, err := r.Do("radius", "set",
		router.Item{".id": ours[".id"], "called-id": "other", "domain": "x"}); err != nil {
		t.Fatal(err)
	}
	d := routerplan.CompareSetup(read(t, r, setupMenus()), setupOf(), modern)
	if got := d.Resources(); len(got) != 1 || len(got[0].Expected) != 2 || got[0].Actual["called-id"] != "other" {
		t.Errorf("%+v", got)
	}
	write(t, r, d.Plan())
	if d := routerplan.CompareSetup(read(t, r, setupMenus()), setupOf(), modern); !d.InSync() {
		t.Errorf("after the repair: %+v", d.Resources())
	}
}

// A client for accounting alone takes no user away, wherever it stands.
func TestSetup_AClientForAccountingMayStandFirst(t *testing.T) {
	t.Parallel()
	r := bootstrapped(t, "7.16", manual())
	ours := read(t, r, []string{routerplan.MenuRadius})[routerplan.MenuRadius][0]
	doer(t, r)("radius", "add", router.Item{
		"service": "ppp,hotspot", "address": "192.0.2.6", "accounting-backup": "yes", "place-before": ours[".id"],
	})
	if d := routerplan.CompareSetup(read(t, r, setupMenus()), setupOf(), modern); !d.InSync() {
		t.Errorf("%+v", d.Resources())
	}
}

// The script leaves the order as it is and says so.
func TestBootstrap_TellsThatAnotherRADIUSClientIsAskedFirst(t *testing.T) {
	t.Parallel()
	for _, version := range releases {
		r := simulated(t, version)
		script, err := routerplan.Bootstrap(bootstrapConfig())
		if err != nil {
			t.Fatal(err)
		}
		if out, err := r.Script(script); err != nil || strings.Contains(out, "Another RADIUS client") {
			t.Errorf("%s, alone: %v, %s", version, err, out)
		}
		clients := read(t, r, []string{routerplan.MenuRadius})[routerplan.MenuRadius]
		if _, err := r.Do("radius", "add", router.Item{
			"service": "ppp", "address": "192.0.2.1", "place-before": clients[0][".id"],
		}); err != nil {
			t.Fatal(err)
		}
		if out, err := r.Script(script); err != nil || !strings.Contains(out, "Another RADIUS client is asked before") {
			t.Errorf("%s: %v, %s", version, err, out)
		}
	}
}

// What the script set on the tunnel is told when it differs, and is not written: the platform's own connection goes
// through it.
func TestSetup_TheTunnelIsToldAndNotWritten(t *testing.T) {
	t.Parallel()
	for _, version := range releases {
		r, v := bootstrapped(t, version, manual()), routerplan.ParseVersion(version)
		compare := func() routerplan.Diff {
			return routerplan.CompareSetup(read(t, r, setupMenus()), setupOf(), v)
		}
		set := func(values router.Item) {
			values["numbers"] = routerplan.TunnelInterface
			if _, err := r.Do("interface/sstp-client", "set", values); err != nil {
				t.Fatalf("%s: %v", version, err)
			}
		}
		set(router.Item{"verify-server-certificate": "yes"})
		if d := compare(); !d.InSync() {
			t.Errorf("%s: a stricter check of the certificate: %+v", version, d.Resources())
		}
		set(router.Item{
			"connect-to": "192.0.2.5", "user": "other", "profile": "default", "add-default-route": "yes",
			"disabled": "yes",
		})
		d := compare()
		if got := d.Resources(); len(got) != 1 || got[0].Path != "interface/sstp-client" || len(got[0].Expected) != 5 {
			t.Errorf("%s: %+v", version, got)
		}
		if len(d.Plan()) > 0 || len(d.Faults()) != 1 || !strings.Contains(d.Faults()[0].Message, "bootstrap script") {
			t.Errorf("%s: plan %v, told %+v", version, shown(d.Plan()), d.Faults())
		}
		script, err := routerplan.Bootstrap(bootstrapConfig())
		if err != nil {
			t.Fatal(err)
		}
		if out, err := r.Script(script); err != nil {
			t.Fatalf("%s: %v: %s", version, err, out)
		}
		if d := compare(); !d.InSync() {
			t.Errorf("%s: after the script: %+v", version, d.Resources())
		}
		if _, err := r.Do("interface/sstp-client", "remove", router.Item{
			"numbers": routerplan.TunnelInterface,
		}); err != nil {
			t.Fatal(err)
		}
		s := routerplan.Snapshot{routerplan.MenuSSTPClient: {}}
		if d := routerplan.CompareSetup(s, setupOf(), v); len(d.Plan()) > 0 || len(d.Differences) != 1 ||
			d.Differences[0].Kind != "missing" {
			t.Errorf("%s: without a tunnel: %+v", version, d.Resources())
		}
	}
}

// The operator wrote another comment at the platform's RADIUS client: it is found by its address, and gets its comment
// back, from the repair and from the script. There are never two.
func TestSetup_ARADIUSClientWithAnotherCommentIsFoundByItsAddress(t *testing.T) {
	t.Parallel()
	for _, version := range releases {
		for name, repair := range map[string]func(r *router.Router, d routerplan.Diff){
			"repair": func(r *router.Router, d routerplan.Diff) { write(t, r, d.Plan()) },
			"script": func(r *router.Router, _ routerplan.Diff) {
				text, err := routerplan.Bootstrap(bootstrapConfig())
				if err != nil {
					t.Fatal(err)
				}
				if _, faults := r.Paste(text); len(faults) > 0 {
					t.Fatal(faults)
				}
			},
		} {
			r, v := bootstrapped(t, version, manual()), routerplan.ParseVersion(version)
			menus := []string{routerplan.MenuRadius}
			client := read(t, r, menus)[routerplan.MenuRadius][0]
			if _, err := r.Do("radius", "set",
				router.Item{".id": client[".id"], "comment": "ISP billing"}); err != nil {
				t.Fatal(err)
			}
			d := routerplan.CompareSetup(read(t, r, menus), setupOf(), v)
			if told := d.Resources(); len(told) != 1 || told[0].Kind != "changed" ||
				told[0].Actual["comment"] != "ISP billing" || len(told[0].Expected) != 1 {
				t.Errorf("%s: told is %+v", version, told)
			}
			repair(r, d)
			after := read(t, r, menus)[routerplan.MenuRadius]
			if len(after) != 1 || after[0]["comment"] != "Platform" || after[0][".id"] != client[".id"] {
				t.Errorf("%s: after the %s %v", version, name, after)
			}
		}
	}
}

// The script warns as the comparison does: not of a client that is never asked about the platform's customers.
func TestBootstrap_WarnsOnlyOfAClientThatIsAskedAboutTheCustomers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		client router.Item
		asked  bool
	}{
		"logins only":    {router.Item{"service": "login,wireless"}, false},
		"another server": {router.Item{"service": "ppp", "called-id": "office"}, false},
		"disabled":       {router.Item{"service": "ppp", "disabled": "yes"}, false},
		"PPPoE":          {router.Item{"service": "login,ppp"}, true},
		"hotspot":        {router.Item{"service": "hotspot"}, true},
	} {
		for _, version := range releases {
			r := bootstrapped(t, version, manual())
			first := read(t, r, []string{routerplan.MenuRadius})[routerplan.MenuRadius][0]
			c.client["address"], c.client["secret"], c.client["place-before"] = "192.0.2.9", "x", first[".id"]
			if _, err := r.Do("radius", "add", c.client); err != nil {
				t.Fatal(err)
			}
			d := routerplan.CompareSetup(read(t, r, setupMenus()), setupOf(),
				routerplan.ParseVersion(version))
			script, err := routerplan.Bootstrap(bootstrapConfig())
			if err != nil {
				t.Fatal(err)
			}
			out, err := r.Script(script)
			warned := strings.Contains(out, "Another RADIUS client")
			if err != nil || warned != c.asked || d.InSync() == c.asked {
				t.Errorf("%s, %s: warned %v, in sync %v, %v", name, version, warned, d.InSync(), err)
			}
		}
	}
}
