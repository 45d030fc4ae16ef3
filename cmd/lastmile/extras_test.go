package main

import (
	"context"
	"testing"
	"time"
)

// TestExtras_AreInvoicedRenewedFromCreditAndTold begins with an installation, gives a discount for two months and an
// add-on, and ends with a charge that is not invoiced yet.
func TestExtras_AreInvoicedRenewedFromCreditAndTold(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.paybillReady()
	k.dunningDays(nil)
	home := k.plan("home", 1500)
	customer, account := k.subscriber("254711000921")
	line := k.must(k.admin, "POST", "/subscriptions", map[string]any{
		"subscriberId": customer, "planId": home,
		"charges":   []map[string]any{{"description": "Installation", "amount": 2000}},
		"discounts": []map[string]any{{"description": "Welcome", "percent": 50, "periods": 2}},
	}).text("id")
	if first := k.issued(customer, 1)[0]; number(first, "total") != "2750.00" || len(first.list("lines")) != 3 {
		t.Fatalf("the first invoice: %v", first)
	}
	k.pay("254711000921", account, 2750)
	until := k.paidUntil(line, "")
	path := "/subscriptions/" + line
	added := k.must(k.admin, "POST", path+"/add-ons", map[string]any{"description": "Fixed address", "amount": 300})
	if added.text("state") != "active" || number(added, "amount") != "300.00" || added["percent"] != nil {
		t.Errorf("added %v", added)
	}
	k.refusesExtras(path, added.text("id"))
	next := k.must(k.admin, "GET", path+"/upcoming", nil).list("data")
	if number(next[0], "total") != "1050.00" || number(next[1], "total") != "1800.00" {
		t.Errorf("upcoming %v", next)
	}
	// money that is paid ahead covers the discounted price: the next period begins from credit
	ends, err := time.Parse(time.RFC3339Nano, until)
	if err != nil {
		t.Fatal(err)
	}
	k.pay("254711000921", account, 1050)
	k.advance(map[string]any{"to": ends.Add(time.Hour)})
	k.paidUntil(line, until)
	if second := k.issued(customer, 2)[0]; number(second, "total") != "1050.00" || second.text("state") != "paid" {
		t.Errorf("the second invoice: %v", second)
	}
	k.must(k.admin, "POST", path+"/charges", map[string]any{"description": "New cable", "amount": 700})
	k.must(k.admin, "DELETE", path+"/add-ons/"+added.text("id"), nil)
	shown := k.must(k.admin, "GET", path, nil)
	if shown.list("addOns")[0].text("state") != "removed" || shown.list("discounts")[0].text("state") != "over" ||
		shown.list("charges")[0].text("state") != "over" || shown.list("charges")[1].text("state") != "waiting" {
		t.Errorf("shown %v", shown)
	}
	ending := k.must(k.admin, "GET", path+"/end", nil)
	if charged := ending.list("charged"); len(charged) != 1 || charged[0].text("description") != "New cable" {
		t.Errorf("ending %v", ending)
	}
	k.must(k.admin, "POST", path+"/end", map[string]any{"reason": "moves"})
	if last := k.issued(customer, 3)[0]; number(last, "total") != "700.00" || number(last, "due") != "700.00" {
		t.Errorf("the last invoice: %v", last)
	}
	k.tellsExtras(customer)
}

// refusesExtras asks for what cannot be, and as another organization.
func (k *kit) refusesExtras(path, addOn string) {
	k.t.Helper()
	percent := func(n int) map[string]any { return map[string]any{"description": "x", "percent": n} }
	k.refused(k.admin, "POST "+path+"/discounts", percent(101), 422, "invalid_input")
	both := percent(10)
	both["amount"] = 5
	k.refused(k.admin, "POST "+path+"/discounts", both, 422, "invalid_input")
	k.refused(k.admin, "POST "+path+"/charges", map[string]any{"description": " ", "amount": 5}, 422, "invalid_input")
	k.refused(k.admin, "DELETE "+path+"/charges/"+addOn, nil, 404, "extra_not_found")
	other := k.organization("beta", "ada@beta.example")
	k.refused(other, "POST "+path+"/discounts", percent(10), 404, "subscription_not_found")
	k.refused(other, "DELETE "+path+"/add-ons/"+addOn, nil, 404, "subscription_not_found")
}

// tellsExtras waits for the customer's story to tell what was added, and for what.
func (k *kit) tellsExtras(customer string) {
	k.t.Helper()
	k.eventually("the story to tell it", func(ctx context.Context) (bool, error) {
		rows, err := k.admin.call(ctx, "GET", "/subscribers/"+customer+"/timeline?limit=100", "", nil)
		told := map[string]string{}
		for _, r := range rows.list("data") {
			told[r.text("code")] = r.text("reason")
		}
		return told["add_on_added"] == "Fixed address" && told["charge_added"] == "Installation" &&
			told["discount_added"] == "Welcome", err
	})
}
