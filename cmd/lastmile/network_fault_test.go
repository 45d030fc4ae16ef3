package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// fullService is a service with resources in most menus.
var fullService = map[string]any{
	"type": "hotspot", "parentInterface": "ether4", "vlanId": 30, "walledGarden": map[string]any{
		"domains": []string{"*.example.com"}, "addresses": []string{"198.51.100.7"}},
}

// TestReconcile_AfterAFaultAtAnyWriteOneMoreReachesTheDesiredState breaks the connection before or after each write of
// a service, or restarts the router, and has somebody edit at the same time: one more reconcile reaches the
// desired state, every write is audited, and the operator's configuration stays as it was.
func TestReconcile_AfterAFaultAtAnyWriteOneMoreReachesTheDesiredState(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"6.49.10", "7.16"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			now := clock.NewMovable(clock.System(), 0)
			k.clock = now
			k.withRouters(version).start().signIn()
			r := k.register(0)
			before := foreign(r)
			faults := map[string]func(n int) router.Faults{
				"drop":   func(n int) router.Faults { return router.Faults{DropAfterWrites: router.After(n)} },
				"lose":   func(n int) router.Faults { return router.Faults{LoseReplyAfterWrites: router.After(n)} },
				"reboot": func(n int) router.Faults { return router.Faults{RebootAfterWrites: router.After(n)} },
			}
			for _, name := range []string{"drop", "lose", "reboot"} {
				for n := 0; n < 11; n += 2 {
					if name == "drop" && n == 0 {
						continue // a router that restarts cannot be edited
					}
					k.survives(r, now, fmt.Sprintf("%s after %d writes", name, n), faults[name](n))
				}
			}
			if diff := cmp.Diff(before, foreign(r)); diff != "" {
				t.Errorf("foreign configuration (-before +after):\n%s", diff)
			}
			if left := platformItems(r); len(left) != 0 {
				t.Errorf("left on the router: %v", left)
			}
		})
	}
}

// survives makes a service during a fault, and deletes it during the same fault.
func (k *kit) survives(r simRouter, now *clock.Movable, what string, f router.Faults) {
	k.t.Helper()
	writes := r.Writes()
	r.SetFaults(f)
	service := k.must(k.admin, "POST", "/nas/devices/"+r.device+"/services", fullService).text("id")
	k.reported(service)
	r.SetFaults(router.Faults{})
	k.reconciled(service, now, what)
	diff := k.must(k.admin, "GET", "/nas/services/"+service+"/diff", nil)
	if diff["inSync"] != true {
		k.t.Errorf("%s: %v", what, diff)
	}
	done := r.Writes() - writes
	k.eventually(what+": an entry in the audit log for each write", func(context.Context) (bool, error) {
		audited := 0
		for _, e := range k.all(k.admin, "/audit-log?action=router.write") {
			if d, _ := e["detail"].(map[string]any); d["serviceId"] == service {
				audited++
			}
		}
		return audited == done, fmt.Errorf("%d writes, %d entries", done, audited)
	})
	r.SetFaults(f)
	_, err := k.admin.call(k.t.Context(), "DELETE", "/nas/services/"+service+"?confirm=true", "", nil)
	r.SetFaults(router.Faults{})
	if err != nil {
		now.Advance(breakerPatience)
		// The jump also wakes the process, which may have removed the service before us.
		_, err := k.admin.call(k.t.Context(), "DELETE", "/nas/services/"+service+"?confirm=true", "", nil)
		if no := asAPIError(err); err != nil && (no == nil || no.Code != "service_not_found") {
			k.t.Fatalf("%s: %v", what, err)
		}
	}
	k.refused(k.admin, "GET /nas/services/"+service, nil, 404, "service_not_found")
}

// reported waits until the first reconcile of a service has an outcome, good or bad.
func (k *kit) reported(service string) {
	k.t.Helper()
	k.eventually("a report", func(ctx context.Context) (bool, error) {
		now, err := k.admin.call(ctx, "GET", "/nas/services/"+service, "", nil)
		return now.text("state") == "active" || now["lastError"] != nil, err
	})
}

// reconciled asks for one reconcile, past the cool-down of the router's breaker.
func (k *kit) reconciled(service string, now *clock.Movable, what string) {
	k.t.Helper()
	now.Advance(breakerPatience)
	ctx, cancel := context.WithTimeout(k.t.Context(), time.Minute)
	defer cancel()
	out, err := k.admin.call(ctx, "POST", "/nas/services/"+service+"/reconcile", "", nil)
	if err != nil || out.text("state") != "active" {
		k.t.Errorf("%s: reconcile: %v %v", what, out, err)
	}
}
