package main

import (
	"context"
	"slices"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
)

// TestPortal_AnAddressThatStaffNamedSeesTheSubscriberByItsCode: at the host of the organization, and from the root host
// by the choice of it. The same phone at two organizations is two people who see nothing of each other.
func TestPortal_AnAddressThatStaffNamedSeesTheSubscriberByItsCode(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	beta := k.organization("beta", "admin@beta.test")
	const phone = "254711000501"
	house, account := k.subscriber(phone)
	flat := k.must(beta, "POST", "/subscribers", map[string]any{"firstName": "Omar", "phone": "+" + phone}).text("id")
	given := k.seen(house, map[string]string{}) // the own contact
	if rows := given.list("signIns"); len(rows) != 1 || rows[0].text("phone") != "+"+phone || rows[0]["email"] != nil {
		t.Fatalf("given: %v", given)
	}
	k.must(beta, "POST", "/subscribers/"+flat+"/portal-access", map[string]string{"phone": "0711000501"})
	customer := k.atPortal("acme", "+"+phone, 1)
	rows := k.all(customer, "/me/subscribers")
	if len(rows) != 1 || rows[0].text("id") != house || rows[0].text("accountNumber") != account ||
		number(rows[0], "balance") != "0.00" || len(rows[0].list("subscriptions")) != 0 {
		t.Errorf("sees %v", rows)
	}
	me := k.must(customer, "GET", "/auth/me", nil)
	if me.text("phone") != "+"+phone || me["email"] != nil || me.text("role") != "subscriber" {
		t.Errorf("signed in as %v", me)
	}
	k.refused(customer, "GET /subscribers/"+flat, nil, 404, "subscriber_not_found")
	stranger := apiClient{addr: k.addr, host: beta.host, token: customer.token}
	k.refused(stranger, "GET /me/subscribers", nil, 401, "unauthenticated")

	root := k.client("")
	k.must(root, "POST", "/auth/otp/send", map[string]string{"identifier": phone})
	choice := k.must(root, "POST", "/auth/otp/verify", map[string]string{
		"identifier": phone, "code": k.codes("", "+"+phone, 2),
	})
	orgs := choice.list("organizations")
	if len(orgs) != 2 || orgs[0].text("role") != "subscriber" || orgs[1].text("slug") != "beta" {
		t.Fatalf("the choice: %v", choice)
	}
	there := k.client("beta")
	in := k.must(there, "POST", "/auth/otp/complete", map[string]string{
		"verifiedToken": choice.text("verifiedToken"), "orgId": orgs[1].text("id"),
	})
	there.token = in.text("accessToken")
	if got := k.mine(there); got != "["+flat+"]" {
		t.Errorf("at the other organization: %s", got)
	}
}

// TestPortal_AccessEndsAtOnce: in the session that is open, for codes that are asked for later, and for codes that are
// on their way.
func TestPortal_AccessEndsAtOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	house, _ := k.subscriber("254711000511")
	shop, _ := k.subscriber("254711000512")
	user := k.seen(house, map[string]string{"email": "Wanja@Home.test"}).list("signIns")[0].text("userId")
	again := k.seen(shop, map[string]string{"email": "wanja@home.test"}).list("signIns")
	if again[0].text("userId") != user {
		t.Errorf("another user: %v", again)
	}
	customer := k.atPortal("acme", "wanja@home.test", 1)
	acme := k.client("acme")
	proof := map[string]string{"identifier": "wanja@home.test"}
	k.must(acme, "POST", "/auth/otp/send", proof)
	proof["code"] = k.codes("acme", "wanja@home.test", 2) // on its way
	end := func(subscriber string) {
		t.Helper()
		k.must(k.admin, "DELETE", "/subscribers/"+subscriber+"/portal-access/"+user, nil)
	}
	end(house)
	k.refused(customer, "GET /subscribers/"+house, nil, 404, "subscriber_not_found")
	if got := k.mine(customer); got != "["+shop+"]" {
		t.Errorf("sees %s", got)
	}
	end(shop)
	end(shop) // a repeat changes nothing
	k.refused(customer, "GET /me/subscribers", nil, 401, "unauthenticated")
	k.refused(acme, "POST /auth/otp/verify", proof, 401, "wrong_code")
	list := k.must(k.admin, "GET", "/subscribers/"+house+"/portal-access", nil)
	if len(list.list("signIns")) != 0 {
		t.Errorf("still listed: %v", list)
	}
	k.seen(shop, map[string]string{"email": "wanja@home.test"})
	k.refused(customer, "GET /me/subscribers", nil, 401, "unauthenticated") // the session of before stays over
	if got := k.mine(k.atPortal("acme", "wanja@home.test", 3)); got != "["+shop+"]" {
		t.Errorf("after access was given again: %s", got)
	}
	k.toldOfPortal(shop)
}

// toldOfPortal wants both acts on the timeline of a subscriber and in the audit log, by their administrator.
func (k *kit) toldOfPortal(subscriber string) {
	k.t.Helper()
	k.eventually("the timeline to tell it", func(context.Context) (bool, error) {
		var told []string
		for _, row := range k.all(k.admin, "/subscribers/"+subscriber+"/timeline?type=identity") {
			told = append(told, row.text("code")+" by "+row.at("actor.role"))
		}
		want := []string{
			"portal_access_given by admin", "portal_access_ended by admin", "portal_access_given by admin",
		}
		return slices.Equal(told, want), nil
	})
	for _, action := range []string{"identity.GivePortalAccess", "identity.EndPortalAccess"} {
		if rows := k.all(k.admin, "/audit-log?action="+action); len(rows) == 0 || rows[0].at("actor.role") != "admin" {
			k.t.Errorf("the audit log has %v", rows)
		}
	}
}

// TestPortal_OnlyAdministratorsOfTheOrganizationGiveIt: no other role, no key, no other organization, and no address of
// staff.
func TestPortal_OnlyAdministratorsOfTheOrganizationGiveIt(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	beta := k.organization("beta", "admin@beta.test")
	house, _ := k.subscriber("254711000521")
	path := "/subscribers/" + house + "/portal-access"
	as := func(token string) apiClient { return apiClient{addr: k.addr, host: k.admin.host, token: token} }
	support := as(k.staff(events.RoleSupport))
	phone := map[string]string{"phone": "+254711000521"}
	user := k.seen(house, phone).list("signIns")[0].text("userId")
	customer := k.atPortal("acme", "+254711000521", 1)
	_, key := k.apiKey(map[string]any{"role": "admin"})
	for _, call := range []string{"POST " + path, "DELETE " + path + "/" + user} {
		k.refused(support, call, phone, 403, "role_required")
		k.refused(customer, call, phone, 403, "role_required")
		k.refused(key, call, phone, 403, "api_key_not_allowed")
		k.refused(beta, call, phone, 404, "subscriber_not_found")
		k.refused(as(""), call, phone, 401, "unauthenticated")
	}
	k.must(support, "GET", path, nil)
	k.refused(customer, "GET "+path, nil, 403, "role_required")
	k.refused(beta, "GET "+path, nil, 404, "subscriber_not_found")
	k.refused(k.admin, "POST "+path, map[string]string{"email": testAdminEmail}, 409, "staff_address")
	k.refused(k.admin, "POST "+path, map[string]string{"phone": "12", "email": "no address"}, 422, "invalid_input")
	k.refused(k.admin, "DELETE "+path+"/"+house, nil, 404, "user_not_found")
	k.refused(k.admin, "PATCH /users/"+user, map[string]any{"phone": "+254711000999"}, 409, "phone_is_sign_in")
	k.refused(k.admin, "PATCH /users/"+user, map[string]any{"role": "admin"}, 409, "staff_need_email")
	k.must(k.admin, "POST", "/users/"+user+"/disable", map[string]string{"reason": "abuse"})
	k.refused(customer, "GET /me/subscribers", nil, 401, "unauthenticated")
	shop, _ := k.subscriber("254711000522")
	k.refused(k.admin, "POST /subscribers/"+shop+"/portal-access", phone, 409, "user_disabled")
}

// TestPortal_ACustomerPaysFromTheOwnPhone: the contact of the subscriber, or the phone that signs in. No other phone,
// no other customer's account or invoice.
func TestPortal_ACustomerPaysFromTheOwnPhone(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.paybillReady()
	house, _ := k.subscriber("254711000531")
	foreign, _ := k.subscriber("254711000532")
	bill := func(subscriber string) string {
		return k.must(k.admin, "POST", "/invoices", map[string]any{
			"subscriberId": subscriber,
			"lines":        []map[string]any{{"description": "Cable", "quantity": 1, "unitPrice": 300}},
		}).text("id")
	}
	own, other := bill(house), bill(foreign)
	k.seen(house, map[string]string{"phone": "+254711000539"}) // the son, who pays for the house
	son := k.atPortal("acme", "+254711000539", 1)
	ask := func(more map[string]any) map[string]any {
		body := map[string]any{"subscriberId": house, "amount": 300}
		for name, value := range more {
			body[name] = value
		}
		return body
	}
	const initiate = "POST /payments/initiate"
	k.refused(son, initiate, ask(map[string]any{"phone": "+254711000532"}), 403, "phone_not_yours")
	k.refused(son, initiate, ask(map[string]any{"subscriberId": foreign}), 404, "subscriber_not_found")
	k.refused(son, initiate, ask(map[string]any{"invoiceId": other}), 404, "invoice_not_found")
	for _, more := range []map[string]any{
		{"invoiceId": own, "phone": "0711000539"}, {"amount": 20, "phone": "0711000531"}, {"amount": 30},
	} {
		made := k.must(son, "POST", "/payments/initiate", ask(more))
		payment := k.must(son, "GET", "/payments/"+made.text("paymentId"), nil)
		if payment.text("subscriberId") != house || payment["phone"] != nil || payment["by"] != nil {
			t.Errorf("asked: %v", payment)
		}
	}
	phones := map[string]int{}
	for _, p := range k.sim.Prompts() {
		phones[p.MSISDN]++
	}
	if phones["254711000539"] != 1 || phones["254711000531"] != 2 || len(phones) != 2 {
		t.Errorf("these phones were asked: %v", phones)
	}
}

// TestPortal_AnUndoneImportTakesItsCustomersFromThePortal: the sign-in of one who is gone is forgotten with it, and one
// that sees another customer, too, goes on.
func TestPortal_AnUndoneImportTakesItsCustomersFromThePortal(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	stays, _ := k.subscriber("254711000541")
	_, asked := k.upload(k.admin, "", "firstName,phone\nAmina,0711000542\nBrian,0711000543\n")
	batch := asked.text("id")
	if done := k.imported(k.admin, batch); count(done, "created") != 2 {
		t.Fatalf("import %v", done)
	}
	k.shown()
	amina, brian := k.found("Amina").text("id"), k.found("Brian").text("id")
	k.seen(amina, map[string]string{})
	k.seen(brian, map[string]string{})
	k.seen(stays, map[string]string{"phone": "0711000543"})
	one, two := k.atPortal("acme", "+254711000542", 1), k.atPortal("acme", "+254711000543", 1)
	k.must(k.admin, "POST", "/batches/"+batch+"/undo", map[string]any{"reason": "the wrong file"})
	if b := k.undone(batch); b.at("undo.undone") != "2" {
		t.Fatalf("undone: %v", b)
	}
	k.eventually("the portal to lose them", func(ctx context.Context) (bool, error) {
		_, err := one.call(ctx, "GET", "/me/subscribers", "", nil)
		no := asAPIError(err)
		rows, err := two.call(ctx, "GET", "/me/subscribers", "", nil)
		return no != nil && no.Status == 401 && len(rows.list("data")) == 1, err
	})
	if got := k.mine(two); got != "["+stays+"]" {
		t.Errorf("sees %s", got)
	}
	for _, user := range k.all(k.admin, "/users?role=subscriber") {
		if user.text("phone") == "+254711000542" || user.text("firstName") == "Amina" {
			t.Errorf("who is gone is still known: %v", user)
		}
	}
}
