package main

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// TestKill9_BetweenRemovalAndCreation kills the program while a disruptive change removes resources, and while it makes
// the new ones: a reconcile right after the restart completes the change.
func TestKill9_BetweenRemovalAndCreation(t *testing.T) {
	t.Parallel()
	k := newKit(t).withRouters("7.16")
	sim := k.routers.Routers()[0]
	child := k.spawn(freePort(t))
	k.signIn()
	address := sim.Summary().Addresses["www"]
	device := k.must(k.admin, "POST", "/nas/devices", map[string]any{
		"name": "r0", "ipAddress": "203.0.113.20", "radiusSecret": "radiussecret", "apiUsername": "admin",
		"apiPassword": routerPassword, "managementAddress": address,
	}).text("id")
	r := simRouter{Router: sim, device: device}
	before := foreign(r)
	service := k.service(r, fullService)
	for n, binding := range []map[string]any{
		{"parentInterface": "ether5"}, {"parentInterface": "ether4"}, {"parentInterface": "sfp1"},
	} {
		writes := r.Writes()
		r.SetFaults(router.Faults{LatencyMs: 25})
		asked := make(chan struct{})
		go func() {
			defer close(asked)
			// the kill interrupts this request
			_, _ = k.admin.call(context.Background(), "PATCH", "/nas/services/"+service+"?confirm=true", "", binding)
		}()
		k.eventually("the re-creation to have begun", func(context.Context) (bool, error) {
			return r.Writes() >= writes+2+n*6, nil // in the removal, then in the creation
		})
		child.kill9()
		<-asked
		r.SetFaults(router.Faults{})
		child = k.spawn(child.addr)
		k.admin, _ = k.login("acme", testAdminEmail, testPassword)
		out := k.must(k.admin, "POST", "/nas/services/"+service+"/reconcile", nil)
		if out.text("state") != "active" || out.text("parentInterface") != binding["parentInterface"] {
			t.Fatalf("after kill %d: %v", n, out)
		}
		if diff := k.must(k.admin, "GET", "/nas/devices/"+device+"/drift", nil); diff["inSync"] != true {
			t.Errorf("after kill %d: %v", n, diff)
		}
	}
	k.must(k.admin, "DELETE", "/nas/services/"+service, nil)
	if diff := cmp.Diff(before, foreign(r)); diff != "" {
		t.Errorf("foreign configuration (-before +after):\n%s", diff)
	}
}

// TestReboot_IsConfirmedByUptimeAndSentOnce over both protocols; a refusal is told in the router's words.
func TestReboot_IsConfirmedByUptimeAndSentOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	now := clock.NewMovable(clock.System(), 0)
	k.clock = now
	k.withRouters("6.49.10", "7.23.7").start().signIn()
	for i := range 2 {
		r := k.register(i)
		now.Advance(breakerPatience * 3)
		r.SetFaults(router.Faults{SlowBoot: true})
		done := k.must(k.admin, "POST", "/nas/devices/"+r.device+"/reboot", nil)
		if b, _ := done["reboot"].(map[string]any); b["stage"] != "accepted" {
			t.Errorf("%s: %v", r.Summary().Version, done)
		}
		k.refused(k.admin, "POST /nas/devices/"+r.device+"/reboot", nil, 409, "reboot_in_progress")
		r.SetFaults(router.Faults{})
		now.Advance(breakerPatience)
		k.eventually("the reboot to be confirmed", func(ctx context.Context) (bool, error) {
			if _, err := k.admin.call(ctx, "POST", "/nas/devices/"+r.device+"/ping", "", nil); err != nil {
				return false, err
			}
			d, err := k.admin.call(ctx, "GET", "/nas/devices/"+r.device, "", nil)
			b, _ := d["reboot"].(map[string]any)
			return b["stage"] == "confirmed", err
		})
	}
	r := simRouter{Router: k.routers.Routers()[1]}
	k.weaken(r)
	made := k.must(k.admin, "POST", "/nas/devices", map[string]any{
		"name": "weak", "ipAddress": "203.0.113.20", "radiusSecret": "radiussecret",
		"apiUsername": "weak", "apiPassword": "weakpassword", "managementAddress": "10.99.200.3",
	})
	no := k.errorOf(k.admin, "POST", "/nas/devices/"+made.text("id")+"/reboot", nil)
	if no.Status != 502 || no.Code != "router_refused" || !strings.Contains(no.Body, "not enough permissions (9)") {
		t.Errorf("without the policy: %v", no)
	}
	k.audited("network.RequestReboot")
}

// weaken adds a user without the policy reboot.
func (k *kit) weaken(r simRouter) {
	k.t.Helper()
	for menu, args := range map[string]router.Item{
		"user/group": {"name": "weak", "policy": "read,write,api,rest-api"},
	} {
		if _, err := r.Do(menu, "add", args); err != nil {
			k.t.Fatal(err)
		}
	}
	if _, err := r.Do("user", "add",
		router.Item{"name": "weak", "group": "weak", "password": "weakpassword"}); err != nil {
		k.t.Fatal(err)
	}
}
