package subscribersapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/isptest"
)

// accessFields are all fields of a plan that only the network needs, as the API shows them.
const accessFields = `{"sessionLimit": 2, "onLimit": "refuse", "pool": "dhcp_pool1",
	"ipv6": {"pool": "v6", "delegatedPool": "pd"}, "dunningPolicy": "schools",
	"cap": {"bytes": 50000000000, "period": "month", "then": "throttle", "throttle": {"down": 1000, "up": 500}},
	"schedule": [{"days": ["saturday", "sunday"], "from": "22:00", "to": "06:00",
		"rates": {"down": 20000, "up": 10000,
			"burst": {"down": 30000, "up": 10000, "thresholdDown": 15000, "thresholdUp": 5000, "seconds": 8}}}],
	"rates": {"down": 10000, "up": 5000,
		"burst": {"down": 20000, "up": 5000, "thresholdDown": 8000, "thresholdUp": 4000, "seconds": 16}}}`

// fieldsLike leaves out what an answer shows beside the fields that a test wants.
func fieldsLike(t *testing.T, want map[string]any, body []byte) map[string]any {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal(body, &all); err != nil {
		t.Fatal(err)
	}
	for name := range all {
		if _, ok := want[name]; !ok {
			delete(all, name)
		}
	}
	return all
}

func TestPlans_WhatTheNetworkNeedsIsShownAsItWasGivenAndCanBeRemoved(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	var want map[string]any
	if err := json.Unmarshal([]byte(accessFields), &want); err != nil {
		t.Fatal(err)
	}
	body := isptest.PlanBody("night", "prepaid", "month")
	k.Want(t, 200, "", apitest.Request{
		Method: "PUT", Path: "/settings/dunning", As: admin, Body: json.RawMessage(`{"policies":{"schools":{}}}`),
	})
	for name, value := range want {
		body[name] = value
	}
	made := k.Want(t, 201, "", isptest.Post(admin, "/plans", body))
	if diff := cmp.Diff(want, fieldsLike(t, want, made.Body)); diff != "" {
		t.Errorf("made (-given +shown)\n%s", diff)
	}
	var p struct {
		ID      string
		Version int
	}
	made.Into(t, &p)
	k.Want(t, 200, "", isptest.Patch(admin, "/plans/"+p.ID, map[string]any{"name": "Night"})).Into(t, &p)
	k.Want(t, 200, "", isptest.Patch(admin, "/plans/"+p.ID, want)).Into(t, &p)
	if p.Version != 2 {
		t.Errorf("the same terms made version %d", p.Version)
	}
	removed := k.Want(t, 200, "", isptest.Patch(admin, "/plans/"+p.ID, map[string]any{
		"pool": "", "ipv6": map[string]any{}, "cap": map[string]any{"bytes": 0}, "schedule": []any{},
		"dunningPolicy": "", "rates": map[string]any{"down": 10000, "up": 5000}, "sessionLimit": 1,
		"onLimit": "replace",
	}))
	left := map[string]any{
		"sessionLimit": 1.0, "onLimit": "replace", "rates": map[string]any{"down": 10000.0, "up": 5000.0},
	}
	if diff := cmp.Diff(left, fieldsLike(t, want, removed.Body)); diff != "" {
		t.Errorf("left (-want +shown)\n%s", diff)
	}
}

func TestPlans_NullRemovesWhatAPlanCanBeWithout(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	body := isptest.PlanBody("night", "prepaid", "month")
	k.Want(t, 200, "", apitest.Request{
		Method: "PUT", Path: "/settings/dunning", As: admin, Body: json.RawMessage(`{"policies":{"schools":{}}}`),
	})
	var bare, full struct{ ID string }
	plain := k.Want(t, 201, "", isptest.Post(admin, "/plans", body))
	plain.Into(t, &bare)
	body["code"], body["lateRenewal"] = "later", "expiry"
	var terms map[string]any
	if err := json.Unmarshal([]byte(accessFields), &terms); err != nil {
		t.Fatal(err)
	}
	rates := body["rates"]
	for name, value := range terms {
		body[name] = value
	}
	k.Want(t, 201, "", isptest.Post(admin, "/plans", body)).Into(t, &full)
	k.Want(t, 200, "", isptest.Patch(admin, "/plans/"+full.ID, map[string]any{
		"sessionLimit": nil, "onLimit": nil, "pool": nil, "ipv6": nil, "cap": nil, "schedule": nil,
		"dunningPolicy": nil, "lateRenewal": nil, "rates": rates,
	}))
	var want, have map[string]any
	plain.Into(t, &want)
	k.Want(t, 200, "", isptest.Get(admin, "/plans/"+full.ID)).Into(t, &have)
	for _, own := range []string{"id", "code", "version", "createdAt"} {
		delete(want, own)
		delete(have, own)
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("left (-without the terms +shown)\n%s", diff)
	}
	for _, needed := range []string{"name", "kind", "price", "billing", "rates"} {
		a := k.Want(t, 422, "invalid_input", isptest.Patch(admin, "/plans/"+full.ID, map[string]any{needed: nil}))
		if !strings.Contains(string(a.Body), `"`+needed) {
			t.Errorf("%s: %s", needed, a.Body)
		}
	}
}

func TestPlans_LateRenewalIsOfThePaymentUnlessThePlanSaysOtherwise(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	body := isptest.PlanBody("late", "prepaid", "month")
	var p struct {
		ID, LateRenewal string
		Version         int
	}
	shows := func(a apitest.Answer, want string, version int) {
		t.Helper()
		if a.Into(t, &p); p.LateRenewal != want || p.Version != version {
			t.Errorf("plan %+v, want %s", p, want)
		}
	}
	shows(k.Want(t, 201, "", isptest.Post(admin, "/plans", body)), "payment", 1)
	change := func(to string) apitest.Request {
		return isptest.Patch(admin, "/plans/"+p.ID, map[string]any{"lateRenewal": to})
	}
	shows(k.Want(t, 200, "", change("payment")), "payment", 1)
	shows(k.Want(t, 200, "", change("expiry")), "expiry", 2)
	shows(k.Want(t, 200, "", isptest.Patch(admin, "/plans/"+p.ID, map[string]any{"name": "New"})), "expiry", 3)
	shows(k.Want(t, 200, "", isptest.Get(admin, "/plans/"+p.ID)), "expiry", 3)
	k.Want(t, 422, "invalid_input", change("never"))
	body["code"], body["lateRenewal"] = "later", "soon"
	k.Want(t, 422, "invalid_input", isptest.Post(admin, "/plans", body))
	body["lateRenewal"] = "expiry"
	shows(k.Want(t, 201, "", isptest.Post(admin, "/plans", body)), "expiry", 1)
	var line struct{ LateRenewal string }
	customer := k.Register(t, admin, isptest.Amina())
	k.Want(t, 201, "", isptest.Post(admin, "/subscriptions", map[string]any{
		"subscriberId": customer.ID, "planId": p.ID,
	})).Into(t, &line)
	if line.LateRenewal != "expiry" {
		t.Errorf("the subscription has %+v", line)
	}
}

func TestPlans_FaultsOfAccessTermsNameTheirFields(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	for field, value := range map[string]any{
		"sessionLimit": 0, "onLimit": "wait", "pool": "a b", "ipv6": map[string]any{"pool": "ä"},
		"cap": map[string]any{"bytes": 5, "period": "day"}, "dunningPolicy": "two words",
		"schedule": []any{map[string]any{"days": []string{"someday"}, "from": "6:00", "to": "25:00",
			"rates": map[string]any{"down": 1, "up": 1}}},
		"rates": map[string]any{"down": 10, "up": 10, "burst": 20},
	} {
		body := isptest.PlanBody("x", "prepaid", "month")
		body[field] = value
		if a := k.Do(t, isptest.Post(admin, "/plans", body)); a.Status != 422 ||
			!strings.Contains(string(a.Body), `"`+field) {
			t.Errorf("%s: %d %s", field, a.Status, a.Body)
		}
	}
	var p struct{ ID string }
	k.Want(t, 201, "", isptest.Post(admin, "/plans", isptest.PlanBody("x", "prepaid", "month"))).Into(t, &p)
	for _, limit := range []int{-3, -1, 0, 17} {
		k.Want(t, 422, "invalid_input", isptest.Patch(admin, "/plans/"+p.ID, map[string]any{"sessionLimit": limit}))
	}
}

func TestPlans_NameADunningPolicyThatExistsAndKeepIt(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	put := func(body string) apitest.Request {
		return apitest.Request{Method: "PUT", Path: "/settings/dunning", As: admin, Body: json.RawMessage(body)}
	}
	body := isptest.PlanBody("night", "prepaid", "month")
	body["dunningPolicy"] = "schools"
	a := k.Want(t, 422, "invalid_input", isptest.Post(admin, "/plans", body))
	if !strings.Contains(string(a.Body), "dunningPolicy must be a policy") {
		t.Errorf("fault: %s", a.Body)
	}
	k.Want(t, 200, "", put(`{"policies":{"schools":{},"shops":{}}}`))
	var p struct{ ID string }
	k.Want(t, 201, "", isptest.Post(admin, "/plans", body)).Into(t, &p)
	k.Want(t, 409, "dunning_policy_in_use", put(`{"policies":{"shops":{}}}`))
	k.Want(t, 200, "", put(`{"policies":{"schools":{}}}`))
	k.Want(t, 422, "invalid_input", isptest.Patch(admin, "/plans/"+p.ID, map[string]any{"dunningPolicy": "shops"}))
	k.Want(t, 200, "", isptest.Patch(admin, "/plans/"+p.ID, map[string]any{"dunningPolicy": ""}))
	k.Want(t, 200, "", put(`{"policies":{}}`))
}

// Traffic can be added only where there is a cap, so that a client knows of it without reading the plan.
func TestSubscriptions_TellOfTheCapTheyWereSoldWith(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	who := k.Register(t, admin, map[string]any{"firstName": "Otieno", "phone": "0712345678"}).ID
	capped := isptest.PlanBody("capped", "prepaid", "month")
	capped["cap"] = map[string]any{"bytes": 5_000_000_000, "period": "month", "then": "stop"}
	for want, body := range map[string]map[string]any{
		`{"bytes":5000000000,"period":"month","then":"stop"}`: capped,
		`null`: isptest.PlanBody("free", "prepaid", "month"),
	} {
		var plan, sold struct {
			ID  string
			Cap json.RawMessage
		}
		k.Want(t, 201, "", isptest.Post(admin, "/plans", body)).Into(t, &plan)
		k.Want(t, 201, "", isptest.Post(admin, "/subscriptions", map[string]any{
			"subscriberId": who, "planId": plan.ID,
		})).Into(t, &sold)
		if string(sold.Cap) != want {
			t.Errorf("sold with the cap %s, not %s", sold.Cap, want)
		}
	}
}

// A plan's months end on the day on which they began, or on a day that every month has.
func TestPlans_AreBilledOnTheAnniversaryOrOnADay(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	billing := func(period, anchor string) map[string]any {
		return map[string]any{"mode": "prepaid", "period": period, "anchor": anchor}
	}
	body := isptest.PlanBody("day", "prepaid", "month")
	var p struct {
		ID      string
		Billing struct{ Anchor string }
	}
	shows := func(a apitest.Answer, want string) {
		t.Helper()
		if a.Into(t, &p); p.Billing.Anchor != want {
			t.Errorf("billed on %s, want %s", p.Billing.Anchor, want)
		}
	}
	shows(k.Want(t, 201, "", isptest.Post(admin, "/plans", body)), "anniversary")
	change := func(period, anchor string) apitest.Request {
		return isptest.Patch(admin, "/plans/"+p.ID, map[string]any{"billing": billing(period, anchor)})
	}
	shows(k.Want(t, 200, "", change("month", "28")), "28")
	for _, wrong := range []string{"0", "29", "-1", "05", "first", "1.5"} {
		k.Want(t, 422, "invalid_input", change("month", wrong))
	}
	k.Want(t, 422, "invalid_input", change("week", "5")) // only months have a day
	var line struct{ Billing struct{ Anchor string } }
	customer := k.Register(t, admin, isptest.Amina())
	k.Want(t, 201, "", isptest.Post(admin, "/subscriptions", map[string]any{
		"subscriberId": customer.ID, "planId": p.ID,
	})).Into(t, &line)
	if line.Billing.Anchor != "28" {
		t.Errorf("the subscription has %+v", line)
	}
	shows(k.Want(t, 200, "", change("month", "anniversary")), "anniversary")
	body["code"], body["billing"] = "fixed", billing("month", "1")
	shows(k.Want(t, 201, "", isptest.Post(admin, "/plans", body)), "1")
}
