package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestPatch_NullRemovesOrIsRefused: null in the change of a router, a service, a user or an organization removes what
// is there or gives its default, and is refused by name where there must be something.
func TestPatch_NullRemovesOrIsRefused(t *testing.T) {
	t.Parallel()
	k := newKit(t).withRouters("7.16").start().signIn()
	r := k.register(0)
	service := k.service(r, pppoe("ether4", "poolEnd", "10.60.0.9", "subnet", "10.60.0.0/24",
		"walledGarden", map[string]any{"domains": []string{"shop.example"}}))
	router, served := "/nas/devices/"+r.device, "/nas/services/"+service
	user := k.must(k.admin, "POST", "/users", map[string]any{
		"email": "nia@acme.test", "firstName": "Nia", "role": "support", "temporaryPassword": "for the first day",
	}).text("id")
	for _, c := range []struct{ path, field string }{
		{router, "name"}, {router, "ipAddress"}, {router, "radiusSecret"},
		{served, "type"}, {served, "parentInterface"}, {"/users/" + user, "role"},
	} {
		no := k.errorOf(k.admin, "PATCH", c.path, map[string]any{c.field: nil})
		if no.Status != 422 || !strings.Contains(no.Body, `"`+c.field) {
			t.Errorf("%s null: %v, want 422 with the field", c.field, no)
		}
	}
	org := k.must(k.root, "GET", "/orgs", nil).list("data")[0].text("id")
	k.refused(k.root, "PATCH /orgs/"+org, map[string]any{"name": nil}, 422, "invalid_input")

	changed := k.must(k.admin, "PATCH", served, map[string]any{"walledGarden": nil, "vlanId": nil, "poolEnd": nil})
	if got := fmt.Sprint(changed["walledGarden"], changed["vlanId"], " ", changed["poolEnd"]); got !=
		"map[addresses:[] domains:[]] <nil> 10.60.0.254" {
		t.Errorf("service after null: %s", got)
	}
	k.must(k.admin, "PATCH", router, map[string]any{"coaPort": 3800, "requireMessageAuthenticator": true})
	changed = k.must(k.admin, "PATCH", router, map[string]any{
		"coaPort": nil, "apiPort": nil, "requireMessageAuthenticator": nil, "managementAddress": nil,
		"apiPassword": nil,
	})
	if got := fmt.Sprint(changed["coaPort"], changed["apiPort"], changed["requireMessageAuthenticator"],
		changed["managementAddress"], changed["hasApiCredentials"]); got != "3799 80 false <nil> false" {
		t.Errorf("router after null: %s", got)
	}
}
