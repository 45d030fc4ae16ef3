package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/lastmile-isp/lastmile/httpapi/apitest"
)

// staffFields are all fields of PATCH /subscribers/:id that staff alone change, each with a value that they could give.
func staffFields() map[string]any {
	return map[string]any{
		"firstName": "Zawadi", "lastName": "Nyumba", "phone": "+254711000599", "email": "z@home.test",
		"address": "Moi Avenue 1", "location": map[string]any{"latitude": -1, "longitude": 36}, "tags": []string{"vip"},
		"notes": "let me in", "externalRef": "CRM-1", "taxPin": "A123456789Z", "accountAliases": []string{"OLD-1"},
	}
}

// TestPortal_CustomersChooseHowTheyAreWrittenToAndNothingElse: every other field, with a value or with
// null, alone or beside one that they may choose, changes nothing.
func TestPortal_CustomersChooseHowTheyAreWrittenToAndNothingElse(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	own, _ := k.subscriber("254711000561")
	foreign, _ := k.subscriber("254711000562")
	k.seen(own, map[string]string{})
	customer := k.atPortal("acme", "+254711000561", 1)
	shown := func() string {
		t.Helper()
		r := k.must(k.admin, "GET", "/subscribers/"+own, nil)
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	before := shown()
	patch := "PATCH /subscribers/" + own
	for _, name := range slices.Sorted(maps.Keys(staffFields())) {
		for _, body := range []map[string]any{
			{name: staffFields()[name]}, {name: nil}, {name: staffFields()[name], "language": "sw", "onlyNeeded": true},
		} {
			k.refused(customer, patch, body, 403, "changed_by_staff")
		}
	}
	for _, body := range []map[string]any{{"FirstName": "Zawadi"}, {"PHONE": "+254711000599"}, {"Language": "sw"}} {
		k.refused(customer, patch, body, 422, "invalid_input")
	}
	k.refused(customer, patch, map[string]any{"balance": 0}, 422, "invalid_input")
	k.refused(customer, patch, map[string]any{"language": "fr"}, 422, "invalid_input")
	k.refused(customer, "PATCH /subscribers/"+foreign, map[string]any{"language": "sw"}, 404, "subscriber_not_found")
	if now := shown(); now != before {
		t.Errorf("refused writes changed\n%s\nto\n%s", before, now)
	}
	for _, step := range []struct {
		body       map[string]any
		language   any
		onlyNeeded bool
	}{
		{map[string]any{"language": "sw"}, "sw", false}, {map[string]any{"onlyNeeded": true}, "sw", true},
		{map[string]any{"language": nil, "onlyNeeded": false}, nil, false},
	} {
		made := k.must(customer, "PATCH", "/subscribers/"+own, step.body)
		mine := k.all(customer, "/me/subscribers")[0]
		if made["language"] != step.language || made["onlyNeeded"] != step.onlyNeeded || made["notes"] != nil ||
			mine["language"] != step.language || mine["onlyNeeded"] != step.onlyNeeded ||
			mine.text("timezone") != "Africa/Nairobi" {
			t.Errorf("%v: %v, then %v", step.body, made, mine)
		}
	}
	support := apiClient{addr: k.addr, host: k.admin.host, token: k.staff("support")}
	k.refused(support, patch, map[string]any{"language": "sw"}, 403, "role_required")
}

// TestPortal_CustomersReadWhereToPay: the number of the organization, and nothing of its agreement with the provider.
func TestPortal_CustomersReadWhereToPay(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.paybillReady()
	own, _ := k.subscriber("254711000563")
	k.seen(own, map[string]string{})
	customer := k.atPortal("acme", "+254711000563", 1)
	theirs, staff := k.must(customer, "GET", "/paybill", nil), k.must(k.admin, "GET", "/paybill", nil)
	if theirs.text("shortcode") == "" || theirs.text("shortcode") != staff.text("shortcode") || len(theirs) != 2 {
		t.Errorf("%v, of staff %v", theirs, staff)
	}
	k.refused(customer, "GET /settings/payment-gateway", nil, 403, "role_required")
}

// TestPortal_CustomersChangeTheirOneAddressByTwoCodes: what they see goes along, nothing of the subscriber changes, the
// old address opens nothing any more, and a second address beside the first one is refused.
func TestPortal_CustomersChangeTheirOneAddressByTwoCodes(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	const before, after, others = "+254711000564", "+254711000565", "+254711000566"
	own, _ := k.subscriber(before[1:])
	foreign, _ := k.subscriber(others[1:])
	k.seen(own, map[string]string{})
	k.seen(foreign, map[string]string{})
	customer, second := k.atPortal("acme", before, 1), k.atPortal("acme", before, 2)
	k.refused(customer, "POST /auth/contacts", map[string]any{"email": "amina@new.test"}, 422, "invalid_input")
	change := func(to string, old int) (status int, code string) {
		t.Helper()
		k.must(customer, "POST", "/auth/contacts", map[string]any{"phone": to})
		got := apitest.Send(t, http.DefaultClient, k.addr, apitest.Request{
			Method: "POST", Path: "/auth/contacts/confirm", Host: customer.host, As: customer.token,
			Body: map[string]any{
				"oldCode": k.codes("acme", before, old),
				"newCode": k.codes("acme", to, 1),
			},
		})
		return got.Status, got.Code()
	}
	if status, code := change(others, 3); status != 409 || code != "phone_taken" {
		t.Errorf("another customer's phone: %d %s", status, code)
	}
	if got := k.mine(customer); got != "["+own+"]" {
		t.Errorf("after that: %s", got)
	}
	if status, code := change(after, 4); status != 200 {
		t.Fatalf("the new phone: %d %s", status, code)
	}
	if got := k.mine(customer); got != "["+own+"]" {
		t.Errorf("sees %s", got)
	}
	k.refused(second, "GET /me/subscribers", nil, 401, "unauthenticated")
	if got := k.mine(k.atPortal("acme", after, 2)); got != "["+own+"]" {
		t.Errorf("by the new phone: %s", got)
	}
	k.must(k.client("acme"), "POST", "/auth/otp/send", map[string]string{"identifier": before})
	k.refused(k.client("acme"), "POST /auth/otp/verify", map[string]string{"identifier": before, "code": "123456"}, 401,
		"wrong_code")
	if phone := k.must(k.admin, "GET", "/subscribers/"+own, nil).text("phone"); phone != before {
		t.Errorf("the contact became %s", phone)
	}
	given := k.must(k.admin, "GET", "/subscribers/"+own+"/portal-access", nil).list("signIns")
	if len(given) != 1 || given[0].text("phone") != after {
		t.Errorf("staff see %v", given)
	}
	k.seen(foreign, map[string]string{"phone": before}) // nobody has it now
}
