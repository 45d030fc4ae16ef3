package main

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// TestUndoCompensation_ChargesMoneyAgainAndTakesDaysBack: of two compensations of the same customers, the one gave
// money and the other one days. Afterwards nobody owes or has anything, and the paid time ends where it did.
func TestUndoCompensation_ChargesMoneyAgainAndTakesDaysBack(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	before := k.payingAt("hillside", 2)
	money := k.given(k.hillsideGift(map[string]any{"money": 100}))
	k.balances("a credit of 100", "-100.00")
	undo := "/batches/" + money + "/undo"
	preview := k.must(k.admin, "POST", undo+"/preview", nil)
	if preview.at("undone") != "0" || preview.at("creditedCount") != "2" || preview.at("blockedCount") != "0" {
		t.Errorf("preview %v", preview)
	}
	k.must(k.admin, "POST", undo, map[string]any{"reason": "the mast was up"})
	if b := k.undone(money); b.at("undo.credited") != "2" || b.at("undo.blocked") != "0" {
		t.Errorf("undone: %v", b)
	}
	k.balances("the money charged again", "0.00")
	for _, who := range k.all(k.admin, "/subscribers") {
		list := k.issued(who.text("id"), 2)
		if number(list[0], "total") != "100.00" || list[0].text("state") != "paid" {
			t.Errorf("the invoices of %s: %v", who.text("id"), list)
		}
	}

	// The time can be compensated again.
	days := k.given(k.hillsideGift(map[string]any{"days": 2}))
	k.paidLater(before, 48*time.Hour)
	k.must(k.admin, "POST", "/batches/"+days+"/undo", map[string]any{"reason": "the mast was up"})
	if b := k.undone(days); b.at("undo.undone") != "2" || b.at("undo.credited") != "0" {
		t.Errorf("undone: %v", b)
	}
	k.paidLater(before, 0)
	k.must(k.admin, "POST", "/batches/"+days+"/undo", map[string]any{"reason": "once more"}) // of what was blocked
	if b := k.undone(days); b.at("undo.undone") != "2" {
		t.Errorf("undone once more: %v", b)
	}
	k.paidLater(before, 0)
	k.balances("nothing", "0.00")
	k.soundBooks()
}

// given gives a compensation and waits for its end. It gives the id of its batch.
func (k *kit) given(compensation string) string {
	k.t.Helper()
	at := "/compensations/" + compensation
	k.must(k.admin, "POST", at+"/apply", nil)
	k.eventually("the compensation to end", func(ctx context.Context) (bool, error) {
		now, err := k.admin.call(ctx, "GET", at, "", nil)
		return now.text("state") == "finished" && now.at("failed") == "0", err
	})
	return compensation
}

// balances waits until every customer has a balance, which is below zero for a credit.
func (k *kit) balances(what, balance string) {
	k.t.Helper()
	k.eventually("everybody to have "+what, func(context.Context) (bool, error) {
		for _, who := range k.all(k.admin, "/subscribers") {
			if number(who, "balance") != balance {
				return false, fmt.Errorf("%v", who)
			}
		}
		return true, nil
	})
}

// paidLater waits until the end of what each subscription has paid is so much later than before.
func (k *kit) paidLater(before map[string]time.Time, by time.Duration) {
	k.t.Helper()
	k.eventually(fmt.Sprint("everybody to be paid for later by ", by), func(context.Context) (bool, error) {
		for line, until := range k.paidUntils() {
			if until.Sub(before[line]) != by {
				return false, fmt.Errorf("%s: %v, before %v", line, until, before[line])
			}
		}
		return true, nil
	})
}
