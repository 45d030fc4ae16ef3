package main

import (
	"context"
	"testing"
)

// TestPlanMove_AllCustomersGetTheNewVersionAndKeepItUntilItIsUndone changes the price of a plan, moves its customers
// with their next periods, and takes the move back as one.
func TestPlanMove_AllCustomersGetTheNewVersionAndKeepItUntilItIsUndone(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.paybillReady()
	home, other := k.plan("home", 1500), k.plan("other", 900)
	payer, account := k.subscriber("254711000911")
	waiter, _ := k.subscriber("254711000912")
	paid, waits, elsewhere := k.subscribe(payer, home), k.subscribe(waiter, home), k.subscribe(waiter, other)
	k.issued(payer, 1)
	k.pay("254711000911", account, 1500)
	until := k.paidUntil(paid, "")
	path := "/plans/" + home
	if plan := k.must(k.admin, "PATCH", path, map[string]any{"price": 1800}); number(plan, "version") != "2.00" {
		t.Fatalf("plan %v", plan)
	}
	move := map[string]any{"version": 1, "reason": "prices of the new year"}
	k.refused(k.admin, "POST "+path+"/move", move, 409, "plan_version_old")
	move["version"] = 2
	k.refused(k.organization("beta", "ada@beta.example"), "POST "+path+"/move", move, 404, "plan_not_found")
	k.refused(k.admin, "POST "+path+"/move", map[string]any{"version": 2, "reason": " "}, 422, "invalid_input")
	batch := "/batches/" + k.must(k.admin, "POST", path+"/move", move).text("id")
	k.eventually("the end of the move", func(ctx context.Context) (bool, error) {
		b, err := k.admin.call(ctx, "GET", batch, "", nil)
		return b.text("state") == "finished", err
	})
	if b := k.must(k.admin, "GET", batch, nil); b.text("kind") != "plan_move" || number(b, "made") != "2.00" ||
		b.text("title") != "Plan home" {
		t.Errorf("batch %v", b)
	}
	planned := func(line string) any { return k.must(k.admin, "GET", "/subscriptions/"+line, nil)["plannedPlan"] }
	if p := k.must(k.admin, "GET", "/subscriptions/"+paid, nil); p.at("plannedPlan.planVersion") != "2" ||
		number(p, "planVersion") != "1.00" || p.text("paidUntil") != until {
		t.Errorf("the paid one: %v", p)
	}
	if planned(waits) == nil || planned(elsewhere) != nil {
		t.Errorf("planned: %v, %v", planned(waits), planned(elsewhere))
	}
	preview := k.must(k.admin, "POST", batch+"/undo/preview", nil)
	if number(preview, "undone") != "2.00" {
		t.Errorf("preview %v", preview)
	}
	k.must(k.admin, "POST", batch+"/undo", map[string]any{"reason": "too early"})
	k.eventually("the end of the undo", func(ctx context.Context) (bool, error) {
		b, err := k.admin.call(ctx, "GET", batch, "", nil)
		return b.at("undo.state") == "finished", err
	})
	if planned(waits) != nil || planned(paid) != nil {
		t.Errorf("still planned: %v, %v", planned(waits), planned(paid))
	}
}
