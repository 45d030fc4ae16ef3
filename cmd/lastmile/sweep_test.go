package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
)

// TestEveryEndpoint_RefusesBadRequests sends bad requests to every route of the running program: wrong hosts, missing
// and lower roles, malformed bodies, unknown ids, bad cursors. Every answer is 4xx, never 5xx.
func TestEveryEndpoint_RefusesBadRequests(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	server, ok := (*k.app.door.inside.Load()).(*httpapi.Server)
	if !ok {
		t.Fatal("the door leads elsewhere")
	}
	tokens := map[events.Role]string{events.RoleSuperAdmin: k.root.token, events.RoleAdmin: k.admin.token}
	for _, role := range []events.Role{events.RoleSupport, events.RoleSubscriber} {
		tokens[role] = k.staff(role)
	}
	apitest.Swept{
		Do: func(t testing.TB, r apitest.Request) apitest.Answer {
			t.Helper()
			return apitest.Send(t, http.DefaultClient, k.addr, r)
		},
		Routes: server.Routes(), Organization: k.admin.host, Root: k.root.host, Tokens: tokens,
	}.Sweep(t)
	if text := k.log.String(); strings.Contains(text, `"status":500`) || strings.Contains(text, "panic") {
		t.Error("something failed inside")
	}
}

// staff makes a user of a role in acme, changes the temporary password, and gives an access token.
func (k *kit) staff(role events.Role) string {
	k.t.Helper()
	email := string(role) + "@acme.test"
	k.must(k.admin, http.MethodPost, "/users", map[string]string{
		"email": email, "firstName": "Sam", "lastName": "Staff", "role": string(role),
		"temporaryPassword": "temporary-1",
	})
	c, _ := k.login("acme", email, "temporary-1")
	k.must(c, http.MethodPost, "/auth/password", map[string]string{
		"currentPassword": "temporary-1", "newPassword": testPassword,
	})
	return c.token
}
