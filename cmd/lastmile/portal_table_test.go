package main

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
)

// mayCall has the answers to a customer at one address: with the ids of the own things, and with those of another
// customer of the same organization. Foreign 0 means that the address names no thing.
type mayCall struct {
	own, foreign int
	body         func(h household) any // nil = none
}

// customersMay is the whole list of what a customer may call. At every other address with a sign-in the answer is 403,
// whatever it names.
func customersMay() map[string]mayCall {
	list, one := mayCall{own: 200}, mayCall{own: 200, foreign: 404}
	return map[string]mayCall{
		"GET /auth/me": list, "GET /auth/sessions": list, "DELETE /auth/sessions/:id": {own: 404, foreign: 404},
		"POST /auth/password":         {own: 400, body: func(household) any { return map[string]any{} }},
		"POST /auth/contacts":         {own: 422, body: func(household) any { return map[string]any{} }},
		"POST /auth/contacts/confirm": {own: 400, body: func(household) any { return map[string]any{} }},
		"PATCH /subscribers/:id": {own: 200, foreign: 404, body: func(household) any {
			return map[string]any{"onlyNeeded": true}
		}},
		"POST /me/devices/:id/wifi": {own: 404, foreign: 404, body: func(household) any { // they have none
			return map[string]any{"ssid": "Home", "password": "long enough"}
		}},
		"GET /paybill": list, "GET /me/subscribers": list, "GET /me/devices": list, "GET /subscribers/:id": one,
		"GET /subscribers/:id/access": one, "GET /subscribers/:id/personal-data": one,
		"GET /subscribers/:id/statement": one, "GET /subscribers/:id/statement/pdf": one,
		"GET /subscribers/:id/usage": one, "GET /subscriptions": list, "GET /subscriptions/:id": one,
		"GET /subscriptions/:id/upcoming": one, "GET /sessions": list, "GET /sessions/:id": one,
		"GET /invoices": list, "GET /invoices/:id": one, "GET /invoices/:id/pdf": one, "GET /credit-notes/:id/pdf": one,
		"GET /receipts": list, "GET /receipts/:id": one, "GET /receipts/:id/pdf": one,
		"GET /payments": list, "GET /payments/:id": one,
		"POST /payments/query": {own: 200, foreign: 404, body: func(h household) any {
			return map[string]any{"paymentId": h.payment}
		}},
		"GET /support-requests": list, "GET /support-requests/:id": one,
		"POST /support-requests": {own: 201, foreign: 404, body: func(h household) any {
			return map[string]any{"subscriberId": h.subscriber, "subject": "Slow", "text": "It is slow."}
		}},
		"POST /support-requests/:id/messages": {own: 201, foreign: 404, body: func(household) any {
			return map[string]any{"text": "It is slow."}
		}},
		"POST /support-requests/:id/close": {own: 200, foreign: 404, body: func(household) any {
			return map[string]any{}
		}},
		"POST /payments/initiate": {own: 202, foreign: 404, body: func(h household) any {
			return map[string]any{"subscriberId": h.subscriber, "amount": 11}
		}},
	}
}

// TestPortal_EveryAddressKeepsCustomersToWhatIsTheirs walks the whole table of routes as a customer, with the own
// things and with those of another customer. What is not in customersMay is 403: a new address without a decision fails
// here. No answer has a word of the other customer's, or one of staff.
func TestPortal_EveryAddressKeepsCustomersToWhatIsTheirs(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.paybillReady()
	own, foreign := k.households()
	k.seen(own.subscriber, map[string]string{"phone": own.phone})
	k.seen(foreign.subscriber, map[string]string{"phone": foreign.phone})
	customer := k.atPortal("acme", own.phone, 1)
	server, ok := (*k.app.door.inside.Load()).(*httpapi.Server)
	if !ok {
		t.Fatal("the door leads elsewhere")
	}
	left := customersMay()
	for _, r := range server.Routes() {
		if r.Access == httpapi.AccessPublic || r.Access == httpapi.AccessInternal ||
			r.Hosts&httpapi.OnOrganization == 0 {
			continue
		}
		call := r.Method + " " + r.Path
		may, known := left[call]
		delete(left, call)
		if !known {
			may = mayCall{own: 403, foreign: 403}
		}
		k.walk(customer, r, may, own, foreign)
	}
	if len(left) > 0 {
		t.Errorf("of the list, no route has %v", slices.Sorted(maps.Keys(left)))
	}
}

// walk tries one route as a customer.
func (k *kit) walk(c apiClient, r httpapi.Route, may mayCall, own, foreign household) {
	k.t.Helper()
	try := func(whose string, h household, status int) {
		k.t.Helper()
		var body any
		if may.body != nil {
			body = may.body(h)
		}
		got := apitest.Send(k.t, http.DefaultClient, k.addr, apitest.Request{
			Method: r.Method, Path: h.path(r.Path), Host: c.host, As: c.token, Body: body,
		})
		if got.Status != status {
			k.t.Errorf("%s %s, %s: %d, want %d: %.300s", r.Method, r.Path, whose, got.Status, status, got.Body)
		}
		if status == http.StatusForbidden && got.Code() != "role_required" {
			k.t.Errorf("%s %s, %s: %s", r.Method, r.Path, whose, got.Body)
		}
		k.says(r.Method+" "+r.Path+", "+whose, string(got.Body), foreign)
	}
	try("the own", own, may.own)
	if may.foreign != 0 {
		try("another customer's", foreign, may.foreign)
	}
}

// says fails when an answer to a customer has a word of another customer's, or one of staff. The id in the path of a
// request may come back in its failure alone, which has none.
func (k *kit) says(where, body string, foreign household) {
	k.t.Helper()
	for _, word := range slices.Concat(foreign.words(), k.staffWords()) {
		if word != "" && strings.Contains(body, word) {
			k.t.Errorf("%s: %q is in %.2000s", where, word, body)
		}
	}
}

// TestPortal_ListsHaveTheOwnRowsWhateverIsAskedFor: filters, pages and totals of lists reach no row of somebody else.
func TestPortal_ListsHaveTheOwnRowsWhateverIsAskedFor(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.paybillReady()
	own, foreign := k.households()
	k.seen(own.subscriber, map[string]string{"phone": own.phone})
	customer := k.atPortal("acme", own.phone, 1)
	for path, filters := range map[string][]string{
		"/invoices": {"state=issued", "state=partially_paid", "overdue=false", "number=ACME-0004", "limit=1"},
		"/receipts": {
			"state=allocated", "state=suspense", "receiptNumber=" + foreign.receiptNumber, "sort=oldest",
			"channel=cash",
		},
		"/payments":         {"status=SUCCESS", "receiptNumber=" + foreign.receiptNumber, "from=2000-01-01"},
		"/subscriptions":    {"state=active", "limit=1"},
		"/support-requests": {"state=open", "state=answered", "limit=1"},
		"/sessions":         {"username=" + foreign.username, "online=true", "access=full"},
	} {
		if rows := k.all(customer, path); len(rows) == 0 {
			t.Errorf("%s: nothing", path)
		}
		of := path + "?subscriberId=" + own.subscriber
		if mine, all := k.all(customer, of), k.all(customer, path); len(mine) != len(all) {
			t.Errorf("%s: %d rows, without the filter %d", path, len(mine), len(all))
		}
		k.refused(customer, "GET "+path+"?subscriberId="+foreign.subscriber, nil, 404, "subscriber_not_found")
		for _, filter := range filters {
			got := apitest.Send(t, http.DefaultClient, k.addr, apitest.Request{
				Path: path + "?" + filter, Host: customer.host, As: customer.token,
			})
			if got.Status != 200 {
				t.Errorf("%s?%s: %d %s", path, filter, got.Status, got.Body)
			}
			k.says(path+"?"+filter, string(got.Body), foreign)
		}
	}
	for _, path := range []string{
		"/invoices", "/receipts", "/payments", "/subscriptions", "/sessions", "/support-requests",
	} {
		rows := k.all(k.admin, path) // staff see both
		both := slices.ContainsFunc(rows, func(r answer) bool { return r.text("subscriberId") == foreign.subscriber })
		if !both {
			t.Errorf("%s: staff do not see the other customer", path)
		}
	}
}

// TestPortal_WhoSeesNothingYetFindsNothing: a user of the role subscriber whom nobody gave a subscriber.
func TestPortal_WhoSeesNothingYetFindsNothing(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	foreign, _ := k.subscriber("254711000079")
	nobody := apiClient{addr: k.addr, host: k.admin.host, token: k.staff(events.RoleSubscriber)}
	for _, path := range []string{
		"/me/subscribers", "/invoices", "/receipts", "/payments", "/subscriptions", "/sessions",
		"/support-requests",
	} {
		if rows := k.all(nobody, path); len(rows) != 0 {
			t.Errorf("%s: %v", path, rows)
		}
	}
	k.refused(nobody, "GET /subscribers/"+foreign, nil, 404, "subscriber_not_found")
	k.refused(nobody, "GET /invoices?subscriberId="+foreign, nil, 404, "subscriber_not_found")
	k.refused(nobody, "POST /payments/initiate", map[string]any{"subscriberId": foreign, "amount": 5}, 404,
		"subscriber_not_found")
}
