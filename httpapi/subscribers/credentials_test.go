package subscribersapi_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/isptest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// login has the fields of an answer with credentials or addresses.
type login struct {
	ID                           string
	Username, Password, StaticIP *string
	StaticIPv6Prefix             *string
	MACAddresses                 []string
}

func TestSubscriptions_AGeneratedPasswordIsShownOnceAndToAdminsAgain(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	c, plan := k.Register(t, admin, isptest.Amina()), k.Plan(t, admin, "p", "prepaid", "month")
	r := isptest.Post(admin, "/subscriptions", map[string]any{
		"subscriberId": c.ID, "planId": plan, "username": "amina",
	})
	r.Header = map[string]string{"Idempotency-Key": "k1"}
	first, second := k.Want(t, 201, "", r), k.Want(t, 201, "", r)
	var made, shown, read login
	first.Into(t, &made)
	if string(first.Body) != string(second.Body) || made.Password == nil || len(*made.Password) < 12 ||
		first.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%s, then %s", first.Body, second.Body)
	}
	path := "/subscriptions/" + made.ID
	get := k.Want(t, 200, "", isptest.Get(admin, path))
	get.Into(t, &read)
	if strings.Contains(string(get.Body), *made.Password) || *read.Username != "amina" {
		t.Errorf("read %s", get.Body)
	}
	again := k.Want(t, 200, "", isptest.Get(admin, path+"/credentials"))
	again.Into(t, &shown)
	if shown.Password == nil || *shown.Password != *made.Password || *shown.Username != "amina" ||
		again.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("shown %s", again.Body)
	}
	support := k.SignIn(t, apitest.Acme, isptest.SupportEmail).AccessToken
	k.Want(t, 403, "role_required", isptest.Get(support, path+"/credentials"))
	k.Want(t, 403, "role_required", isptest.Post(support, path+"/credentials", map[string]any{}))
	k.Want(t, 403, "role_required", isptest.Patch(support, path, map[string]any{"staticIp": ""}))
	nobody := "/subscriptions/" + id.New[id.Subscription]().String()
	k.Want(t, 404, "subscription_not_found", isptest.Get(admin, nobody+"/credentials"))
	k.Want(t, 404, "subscription_not_found", isptest.Post(admin, nobody+"/credentials", map[string]any{}))
	k.Want(t, 404, "subscription_not_found", isptest.Patch(admin, nobody, map[string]any{"staticIp": ""}))
	if strings.Contains(k.Log.String(), *made.Password) {
		t.Error("the password is in the log")
	}
}

func TestSubscriptions_TheLoginCanBeChanged(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	c, plan := k.Register(t, admin, isptest.Amina()), k.Plan(t, admin, "p", "prepaid", "month")
	s := k.subscribe(t, admin, c.ID, plan, map[string]any{"username": "amina"})
	k.subscribe(t, admin, c.ID, plan, map[string]any{"username": "taken"})
	path := "/subscriptions/" + s.ID + "/credentials"
	k.Want(t, 409, "username_taken", isptest.Post(admin, path, map[string]any{"username": "taken"}))
	for _, wrong := range [][2]string{
		{"username", " a b"}, {"username", ""}, {"password", "abc\u0007def"}, {"password", "short"}, {"password", ""},
	} {
		field, value := wrong[0], wrong[1]
		if a := k.Do(t, isptest.Post(admin, path, map[string]any{field: value})); a.Status != 422 ||
			!strings.Contains(string(a.Body), field) {
			t.Errorf("%s: %d %s", field, a.Status, a.Body)
		}
	}
	bare := isptest.Post(admin, path, nil)
	bare.Body = ""
	k.Want(t, 400, "malformed_body", bare)
	var set, shown login
	given := k.Want(t, 200, "", isptest.Post(admin, path, map[string]any{"username": "joan", "password": "net work"}))
	given.Into(t, &set)
	if *set.Username != "joan" || set.Password != nil {
		t.Errorf("given %s", given.Body)
	}
	k.Want(t, 200, "", isptest.Get(admin, path)).Into(t, &shown)
	if *shown.Username != "joan" || *shown.Password != "net work" {
		t.Errorf("shown %+v", shown)
	}
	r := isptest.Post(admin, path, map[string]any{})
	r.Header = map[string]string{"Idempotency-Key": "k2"}
	first, second := k.Want(t, 200, "", r), k.Want(t, 200, "", r)
	first.Into(t, &set)
	if string(first.Body) != string(second.Body) || set.Password == nil || *set.Password == "net work" {
		t.Errorf("%s, then %s", first.Body, second.Body)
	}
	k.Want(t, 200, "", isptest.Post(admin, "/subscriptions/"+s.ID+"/end", map[string]string{"reason": "moved"}))
	k.Want(t, 409, "subscription_ended", isptest.Post(admin, path, map[string]any{}))
}

func TestSubscriptions_AddressesAreShownInOneNotationAndUnique(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	c, plan := k.Register(t, admin, isptest.Amina()), k.Plan(t, admin, "p", "prepaid", "month")
	body := map[string]any{
		"subscriberId": c.ID, "planId": plan, "staticIp": "203.0.113.9", "staticIpv6Prefix": "2001:DB8:1:100::/56",
		"macAddresses": []string{"aa-bb-cc-dd-ee-ff", "aabb.ccdd.eeff", "00:1a:2b:3c:4d:5e"},
	}
	var s login
	k.Want(t, 201, "", isptest.Post(admin, "/subscriptions", body)).Into(t, &s)
	if *s.StaticIP != "203.0.113.9" || *s.StaticIPv6Prefix != "2001:db8:1:100::/56" ||
		!cmp.Equal(s.MACAddresses, []string{"AA:BB:CC:DD:EE:FF", "00:1A:2B:3C:4D:5E"}) {
		t.Errorf("%+v", s)
	}
	for field, code := range map[string]string{
		"staticIp": "static_ip_taken", "staticIpv6Prefix": "static_ipv6_prefix_taken",
	} {
		k.Want(t, 409, code, isptest.Post(admin, "/subscriptions", map[string]any{
			"subscriberId": c.ID, "planId": plan, field: body[field],
		}))
	}
	for field, value := range map[string]any{
		"staticIp": "127.0.0.1", "staticIpv6Prefix": "fe80::/64", "macAddresses": []string{"01:00:5e:00:00:01"},
	} {
		wrong := map[string]any{"subscriberId": c.ID, "planId": plan, field: value}
		for _, r := range []apitest.Request{
			isptest.Post(admin, "/subscriptions", wrong),
			isptest.Patch(admin, "/subscriptions/"+s.ID, map[string]any{field: value}),
		} {
			if a := k.Do(t, r); a.Status != 422 || !strings.Contains(string(a.Body), field) {
				t.Errorf("%s: %d %s", field, a.Status, a.Body)
			}
		}
	}
	var changed login
	k.Want(t, 200, "", isptest.Patch(admin, "/subscriptions/"+s.ID, map[string]any{
		"staticIp": "", "macAddresses": []string{},
	})).Into(t, &changed)
	if changed.StaticIP != nil || len(changed.MACAddresses) != 0 || *changed.StaticIPv6Prefix != *s.StaticIPv6Prefix {
		t.Errorf("%+v", changed)
	}
	k.Want(t, 200, "", isptest.Patch(admin, "/subscriptions/"+s.ID, map[string]any{
		"staticIp": "203.0.113.10", "macAddresses": body["macAddresses"],
	}))
	var cleared login
	k.Want(t, 200, "", isptest.Patch(admin, "/subscriptions/"+s.ID,
		`{"staticIp": null, "staticIpv6Prefix": null, "macAddresses": null}`)).Into(t, &cleared)
	if cleared.StaticIP != nil || len(cleared.MACAddresses) != 0 || cleared.StaticIPv6Prefix != nil {
		t.Errorf("null removed nothing: %+v", cleared)
	}
	k.Want(t, 201, "", isptest.Post(admin, "/subscriptions", body)) // the address is free again
}

// TestRoutes_OverlapNoOtherCustomer: neither a wider nor a narrower network, nor one with another customer's address.
func TestRoutes_OverlapNoOtherCustomer(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	plan := k.Plan(t, admin, "p", "prepaid", "month")
	mine, theirs := k.Register(t, admin, isptest.Amina()), k.Register(t, admin, isptest.Amina())
	type routed struct {
		ID     string   `json:"id"`
		Routes []string `json:"routes"`
	}
	var s, o routed
	k.Want(t, 201, "", isptest.Post(admin, "/subscriptions", map[string]any{
		"subscriberId": mine.ID, "planId": plan, "routes": []string{"203.0.113.0/28", "2001:DB8:5::/48"},
	})).Into(t, &s)
	if !cmp.Equal(s.Routes, []string{"203.0.113.0/28", "2001:db8:5::/48"}) {
		t.Errorf("%v", s.Routes)
	}
	k.Want(t, 201, "", isptest.Post(admin, "/subscriptions", map[string]any{
		"subscriberId": theirs.ID, "planId": plan, "staticIp": "198.51.100.9",
	})).Into(t, &o)
	path := "/subscriptions/" + o.ID
	for _, body := range []map[string]any{
		{"routes": []string{"203.0.113.0/28"}}, {"routes": []string{"203.0.113.8/29"}},
		{"routes": []string{"203.0.113.0/24"}},
		{"routes": []string{"2001:db8:5:100::/56"}}, {"staticIp": "203.0.113.3"},
		{"staticIpv6Prefix": "2001:db8:5:1::/64"},
	} {
		k.Want(t, 409, "route_taken", isptest.Patch(admin, path, body))
		body["subscriberId"], body["planId"] = theirs.ID, plan
		k.Want(t, 409, "route_taken", isptest.Post(admin, "/subscriptions", body))
	}
	k.Want(t, 409, "route_taken", isptest.Patch(admin, "/subscriptions/"+s.ID, map[string]any{
		"routes": []string{"198.51.100.0/24"},
	}))
	k.Want(t, 200, "", isptest.Patch(admin, "/subscriptions/"+s.ID, map[string]any{"staticIp": "203.0.113.1"}))
	k.Want(t, 200, "", isptest.Patch(admin, path, map[string]any{"routes": []string{"203.0.113.16/28"}})).Into(t, &o)
	k.Want(t, 200, "", isptest.Post(admin, "/subscriptions/"+s.ID+"/end", map[string]string{"reason": "moved"}))
	k.Want(t, 200, "", isptest.Patch(admin, path, map[string]any{"routes": []string{"203.0.113.0/24"}})).Into(t, &o)
	k.Want(t, 200, "", isptest.Patch(admin, path, map[string]any{"routes": nil})).Into(t, &o)
	if len(o.Routes) != 0 {
		t.Errorf("%v", o.Routes)
	}
}
