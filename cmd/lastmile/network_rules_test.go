package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// errorOf sends a request that has to fail, and gives the answer with status and code.
func (k *kit) errorOf(c apiClient, method, path string, body any) *apiError {
	k.t.Helper()
	_, err := c.call(k.t.Context(), method, path, "", body)
	var no *apiError
	if !errors.As(err, &no) {
		k.t.Fatalf("%s %s: %v, want a failure", method, path, err)
	}
	return no
}

// badService is a request for a service that is refused, with the status and a part of the text of the answer.
type badService struct {
	body   map[string]any
	status int
	says   string
}

// pppoe asks for a service on an interface; more are its other fields, names and values in turns.
func pppoe(port string, more ...any) map[string]any {
	body := map[string]any{"type": "pppoe", "parentInterface": port}
	for i := 0; i < len(more); i += 2 {
		body[fmt.Sprint(more[i])] = more[i+1]
	}
	return body
}

// badServices are the faults that a request may have, on a router where ether4 is taken with 10.60.0.0/24.
func badServices() map[string]badService {
	garden := map[string]any{"domains": []string{"example.com"}}
	return map[string]badService{
		"reserved: DHCP client": {pppoe("ether1"), 400, "reserved_interface"},
		"reserved: bridge":      {pppoe("bridge"), 400, "reserved_interface"},
		"no type":               {map[string]any{"parentInterface": "ether5"}, 400, "type"},
		"unknown type":          {map[string]any{"type": "ipoe", "parentInterface": "ether5"}, 422, "type"},
		"unknown interface":     {pppoe("ether99"), 422, "parentInterface"},
		"VLAN out of range":     {pppoe("ether5", "vlanId", 4095), 422, "vlanId"},
		"VLAN 0":                {pppoe("ether5", "vlanId", 0), 422, "vlanId"},
		"overlap":               {pppoe("ether5", "subnet", "10.60.0.128/25"), 422, "subnet"},
		"overlap with the LAN":  {pppoe("ether5", "subnet", "192.168.88.0/25"), 422, "subnet"},
		"host bits":             {pppoe("ether5", "subnet", "10.61.0.1/24"), 422, "subnet"},
		"pool outside": {
			pppoe("ether5", "subnet", "10.61.0.0/24", "poolStart", "10.62.0.2"), 422, "poolStart",
		},
		"gateway inside pool": {
			pppoe("ether5", "subnet", "10.61.0.0/24", "gateway", "10.61.0.9", "poolStart", "10.61.0.2", "poolEnd",
				"10.61.0.20"), 422, "gateway",
		},
		"garden without customers": {
			pppoe("ether5", "type", "cpe-management", "walledGarden", garden), 422, "walledGarden",
		},
		"unknown field":          {pppoe("ether5", "colour", "red"), 422, "colour"},
		"another service's port": {pppoe("ether4"), 409, "interface_in_use"},
	}
}

// TestService_BadInputIsRefusedBeforeAnyWrite names the field, and leaves the router as it was.
func TestService_BadInputIsRefusedBeforeAnyWrite(t *testing.T) {
	t.Parallel()
	k := newKit(t).withRouters("7.16").start().signIn()
	r := k.register(0)
	path := "/nas/devices/" + r.device + "/services"
	first := k.service(r, map[string]any{"type": "pppoe", "parentInterface": "ether4", "subnet": "10.60.0.0/24"})
	writes := r.Writes()
	for name, c := range badServices() {
		if no := k.errorOf(k.admin, "POST", path, c.body); no.Status != c.status || !strings.Contains(no.Body, c.says) {
			t.Errorf("%s: %v, want %d with %q", name, no, c.status, c.says)
		}
	}
	if _, err := r.Do("interface/list/member", "add", router.Item{"list": "WAN", "interface": "ether4"}); err != nil {
		t.Fatal(err)
	}
	if no := k.errorOf(k.admin, "POST", "/nas/services/"+first+"/reconcile", nil); no.Code != "reserved_interface" ||
		no.Status != 400 {
		t.Errorf("reconcile on a port that became reserved: %v", no)
	}
	if r.Writes() != writes {
		t.Errorf("%d writes", r.Writes()-writes)
	}
}

// TestService_DisruptiveChangeNeedsConfirmation: the refusal has the number of customers who would be disconnected;
// with confirmation new resources replace the old ones. Any other change leaves everybody online.
func TestService_DisruptiveChangeNeedsConfirmation(t *testing.T) {
	t.Parallel()
	k := newKit(t).withRouters("7.16").start().signIn()
	r := k.register(0)
	service := k.service(r, map[string]any{"type": "pppoe", "parentInterface": "ether4"})
	path := "/nas/services/" + service
	for i, user := range []string{"jane", "joe"} {
		if _, err := r.Connect(router.Session{Kind: "pppoe", User: user, Server: "pppoe-svc-" + service[:8],
			Address: fmt.Sprintf("10.50.0.%d", i+2)}); err != nil {
			t.Fatal(err)
		}
	}
	changed := k.must(k.admin, "PATCH", path, map[string]any{"subnet": "10.70.0.0/24"})
	k.serviceIs(service, "active")
	if changed.text("poolStart") != "10.70.0.2" || r.Summary().Sessions != 2 {
		t.Errorf("after another subnet: %v, %d sessions", changed, r.Summary().Sessions)
	}
	move := map[string]any{"parentInterface": "ether5", "vlanId": 100}
	for _, try := range []struct {
		method, path string
		body         any
	}{{"PATCH", path, move}, {"PATCH", path + "?confirm=false", move}, {"DELETE", path, nil}} {
		no := k.errorOf(k.admin, try.method, try.path, try.body)
		if no.Status != 409 || no.Code != "confirmation_required" ||
			!strings.Contains(no.Body, `"affectedSessions":2`) {
			t.Errorf("%s %s: %v", try.method, try.path, no)
		}
	}
	k.must(k.admin, "PATCH", path+"?confirm=true", move)
	k.serviceIs(service, "active")
	after := k.must(k.admin, "GET", path, nil)
	if after.text("parentInterface") != "ether5" || fmt.Sprint(after["vlanId"]) != "100" || r.Summary().Sessions != 0 {
		t.Errorf("after re-creation: %v, %d sessions", after, r.Summary().Sessions)
	}
	for _, server := range r.Snapshot(false)["interface/pppoe-server/server"] {
		if server["interface"] != "vlan-svc-"+service[:8] {
			t.Errorf("server left on %s", server["interface"])
		}
	}
}

// namesBreaker checks that the breaker of a router names it, and on the root host its organization, too.
func (k *kit) namesBreaker(device string, own answer) {
	k.t.Helper()
	named := fmt.Sprint(own["device"], own["organization"])
	name := k.must(k.admin, "GET", "/nas/devices/"+device, nil).text("name")
	if want := fmt.Sprint(map[string]any{"id": device, "name": name}, nil); named != want {
		k.t.Errorf("named %s, want %s", named, want)
	}
	root := k.must(k.root, "GET", "/platform/breakers", nil).list("data")
	at := slices.IndexFunc(root, func(b answer) bool { return b.text("target") == device })
	if at < 0 {
		k.t.Fatalf("on the root host: %v", root)
	}
	if owner, _ := root[at]["organization"].(map[string]any); owner["slug"] != "acme" || owner["name"] == "" {
		k.t.Errorf("on the root host: %v", root[at])
	}
}

// TestRouter_RefusalAndSilenceAreToldWordForWord in the answer, in the service and in the fleet.
func TestRouter_RefusalAndSilenceAreToldWordForWord(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	now := clock.NewMovable(clock.System(), 0)
	k.clock = now
	k.withRouters("7.16").start().signIn()
	r := k.register(0)
	service := k.service(r, map[string]any{"type": "pppoe", "parentInterface": "ether4"})
	r.SetFaults(router.Faults{DenyWrites: true})
	k.must(k.admin, "PATCH", "/nas/services/"+service, map[string]any{"subnet": "10.70.0.0/24"})
	k.serviceIs(service, "failed")
	shown := k.must(k.admin, "GET", "/nas/services/"+service, nil)
	if e, _ := shown["lastError"].(map[string]any); e["message"] != "not enough permissions (9)" ||
		e["operation"] != "set" {
		t.Errorf("lastError %v", shown["lastError"])
	}
	if no := k.errorOf(k.admin, "POST", "/nas/services/"+service+"/reconcile",
		nil); no.Status != 502 || no.Code != "router_refused" ||
		!strings.Contains(no.Body, "not enough permissions (9)") {
		t.Errorf("reconcile: %v", no)
	}
	r.SetFaults(router.Faults{})
	k.must(k.admin, "POST", "/nas/services/"+service+"/reconcile", nil)
	k.serviceIs(service, "active")

	r.SetFaults(router.Faults{Refuse: true})
	for range 6 { // opens the breaker
		if no := k.errorOf(k.admin, "GET", "/nas/devices/"+r.device+"/resource", nil); no.Status != 503 ||
			no.Code != "device_unreachable" {
			t.Fatalf("without an answer: %v", no)
		}
	}
	open := k.must(k.admin, "GET", "/platform/breakers", nil).list("data")
	if len(open) != 1 || open[0].text("target") != r.device || open[0].text("state") != "open" {
		t.Errorf("breakers %v", open)
	}
	k.namesBreaker(r.device, open[0])
	k.eventually("the router to be shown as unreachable", func(ctx context.Context) (bool, error) {
		d, err := k.admin.call(ctx, "GET", "/nas/devices/"+r.device, "", nil)
		return d["unreachableSince"] != nil, err
	})
	ping := k.must(k.admin, "POST", "/nas/devices/"+r.device+"/ping", nil)
	if words := ping.text("error"); ping["reachable"] != false || !strings.HasPrefix(words, "Router not reached: ") {
		t.Errorf("ping %v", ping)
	}
	k.tellsSilence(r.device)
	r.SetFaults(router.Faults{})
	now.Advance(breakerPatience)
	k.must(k.admin, "POST", "/nas/devices/"+r.device+"/ping", nil)
	k.eventually("the router to be shown as recovered", func(ctx context.Context) (bool, error) {
		d, err := k.admin.call(ctx, "GET", "/nas/devices/"+r.device, "", nil)
		return d["unreachableSince"] == nil, err
	})
}

// tellsSilence checks that a router whose breaker is open has no figures, and no words of the program's inside.
func (k *kit) tellsSilence(device string) {
	k.t.Helper()
	silent := k.must(k.admin, "GET", "/nas/devices/"+device, nil)
	poll, _ := silent["poll"].(map[string]any)
	for _, name := range []string{"activeSessions", "cpuPercent", "memoryPercent", "responseMs"} {
		if n, told := poll[name]; !told || n != nil {
			k.t.Errorf("a router that was silent has %s %v", name, n)
		}
	}
	no := k.errorOf(k.admin, "GET", "/nas/devices/"+device+"/resource", nil)
	if no.Status != 503 || !strings.Contains(no.Body, "left alone for a while") ||
		strings.Contains(no.Body, "breaker") || strings.Contains(no.Body, "dial") {
		k.t.Errorf("while the breaker is open: %v", no)
	}
}

// strangers gives the admin of another organization, and a user of this one with the role support.
func (k *kit) strangers() (other, support apiClient) {
	k.t.Helper()
	first := map[string]string{"currentPassword": "temporary-1", "newPassword": testPassword}
	k.must(k.root, "POST", "/orgs", map[string]any{"slug": "other", "name": "Other", "admin": map[string]string{
		"email": "admin@other.test", "firstName": "Otto", "temporaryPassword": "temporary-1",
	}})
	other, _ = k.login("other", "admin@other.test", "temporary-1")
	k.must(other, "POST", "/auth/password", first)
	k.must(k.admin, "POST", "/users", map[string]string{
		"email": "support@acme.test", "firstName": "Sam", "role": "support", "temporaryPassword": "temporary-1",
	})
	support, _ = k.login("acme", "support@acme.test", "temporary-1")
	k.must(support, "POST", "/auth/password", first)
	return other, support
}

// callsOf lists all requests without body about one router and one service on it, as "METHOD path".
func callsOf(device, service string) []string {
	return []string{
		"GET " + device, "PATCH " + device, "DELETE " + device, "POST " + device + "/ping",
		"POST " + device + "/rotate-secrets", "GET " + device + "/bootstrap-script", "GET " + device + "/interfaces",
		"GET " + device + "/sessions", "GET " + device + "/leases", "GET " + device + "/queues",
		"GET " + device + "/resource",
		"POST " + device + "/reboot", "POST " + device + "/reconcile", "GET " + device + "/drift",
		"GET " + device + "/services", "GET " + device + "/history", "GET " + device + "/firewall",
		"POST " + device + "/firewall/reconcile", "GET " + device + "/polls", "GET " + service, "PATCH " + service,
		"DELETE " + service + "?confirm=true", "POST " + service + "/reconcile", "GET " + service + "/diff",
		"GET " + service + "/history",
	}
}

// TestDevice_BelongsToOneOrganization: nobody else sees, names or reaches it; support staff neither.
func TestDevice_BelongsToOneOrganization(t *testing.T) {
	t.Parallel()
	k := newKit(t).withRouters("7.16").start().signIn()
	r := k.register(0)
	service := k.service(r, map[string]any{"type": "pppoe", "parentInterface": "ether4"})
	other, support := k.strangers()
	device, one := "/nas/devices/"+r.device, "/nas/services/"+service
	writes := r.Writes()
	for _, call := range callsOf(device, one) {
		k.refused(other, call, nil, 404, "")
		k.refused(support, call, nil, 403, "")
	}
	k.refused(other, "POST "+device+"/services", pppoe("ether5"), 404, "device_not_found")
	for _, path := range []string{"/nas/devices", "/nas/fleet", "/outbox"} {
		if list := k.must(other, "GET", path, nil).list("data"); len(list) != 0 {
			t.Errorf("GET %s shows %v to another organization", path, list)
		}
		k.refused(support, "GET "+path, nil, 403, "")
	}
	if r.Writes() != writes {
		t.Errorf("%d writes by others", r.Writes()-writes)
	}
	text := fmt.Sprint(k.must(k.admin, "GET", device, nil))
	for _, secret := range []string{routerPassword, "radiussecret"} {
		if strings.Contains(text, secret) {
			t.Errorf("a secret is shown: %s", text)
		}
	}
	k.refused(k.admin, "DELETE "+device, nil, 409, "device_has_services")
	k.must(k.admin, "DELETE", one, nil)
	k.must(k.admin, "DELETE", device, nil)
	k.refused(k.admin, "GET "+device, nil, 404, "device_not_found")
	bare := k.must(k.admin, "POST", "/nas/devices", map[string]any{
		"name": "bare", "ipAddress": "203.0.113.9", "radiusSecret": "x",
	})
	if bare["hasApiCredentials"] != false {
		t.Errorf("bare: %v", bare)
	}
	if rows := k.must(k.admin, "GET", "/nas/fleet", nil).list("data"); len(rows) != 1 ||
		rows[0]["reachable"] != false || rows[0]["error"] == nil {
		t.Errorf("fleet without credentials: %v", rows)
	}
}
