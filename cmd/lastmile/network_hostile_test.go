package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/simulators/router"
)

// rowOf gives the first row of a menu whose property has the value; nil when there is none.
func rowOf(r simRouter, menu, property, value string) router.Item {
	for _, item := range r.Snapshot(false)[menu] {
		if item[property] == value {
			return item
		}
	}
	return nil
}

// TestReconcile_NeverWritesToARowThatBecameSomebodysMeanwhile: between the reading and the write the row under an
// identifier becomes the operator's.
func TestReconcile_NeverWritesToARowThatBecameSomebodysMeanwhile(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"6.49.10", "7.16"} {
		k := newKit(t).withRouters(version).start().signIn()
		r := k.register(0)
		domains := func(list ...string) map[string]any { return map[string]any{"domains": list} }
		service := k.service(r, map[string]any{
			"type": "hotspot", "parentInterface": "ether4",
			"walledGarden": domains("a.example", "b.example", "c.example"),
		})
		const menu = "ip/hotspot/walled-garden/ip"
		// These are the first and the last of the rows that the change removes.
		for _, domain := range []string{"a.example", "c.example"} {
			id := rowOf(r, menu, "dst-host", domain)[".id"]
			r.SetFaults(router.Faults{EditAfterWrites: router.After(1), Edits: []router.Edit{
				{
					Menu: menu, Command: "set", Args: router.Item{
						".id": id, "comment": "mine", "dst-host": "mine.example",
					},
				},
			}})
			k.must(k.admin, "PATCH", "/nas/services/"+service, map[string]any{"walledGarden": domains("b.example")})
			k.serviceIs(service, "active")
			r.SetFaults(router.Faults{})
			k.must(k.admin, "POST", "/nas/services/"+service+"/reconcile", nil)
			if diff := k.must(k.admin, "GET", "/nas/services/"+service+"/diff", nil); diff["inSync"] != true {
				t.Errorf("%s: %v", version, diff)
			}
			k.must(k.admin, "PATCH", "/nas/services/"+service, map[string]any{
				"walledGarden": domains("a.example", "b.example", "c.example"),
			})
			k.serviceIs(service, "active")
		}
		if mine := rowOf(r, menu, "comment", "mine"); mine["dst-host"] != "mine.example" {
			t.Errorf("%s: the operator's row is %v", version, mine)
		}
	}
}

// TestReconcile_AResourceInTheWayIsToldInTheRoutersWords: a resource that the router refuses as a duplicate belongs to
// the operator, and the write is not tried for ever. What was written before the refusal is taken away.
func TestReconcile_AResourceInTheWayIsToldInTheRoutersWords(t *testing.T) {
	t.Parallel()
	k := newKit(t).withRouters("7.16").start().signIn()
	r := k.register(0)
	before := foreign(r)
	r.SetFaults(router.Faults{EditAfterWrites: router.After(2), Edits: []router.Edit{{
		Menu: "ip/dhcp-server", Command: "add", Args: router.Item{"name": "mine", "interface": "ether4"},
	}}})
	service := k.must(k.admin, "POST", "/nas/devices/"+r.device+"/services",
		map[string]any{"type": "hotspot", "parentInterface": "ether4"}).text("id")
	k.serviceIs(service, "failed")
	shown := k.must(k.admin, "GET", "/nas/services/"+service, nil)
	if e, _ := shown["lastError"].(map[string]any); e["path"] != "ip/dhcp-server" ||
		!strings.Contains(answer(e).text("message"), "already exists") {
		t.Errorf("lastError %v", shown["lastError"])
	}
	if left := platformItems(r); len(left) != 0 {
		t.Errorf("the refused service left %v", left)
	}
	k.eventually("the refused write in the audit log", func(context.Context) (bool, error) {
		for _, e := range k.all(k.admin, "/audit-log?action=router.write") {
			d, _ := e["detail"].(map[string]any)
			if d["path"] == "ip/dhcp-server" && answer(e).text("outcome") == "refused" && answer(e).text("ip") != "" &&
				strings.Contains(answer(d).text("message"), "already exists") && answer(e).text("requestId") != "" {
				return true, nil
			}
		}
		return false, errors.New("there is none")
	})
	k.must(k.admin, "DELETE", "/nas/services/"+service, nil)
	if after := foreign(r); len(after["ip/dhcp-server"]) != len(before["ip/dhcp-server"])+1 ||
		len(platformItems(r)) != 0 {
		t.Errorf("after: %v, left %v", after["ip/dhcp-server"], platformItems(r))
	}
}

// TestService_WhereAnOperatorsServerIsAlreadyIsRefusedBeforeAnyWrite: a router has one DHCP server on an interface.
func TestService_WhereAnOperatorsServerIsAlreadyIsRefusedBeforeAnyWrite(t *testing.T) {
	t.Parallel()
	k := newKit(t).withRouters("7.16").start().signIn()
	r := k.register(0)
	for _, e := range []router.Edit{
		{Menu: "ip/dhcp-server", Command: "add", Args: router.Item{"name": "mine", "interface": "ether4"}},
		{Menu: "interface", Command: "set", Args: router.Item{"numbers": "ether5", "disabled": "yes"}},
	} {
		if _, err := r.Do(e.Menu, e.Command, e.Args); err != nil {
			t.Fatal(err)
		}
	}
	writes, path := r.Writes(), "POST /nas/devices/"+r.device+"/services"
	k.refused(k.admin, path, map[string]any{"type": "hotspot", "parentInterface": "ether4"}, 422, "invalid_input")
	k.refused(k.admin, path, map[string]any{"type": "pppoe", "parentInterface": "ether5"}, 422, "invalid_input")
	if r.Writes() != writes {
		t.Errorf("%d writes", r.Writes()-writes)
	}
}

// TestReconcile_AStoppedRunOverADeviceReportsNoServiceAsApplied, not even beside a service whose port became reserved.
func TestReconcile_AStoppedRunOverADeviceReportsNoServiceAsApplied(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DRIFT_CHECK_INTERVAL=1s").withRouters("7.16").start().signIn()
	r := k.register(0)
	k.service(r, map[string]any{"type": "pppoe", "parentInterface": "ether4"})
	drifted := k.service(r, map[string]any{"type": "pppoe", "parentInterface": "ether5"})
	pool := rowOf(r, "ip/pool", "name", "pool-svc-"+drifted[:8])
	for _, e := range []router.Edit{
		{Menu: "interface/list/member", Command: "add", Args: router.Item{"list": "WAN", "interface": "ether4"}},
		{Menu: "ip/pool", Command: "set", Args: router.Item{".id": pool[".id"], "ranges": "10.1.1.1-10.1.1.2"}},
	} {
		if _, err := r.Do(e.Menu, e.Command, e.Args); err != nil {
			t.Fatal(err)
		}
	}
	k.serviceIs(drifted, "degraded")
	r.SetFaults(router.Faults{DenyWrites: true})
	writes := r.Writes()
	k.refused(k.admin, "POST /nas/devices/"+r.device+"/reconcile", nil, 400, "reserved_interface")
	if r.Writes() != writes {
		t.Errorf("%d writes beside a reserved port", r.Writes()-writes)
	}
	member := rowOf(r, "interface/list/member", "interface", "ether4")
	if _, err := r.Do("interface/list/member", "remove", router.Item{".id": member[".id"]}); err != nil {
		t.Fatal(err)
	}
	k.refused(k.admin, "POST /nas/devices/"+r.device+"/reconcile", nil, 502, "router_refused")
	if now := k.must(k.admin, "GET", "/nas/services/"+drifted, nil); now.text("state") != "degraded" {
		t.Errorf("after a run that wrote nothing: %v", now)
	}
	r.SetFaults(router.Faults{})
	k.must(k.admin, "POST", "/nas/devices/"+r.device+"/reconcile", nil)
	k.eventually("the other service to be repaired", func(ctx context.Context) (bool, error) {
		now, err := k.admin.call(ctx, "GET", "/nas/services/"+drifted, "", nil)
		return now.text("state") == "active", err
	})
}

// TestService_OnARouterThatIsGoneCanBeGivenUp: otherwise neither the service nor the router could ever be deleted. A
// service on a router that answers cannot be given up.
func TestService_OnARouterThatIsGoneCanBeGivenUp(t *testing.T) {
	t.Parallel()
	k := newKit(t).withRouters("7.16").start().signIn()
	r := k.register(0)
	service, other := k.service(r, map[string]any{"type": "pppoe", "parentInterface": "ether4"}),
		k.service(r, map[string]any{"type": "pppoe", "parentInterface": "ether5"})
	k.must(k.admin, "DELETE", "/nas/services/"+other+"?confirm=true&abandon=true", nil)
	if rowOf(r, "ip/pool", "name", "pool-svc-"+other[:8]) != nil {
		t.Error("a router that answers was given up")
	}
	r.SetFaults(router.Faults{Refuse: true})
	k.refused(k.admin, "DELETE /nas/services/"+service+"?abandon=true", nil, 503, "device_unreachable")
	k.refused(k.admin, "DELETE /nas/services/"+service+"?confirm=true", nil, 503, "device_unreachable")
	k.must(k.admin, "DELETE", "/nas/services/"+service+"?confirm=true&abandon=true", nil)
	k.refused(k.admin, "GET /nas/services/"+service, nil, 404, "service_not_found")
	k.eventually("the router to be deleted", func(ctx context.Context) (bool, error) {
		_, err := k.admin.call(ctx, "DELETE", "/nas/devices/"+r.device, "", nil)
		return err == nil, err
	})
}
