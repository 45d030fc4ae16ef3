package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// permission is one endpoint about access, with a body that it takes, and what its callers get.
type permission struct {
	call   string // such as "GET /sessions/{session}", with names of the ISP's own things
	lowest string // role that may call it; "" = everybody
	status int    // that an admin gets
	body   any
}

// permissions are those of the endpoints about access. Support reads, an admin writes; logins of customers are an
// admin's in both directions, and a customer sees the own things alone (docs/rules/http.md#roles-by-default).
func permissions() []permission {
	now := time.Now().UTC()
	day := func(n int) string { return now.AddDate(0, 0, n).Format(time.RFC3339) }
	reason := map[string]any{"reason": "a test"}
	policy := map[string]any{"policy": map[string]any{}, "from": day(-2), "to": day(-1)}
	return []permission{
		{"GET /sessions", "subscriber", 200, nil},
		{"GET /sessions?ip=100.64.0.9&at=" + day(-1), "support", 200, nil},
		{"GET /sessions/{session}", "subscriber", 200, nil},
		{"GET /subscribers/{subscriber}/access", "subscriber", 200, nil},
		{"GET /subscribers/{subscriber}/usage", "subscriber", 200, nil},
		{"GET /nas/devices/{device}/refusals", "support", 200, nil},
		{"GET /nas/devices/{device}/refused-sign-ins", "support", 200, nil},
		{"GET /subscriptions/{subscription}/credentials", "admin", 200, nil},
		{"POST /subscriptions/{subscription}/credentials", "admin", 200, map[string]any{"password": "another-one"}},
		{"PATCH /subscriptions/{subscription}", "admin", 200, map[string]any{"macAddresses": []string{}}},
		{"POST /subscriptions/{subscription}/hold", "admin", 200, map[string]any{"until": day(1), "reason": "ill"}},
		{"DELETE /subscriptions/{subscription}/hold", "admin", 204, nil},
		{"GET /subscriptions/{subscription}/top-ups", "support", 200, nil},
		{"POST /subscriptions/{subscription}/top-ups", "admin", 201, map[string]any{"bytes": 5, "reason": "gift"}},
		{"GET /dunning", "support", 200, nil},
		{"GET /settings/dunning", "support", 200, nil},
		{"PUT /settings/dunning", "admin", 200, map[string]any{"default": map[string]any{"graceDays": 4}}},
		{"POST /settings/dunning/preview", "admin", 200, policy},
		{"GET /access-differences", "support", 200, nil},
		{"GET /access-audits", "support", 200, nil},
		{"POST /access-differences/{difference}/repair", "admin", 404, nil},
		{"POST /access-audits", "admin", 202, map[string]any{}},
		{"GET /vouchers", "support", 200, nil},
		{"POST /vouchers", "admin", 201, map[string]any{"planId": "{plan}", "count": 1}},
		{"POST /vouchers/{code}/void", "admin", 200, reason},
		{"GET /messages", "support", 200, nil},
		{"GET /pay", "", 200, nil},
		{"POST /pay", "", 202, map[string]any{"account": "10000016"}},
		{"GET /dev/messages", "", 200, nil},
		{"POST /sessions/{session}/disconnect", "admin", 200, reason},
	}
}

// TestAccess_EachRoleMayWhatIsItsOwn asks every endpoint about access as nobody, with a key that is no session, as a
// customer, as support, as the admin of another organization, and then as admin.
func TestAccess_EachRoleMayWhatIsItsOwn(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	things := k.ownThings()
	as := func(token string) apiClient { return apiClient{addr: k.addr, host: k.admin.host, token: token} }
	support, customer := as(k.staff(events.RoleSupport)), as(k.staff(events.RoleSubscriber))
	stranger := k.organization("beta", "admin@beta.test")
	intruder := as(stranger.token) // at our host
	list := permissions()
	for i, p := range list {
		list[i].call = things.Replace(p.call)
		if body, ok := p.body.(map[string]any); ok && body["planId"] != nil {
			body["planId"] = things.Replace("{plan}")
		}
	}
	for i, p := range list {
		denied := func(who string, c apiClient, status int) {
			t.Helper()
			if got := k.statusFor(c, p); got != status {
				t.Errorf("%s: %s gets %d, not %d", permissions()[i].call, who, got, status)
			}
		}
		if p.lowest == "" {
			denied("nobody", as(""), p.status)
			continue
		}
		denied("nobody", as(""), 401)
		denied("a key", as("lm_live_7d6f1c3a9b"), 401)
		denied("another organization's admin at our host", intruder, 401)
		switch named := strings.Contains(permissions()[i].call, "{"); {
		case p.lowest == "subscriber" && named:
			denied("a customer who is somebody else", customer, 404)
		case p.lowest == "subscriber":
			denied("a customer, who sees the own rows", customer, p.status)
		default:
			denied("a customer", customer, 403)
		}
		if p.lowest == "admin" {
			denied("support", support, 403)
		} else {
			denied("support", support, p.status)
		}
		if strings.Contains(permissions()[i].call, "{") {
			denied("another organization's admin", stranger, 404)
		}
	}
	for i, p := range list {
		if got := k.statusFor(k.admin, p); got != p.status {
			t.Errorf("%s: an admin gets %d, not %d", permissions()[i].call, got, p.status)
		}
	}
}

// TestAccess_TheClockIsASuperAdmins asks for the clock at the root host, and at an organization's.
func TestAccess_TheClockIsASuperAdmins(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	for _, p := range []permission{
		{call: "GET /dev/clock"}, {call: "POST /dev/clock", body: map[string]any{"advance": "1s"}},
	} {
		for token, status := range map[string]int{
			"": 401, "lm_live_7d6f1c3a9b": 401, k.admin.token: 401, k.root.token: 200,
		} {
			if got := k.statusFor(apiClient{addr: k.addr, host: k.root.host, token: token}, p); got != status {
				t.Errorf("%s: %d, not %d", p.call, got, status)
			}
		}
		if got := k.statusFor(k.admin, p); got != 404 {
			t.Errorf("%s at an organization's host: %d", p.call, got)
		}
	}
}

// statusFor sends a request and gives the status of the answer.
func (k *kit) statusFor(c apiClient, p permission) int {
	k.t.Helper()
	method, path, _ := strings.Cut(p.call, " ")
	return apitest.Send(k.t, http.DefaultClient, k.addr, apitest.Request{
		Method: method, Path: path, Host: c.host, As: c.token, Body: p.body,
	}).Status
}

// ownThings makes one of each thing that endpoints about access name, and gives their ids for the names.
func (k *kit) ownThings() *strings.Replacer {
	k.t.Helper()
	c := k.capped(k.admin, k.connect(k.admin, "secret-of-acme", "amina"))
	k.report(c, rfc2865.Class_Get(k.online(c)), told{
		session: "81000001", mac: "AA-BB-CC-00-11-22", ip: "100.64.0.9",
		status: rfc2866.AcctStatusType_Value_Start,
	})
	session := k.must(k.admin, "GET", "/sessions?online=true&subscriberId="+c.subscriber, nil).list("data")[0]
	plan := k.must(k.admin, "POST", "/plans", map[string]any{
		"code": "day", "name": "A day", "kind": "hotspot", "price": 50, "currency": "KES",
		"billing": map[string]string{"mode": "prepaid", "period": "day"},
		"rates":   map[string]any{"down": 4000, "up": 1000},
	}).text("id")
	code := k.must(k.admin, "POST", "/vouchers", map[string]any{"planId": plan, "count": 1})["codes"].([]any)[0]
	return strings.NewReplacer(
		"{session}", session.text("id"), "{subscriber}", c.subscriber, "{subscription}", c.subscription,
		"{device}", session.text("deviceId"), "{plan}", plan, "{code}", code.(string),
		"{difference}", id.New[id.Difference]().String(),
	)
}

// TestAccess_EveryEndpointHasItsPermission: an endpoint about access that is new gets a row in the table.
func TestAccess_EveryEndpointHasItsPermission(t *testing.T) {
	t.Parallel()
	k := newKit(t).start()
	server, ok := (*k.app.door.inside.Load()).(*httpapi.Server)
	if !ok {
		t.Fatal("the door leads elsewhere")
	}
	var known []string
	for _, p := range permissions() {
		call, _, _ := strings.Cut(p.call, "?")
		for _, name := range []string{"session", "subscriber", "subscription", "device", "difference"} {
			call = strings.ReplaceAll(call, "{"+name+"}", ":id")
		}
		known = append(known, strings.ReplaceAll(call, "{code}", ":code"))
	}
	about := func(path string) bool {
		first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		last := path[strings.LastIndexByte(path, '/')+1:]
		return slices.Contains([]string{"sessions", "dunning", "access-differences", "access-audits", "vouchers", "pay",
			"messages"}, first) || strings.HasPrefix(path, "/settings/dunning") ||
			slices.Contains([]string{"access", "usage", "hold", "top-ups", "credentials", "refusals"}, last)
	}
	for _, r := range server.Routes() {
		call := r.Method + " " + r.Path
		if about(r.Path) && r.Method != http.MethodHead && !slices.Contains(known, call) {
			t.Errorf("%s has no row", call)
		}
	}
}
