package main

import (
	"context"
	"testing"
)

// TestUndoRun_AfterTheEndLeavesWhatWasUsedOwed: a customer has paid two months, has used a part of the second one,
// and ends. Then the run that invoiced it is taken back: the used days are on an invoice of their own, which the money
// of the month pays. Whoever asks for the run again bills nothing twice.
func TestUndoRun_AfterTheEndLeavesWhatWasUsedOwed(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.toThirtyDays()
	customer, account := k.subscriber("254711000777")
	line := k.must(k.admin, "POST", "/subscriptions", map[string]any{
		"subscriberId": customer, "planId": k.plan("home", 1500), "username": "hill",
	}).text("id")
	k.issued(customer, 1)
	k.must(k.admin, "POST", "/payments/cash", map[string]any{
		"subscriberId": customer, "amount": 3000, "reference": "till " + account,
	})
	k.until(line, "")
	for range 5 {
		k.advance(map[string]any{"advance": "240h"})
		k.admin, _ = k.login("acme", testAdminEmail, testPassword)
		k.shown()
	}
	k.issued(customer, 2)
	k.must(k.admin, "POST", "/subscriptions/"+line+"/end", map[string]any{"reason": "moves"})
	k.shown()
	k.balances("paid both", "0.00")
	var batch answer
	for _, b := range k.all(k.admin, "/batches?kind=billing_run") {
		if b.at("made") == "1" {
			batch = b
		}
	}
	at := "/batches/" + batch.text("id")
	if p := k.must(k.admin, "POST", at+"/undo/preview", nil); p.at("creditedCount") != "1" ||
		p.at("billedAtOnce") != "1" {
		t.Errorf("preview %v", p)
	}
	k.must(k.admin, "POST", at+"/undo", map[string]any{"reason": "wrong tax"})
	k.undone(batch.text("id"))
	again := k.must(k.admin, "POST", "/billing/runs", map[string]any{"date": batch.text("title")})
	k.eventually("the run to end", func(ctx context.Context) (bool, error) {
		r, err := k.admin.call(ctx, "GET", "/billing/runs/"+again.text("id"), "", nil)
		return r.text("state") == "finished", err
	})
	k.shown()
	// The month was renewed while the clock jumped: at the end of the first one, or at the next instant after it.
	k.eventually("the used days to be paid", func(ctx context.Context) (bool, error) {
		page, err := k.admin.call(ctx, "GET", "/invoices?subscriberId="+customer, "", nil)
		used := page.list("data")[0]
		total := number(used, "total")
		return used.text("state") == "paid" && (total == "967.74" || total == "483.87"), err
	})
	left := map[string]string{"967.74": "-532.26", "483.87": "-1016.13"}
	k.balances("the days that were not used", left[number(k.issued(customer, 3)[0], "total")])
	if b := k.must(k.admin, "GET", at, nil); b.at("waiting") != "0" {
		t.Errorf("batch %v", b)
	}
}
