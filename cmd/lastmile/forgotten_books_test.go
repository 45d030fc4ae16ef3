package main

import (
	"context"
	"testing"
	"time"
)

// gone is a customer who was forgotten after a month that was paid and used, with its documents.
type gone struct{ customer, account, line, invoice, receipt string }

// forgets makes a customer of the hillside who has paid, lets so much happen as before asks for, and forgets the
// person.
func (k *kit) forgets(before func()) gone {
	k.t.Helper()
	var g gone
	g.customer, g.account = k.subscriber("254711000777")
	k.must(k.admin, "PATCH", "/subscribers/"+g.customer, map[string]any{"tags": []string{"hillside"}})
	g.line = k.must(k.admin, "POST", "/subscriptions", map[string]any{
		"subscriberId": g.customer, "planId": k.plan("home", 1500), "username": "hill",
	}).text("id")
	k.issued(g.customer, 1)
	k.must(k.admin, "POST", "/payments/cash", map[string]any{
		"subscriberId": g.customer, "amount": 1500, "reference": "till " + g.account,
	})
	k.until(g.line, "")
	k.advance(map[string]any{"advance": "72h"})
	g.invoice = k.all(k.admin, "/invoices?subscriberId="+g.customer)[0].text("id")
	g.receipt = k.all(k.admin, "/receipts")[0].text("id")
	before()
	k.must(k.admin, "POST", "/subscriptions/"+g.line+"/end", map[string]any{"reason": "moves"})
	k.must(k.admin, "POST", "/subscribers/"+g.customer+"/forget", map[string]any{"reason": "asked for it"})
	return g
}

// hillOutage previews money for a day of the hillside.
func (k *kit) hillOutage(amount int) string {
	k.t.Helper()
	now := k.app.clock.Now()
	return k.must(k.admin, "POST", "/compensations", map[string]any{
		"tag": "hillside", "from": now.Add(-30 * time.Hour), "to": now.Add(-time.Hour),
		"give": map[string]any{"money": amount}, "reason": "The mast had no power.",
	}).text("id")
}

// TestForgotten_NoCorrectionOpensMoneyOnTheClosedAccount: a credit note, a reversal and a compensation that was
// previewed before are refused, since nobody could pay the credit out or ask for the debt.
func TestForgotten_NoCorrectionOpensMoneyOnTheClosedAccount(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	var gift string
	g := k.forgets(func() { gift = k.hillOutage(300) })
	k.refused(k.admin, "POST /invoices/"+g.invoice+"/credit-note", map[string]any{"amount": 700, "reason": "late"}, 409,
		"account_closed")
	k.refused(k.admin, "POST /receipts/"+g.receipt+"/reverse", map[string]any{"reason": "bounced"}, 409,
		"account_closed")
	at := "/compensations/" + gift
	k.must(k.admin, "POST", at+"/apply", nil)
	k.eventually("the compensation to end", func(ctx context.Context) (bool, error) {
		now, err := k.admin.call(ctx, "GET", at, "", nil)
		return now.text("state") == "finished", err
	})
	if items := k.all(k.admin, at+"/items"); items[0].text("code") != "account_closed" || items[0]["given"] != false {
		t.Errorf("items %v", items)
	}
	k.shown()
	k.balances("nothing", "0.00")
	if i := k.must(k.admin, "GET", "/invoices/"+g.invoice, nil); number(i, "credited") != "0.00" ||
		number(i, "due") != "0.00" {
		t.Errorf("invoice %v", i)
	}
	k.soundBooks()
}

// TestForgotten_TheUndoOfACompensationSaysBeforeThatItIsBlocked: a customer who got money and used it is forgotten. The
// preview of the undo says what the undo does, and the time stays compensated.
func TestForgotten_TheUndoOfACompensationSaysBeforeThatItIsBlocked(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	var gift string
	k.forgets(func() {
		gift = k.given(k.hillOutage(300))
		k.balances("300 of credit", "-300.00")
		k.must(k.admin, "POST", "/invoices", map[string]any{
			"subscriberId": k.all(k.admin, "/subscribers")[0].text("id"),
			"lines":        []map[string]any{{"description": "cable", "quantity": 1, "unitPrice": 300}},
		})
		k.balances("used the credit", "0.00")
	})
	undo := "/batches/" + gift + "/undo"
	preview := k.must(k.admin, "POST", undo+"/preview", nil)
	if preview.at("blockedCount") != "1" || preview.at("creditedCount") != "0" {
		t.Errorf("preview %v", preview)
	}
	k.must(k.admin, "POST", undo, map[string]any{"reason": "the mast was up"})
	if b := k.undone(gift); b.at("undo.blocked") != "1" {
		t.Errorf("undone %v", b)
	}
	items, given := k.all(k.admin, "/batches/"+gift+"/items"), k.all(k.admin, "/compensations/"+gift+"/items")
	if items[0].text("code") != "account_closed" || given[0]["given"] != true {
		t.Errorf("%v, and the compensation %v", items, given)
	}
	k.soundBooks()
}
