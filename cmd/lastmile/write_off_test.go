package main

import (
	"context"
	"testing"
)

// TestWriteOff_WhoPaysTheRestHasService: a part of an unpaid invoice is given up, and the customer pays what is still
// asked for; or pays a part, and the rest is given up. Both have their month, owe nothing, and have no credit and no
// credit note.
func TestWriteOff_WhoPaysTheRestHasService(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	plan := k.plan("home", 1500)
	for i, phone := range []string{"254711000777", "254711000778"} {
		customer, account := k.subscriber(phone)
		line := k.must(k.admin, "POST", "/subscriptions", map[string]any{
			"subscriberId": customer, "planId": plan, "username": "hill" + phone,
		}).text("id")
		k.issued(customer, 1)
		pays := func(amount int, left string) {
			k.must(k.admin, "POST", "/payments/cash", map[string]any{
				"subscriberId": customer, "amount": amount, "reference": "till " + account,
			})
			k.balanceOf(customer, left)
		}
		gives := func(body map[string]any, left string) {
			if s := k.must(k.admin, "POST", "/subscribers/"+customer+"/write-off", body); number(s, "balance") != left {
				t.Errorf("after the write-off %v", s)
			}
		}
		if i == 0 {
			gives(map[string]any{"amount": 100, "reason": "goodwill"}, "1400.00")
			pays(1400, "0.00")
		} else {
			pays(1000, "500.00")
			gives(map[string]any{"reason": "goodwill"}, "0.00")
		}
		k.until(line, "")
		k.shown()
		s := k.must(k.admin, "GET", "/subscriptions/"+line, nil)
		invoice := k.must(k.admin, "GET", "/invoices/"+k.issued(customer, 1)[0].text("id"), nil)
		if s.text("state") != "active" || len(invoice.list("creditNotes")) > 0 {
			t.Errorf("the service is %v, its invoice %v", s, invoice)
		}
		k.balanceOf(customer, "0.00")
		if who := k.must(k.admin, "GET", "/subscribers/"+customer, nil); who.text("access") != "full" {
			t.Errorf("the customer is %v", who)
		}
	}
}

// balanceOf waits until a customer has a balance.
func (k *kit) balanceOf(customer, balance string) {
	k.t.Helper()
	k.eventually("a balance of "+balance, func(ctx context.Context) (bool, error) {
		s, err := k.admin.call(ctx, "GET", "/subscribers/"+customer, "", nil)
		return number(s, "balance") == balance, err
	})
}
