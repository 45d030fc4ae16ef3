package main

import (
	"context"
	"testing"
)

// TestReissue_ACorrectedInvoiceTakesMoneyAndPeriodOver: a paid month had a wrong price on its invoice, twice. Its money
// moves along, what is missing is due, and the customer keeps the time that he has paid for.
func TestReissue_ACorrectedInvoiceTakesMoneyAndPeriodOver(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.paybillReady()
	customer, account := k.subscriber("254711000811")
	line := k.subscribe(customer, k.plan("home", 1500))
	wrong := k.issued(customer, 1)[0]
	k.pay("254711000811", account, 1500)
	until := k.paidUntil(line, "")

	cheaper := k.reissue(wrong.text("id"), 1000)
	if cheaper.text("state") != "paid" || cheaper.text("number") == "" ||
		cheaper.at("replaces.number") != wrong.text("number") {
		t.Errorf("corrected: %v", cheaper)
	}
	was := k.must(k.admin, "GET", "/invoices/"+wrong.text("id"), nil)
	if was.text("state") != "credited" || was.at("replacedBy.id") != cheaper.text("id") {
		t.Errorf("wrong: %v", was)
	}
	if now := k.paidUntil(line, ""); now != until {
		t.Errorf("paid until %s, want %s", now, until)
	}
	k.eventually("the story to tell it", func(ctx context.Context) (bool, error) {
		rows, err := k.admin.call(ctx, "GET", "/subscribers/"+customer+"/timeline?limit=100", "", nil)
		for _, r := range rows.list("data") {
			if r.text("code") == "period_reissued" {
				return true, err
			}
		}
		return false, err
	})
	k.refused(k.admin, "POST /invoices/"+wrong.text("id")+"/reissue", reissued(900), 409, "invoice_given_back")

	dearer := k.reissue(cheaper.text("id"), 2000)
	if dearer.text("state") != "partially_paid" || dearer.at("due") != "500" {
		t.Errorf("dearer: %v", dearer)
	}
	k.eventually("the period to wait for the rest", func(ctx context.Context) (bool, error) {
		s, err := k.admin.call(ctx, "GET", "/subscriptions/"+line, "", nil)
		return s.text("paidUntil") == "", err
	})
	k.pay("254711000811", account, 500)
	k.paidUntil(line, "")
	k.settled()
	k.soundBooks()
	k.audited("billing.ReissueInvoice")
}

// reissued is the body of a reissue with one line.
func reissued(price int) map[string]any {
	return map[string]any{"reason": "wrong price", "lines": []map[string]any{
		{"description": "Home", "quantity": 1, "unitPrice": price},
	}}
}

// reissue corrects the price of an invoice, and gives the corrected one. A repeat under its key changes nothing.
func (k *kit) reissue(invoice string, price int) answer {
	k.t.Helper()
	path := "/invoices/" + invoice + "/reissue"
	first, err := k.admin.call(k.t.Context(), "POST", path, "reissue-"+invoice, reissued(price))
	if err != nil {
		k.t.Fatal(err)
	}
	again, err := k.admin.call(k.t.Context(), "POST", path, "reissue-"+invoice, reissued(price))
	if err != nil || again.text("id") != first.text("id") {
		k.t.Errorf("again: %v, %v", again, err)
	}
	return first
}
