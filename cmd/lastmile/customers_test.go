package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/lastmile-isp/lastmile/simulators/handset"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// withCustomers starts simulated routers whose customers sign in at the program's RADIUS server. It must be called
// before start; installed makes one of them a router of acme.
func (k *kit) withCustomers(versions ...string) *kit {
	k.t.Helper()
	k.answers = &demoRADIUS{}
	return k.withNewRouters(false, versions...)
}

// installed registers the i-th router with a secret of its own, and runs its bootstrap script there.
func (k *kit) installed(i int) simRouter {
	k.t.Helper()
	r := simRouter{Router: k.routers.Routers()[i], address: simAddress(i)}
	r.device = k.must(k.admin, "POST", "/nas/devices", map[string]any{
		"name": r.Name(), "ipAddress": "127.0.0.1", "radiusSecret": "radius-secret-" + r.Name(), "apiUsername": "admin",
		"apiPassword": routerPassword, "managementAddress": r.address, "coaPort": r.Handsets().CoAAddr().Port(),
	}).text("id")
	k.bootstraps(r)
	return r
}

// bootstraps runs the present script of a router there.
func (k *kit) bootstraps(r simRouter) {
	k.t.Helper()
	script, err := k.admin.text(k.t.Context(), "/nas/devices/"+r.device+"/bootstrap-script")
	if err != nil {
		k.t.Fatal(err)
	}
	if _, faults := r.Paste(script); len(faults) > 0 {
		k.t.Fatalf("%s: %v", r.Name(), faults)
	}
	k.must(k.admin, "POST", reportOf(script), nil)
}

// sessionIs waits until the newest session of a username is as it should be.
func (k *kit) sessionIs(username, what string, holds func(answer) bool) {
	k.t.Helper()
	var last []answer
	k.eventually("session of "+username+" to be "+what, func(context.Context) (bool, error) {
		last = k.all(k.admin, "/sessions?username="+username)
		return len(last) > 0 && holds(last[0]), fmt.Errorf("%v", last)
	})
}

// TestCustomers_DialThroughARouterAndComeBack: a customer who has paid is online, the router tells which sessions
// RADIUS made, and the device comes back by itself after its session was removed, after a power cut, and with another
// secret.
func TestCustomers_DialThroughARouterAndComeBack(t *testing.T) {
	t.Parallel()
	k := newKit(t).withCustomers("7.16").start().signIn()
	r := k.installed(0)
	service := k.service(r, map[string]any{"type": "pppoe", "parentInterface": "ether4"})
	who, _ := k.subscriber("254711000077")
	made := k.must(k.admin, "POST", "/subscriptions", map[string]any{
		"subscriberId": who, "planId": k.plan("home", 1000), "username": "amina", "password": "login-of-amina",
	})
	device := handset.Customer{Server: "pppoe-svc-" + service[:8], Password: "login-of-amina"}
	if err := r.SwitchOn("amina", device); err != nil {
		t.Fatal(err)
	}
	k.must(k.admin, "POST", "/payments/cash", map[string]any{
		"subscriberId": who, "amount": 1000, "reference": "till 1",
	})
	online := func(s answer) bool { return s["endedAt"] == nil && s.text("subscriptionId") == made.text("id") }
	k.sessionIs("amina", "online", online)
	k.listShowsOnline(who, made.text("id"))
	if _, err := r.Do("ppp/secret", "add", router.Item{
		"name": "bypass", "password": "pw", "profile": "ppp-prof-svc-" + service[:8],
	}); err != nil {
		t.Fatal(err)
	}
	local := handset.Customer{Name: "bypass", Password: "pw", Server: device.Server}
	if got, err := r.SignIn(t.Context(), local); err != nil || got.Outcome != handset.Accepted {
		t.Fatalf("%+v, %v", got, err)
	}
	radius, whose := map[string]any{}, map[string]any{}
	for _, s := range k.must(k.admin, "GET", "/nas/devices/"+r.device+"/sessions", nil).list("data") {
		radius[s.text("user")], whose[s.text("user")] = s["radius"], s["subscriber"]
	}
	if of, _ := whose["amina"].(map[string]any); of["id"] != who || whose["bypass"] != nil {
		t.Errorf("the customers of a router: %v", whose)
	}
	if radius["amina"] != true || radius["bypass"] != false {
		t.Errorf("made by RADIUS: %v", radius)
	}
	more := func(what string) {
		t.Helper()
		before := len(k.all(k.admin, "/sessions?username=amina"))
		switch what {
		case "removal":
			r.Disconnect("amina")
		case "power cut":
			r.SetPower(false)
			r.SetPower(true)
		}
		k.eventually("another session after the "+what, func(context.Context) (bool, error) {
			return len(k.all(k.admin, "/sessions?username=amina")) > before, nil
		})
		k.sessionIs("amina", "online", online)
	}
	more("removal")
	k.must(k.admin, "PATCH", "/nas/devices/"+r.device, map[string]any{"radiusSecret": "another-secret"})
	k.bootstraps(r)
	more("power cut")
}

// listShowsOnline fails unless the only customer is online in lists, and paid today.
func (k *kit) listShowsOnline(who, line string) {
	k.t.Helper()
	for query, want := range map[string]int{"online=true&access=full": 1, "online=false": 0, "sort=paidUntil": 1} {
		list := k.must(k.admin, "GET", "/subscribers?"+query, nil).list("data")
		if len(list) != want {
			k.t.Errorf("%s: %v", query, list)
			continue
		}
		for _, c := range list {
			service := c.list("services")[0]
			if c.text("id") != who || c["online"] != true || service["online"] != true ||
				service.text("subscriptionId") != line {
				k.t.Errorf("%s: %v", query, c)
			}
		}
	}
	if n := k.must(k.admin, "GET", "/reports/customers", nil); n["online"] != 1.0 || n["total"] != 1.0 {
		k.t.Errorf("%v", n)
	}
	days := k.must(k.admin, "GET", "/subscribers/"+who+"/days", nil).list("data")
	if len(days) != 30 || days[0].text("state") != "none" || len(days[29].list("events")) == 0 {
		k.t.Errorf("%v", days)
	}
}
