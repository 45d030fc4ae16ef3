package main

import (
	"context"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// staleGift previews 20 days for a customer of whom the paid time goes on, and lets that end: the days would be money.
func staleGift(k *kit) (gift string) {
	k.t.Helper()
	k.payingAt("hillside", 1)
	k.advance(map[string]any{"advance": "72h"})
	now := k.app.clock.Now()
	preview := k.must(k.admin, "POST", "/compensations", map[string]any{
		"tag": "hillside", "from": now.Add(-30 * time.Hour), "to": now.Add(-time.Hour),
		"give": map[string]any{"days": 20}, "reason": "The mast had no power.",
	})
	if preview.at("days") != "20" || number(preview, "amount") != "0.00" {
		k.t.Errorf("previewed %v", preview)
	}
	k.advance(map[string]any{"advance": "840h"})
	return preview.text("id")
}

// TestCompensation_DaysThatWouldBecomeMoneyAreNotGiven: nobody gives money away whose sum no preview has told, and no
// second person has seen. Another preview tells it, and waits for the second person.
func TestCompensation_DaysThatWouldBecomeMoneyAreNotGiven(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.must(k.admin, "PUT", "/settings/approvals", map[string]any{"limit": 0})
	gift := staleGift(k)
	k.refused(k.admin, "POST /compensations/"+gift+"/apply", nil, 409, "preview_stale")
	if c := k.must(k.admin, "GET", "/compensations/"+gift, nil); c.text("state") != "previewed" {
		t.Errorf("after the refusal: %v", c)
	}
	old := k.must(k.admin, "GET", "/compensations/"+gift, nil)
	again := k.must(k.admin, "POST", "/compensations", map[string]any{
		"tag": "hillside", "from": old.text("from"), "to": old.text("to"), "give": map[string]any{"days": 20},
		"reason": "The mast had no power.",
	})
	if number(again, "amount") == "0.00" {
		t.Errorf("previewed again %v", again)
	}
	if asked := k.must(k.admin, "POST", "/compensations/"+again.text("id")+"/apply", nil); asked.text("status") !=
		"waiting" {
		t.Errorf("applied alone: %v", asked)
	}
	for _, i := range k.all(k.admin, "/invoices") {
		if number(i, "credited") != "0.00" {
			t.Errorf("%s were given away", number(i, "credited"))
		}
	}
}

// TestGivePart_WhatBecameSomethingElseIsNotGiven: the part is given so long after it was applied that its days would be
// money. The subscription refuses it, and staff reads why.
func TestGivePart_WhatBecameSomethingElseIsNotGiven(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	gift := staleGift(k)
	org, of := k.organizationID("acme"), id.Must[id.Compensation](gift)
	meta := commands.Meta{
		CommandID: id.New[id.Command](), OrgID: org, Actor: events.Actor{Kind: events.ActorProcess, ID: "test"},
	}
	if _, err := k.app.engines.bus.Execute(t.Context(), commands.ApplyCompensation{CompensationID: of},
		meta); err != nil { // past the look at what has changed
		t.Fatal(err)
	}
	at := "/compensations/" + gift
	k.eventually("the compensation to end", func(ctx context.Context) (bool, error) {
		now, err := k.admin.call(ctx, "GET", at, "", nil)
		return now.text("state") == "finished", err
	})
	c, items := k.must(k.admin, "GET", at, nil), k.all(k.admin, at+"/items")
	if c.at("given") != "0" || c.at("failed") != "1" || items[0].text("code") != "compensation_changed" {
		t.Errorf("given %v: %v", c, items)
	}
	for _, i := range k.all(k.admin, "/invoices") {
		if number(i, "credited") != "0.00" {
			t.Errorf("%s were given away", number(i, "credited"))
		}
	}
}

// TestCompensation_WhatChangedWhileItWaitedIsNoObstacleForTheOthers: two customers were hit, and of one the paid time
// ends while the gift waits for a second person: days would be money that nobody has seen. The other gets what the two
// have seen.
func TestCompensation_WhatChangedWhileItWaitedIsNoObstacleForTheOthers(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.colleagues("second")
	k.limitedTo(0)
	k.payingAt("hillside", 2)
	k.advance(map[string]any{"advance": "72h"})
	hit := k.app.clock.Now()
	k.advance(map[string]any{"advance": "840h"})
	pays := k.all(k.admin, "/subscriptions")[0].text("subscriberId")
	k.must(k.admin, "POST", "/payments/cash", map[string]any{
		"subscriberId": pays, "amount": 1500, "reference": "till again",
	})
	var until time.Time
	k.eventually("one to be served again", func(context.Context) (bool, error) {
		for _, until = range k.paidUntils() {
			if until.After(k.app.clock.Now()) {
				return true, nil
			}
		}
		return false, nil
	})
	k.advance(map[string]any{"to": until.Add(-24 * time.Hour)})
	gift := k.must(k.admin, "POST", "/compensations", map[string]any{
		"tag": "hillside", "from": hit.Add(-30 * time.Hour), "to": hit.Add(-time.Hour),
		"give": map[string]any{"days": 20}, "reason": "The mast had no power.",
	})
	if gift.at("days") != "20" || number(gift, "amount") == "0.00" {
		t.Fatalf("previewed %v", gift)
	}
	at := "/compensations/" + gift.text("id")
	approval := k.askedFor(k.admin, at+"/apply", nil)
	k.advance(map[string]any{"advance": "48h"})
	second, _ := k.login("acme", "second@acme.test", testPassword)
	k.approves(second, approval, "carried_out")
	k.eventually("the gift to end", func(ctx context.Context) (bool, error) {
		now, err := k.admin.call(ctx, "GET", at, "", nil)
		return now.text("state") == "finished", err
	})
	if c := k.must(k.admin, "GET", at, nil); c.at("given") != "1" || c.at("failed") != "1" {
		t.Errorf("given %v", c)
	}
	for _, item := range k.all(k.admin, at+"/items") {
		if code := item.text("code"); item.text("subscriberId") == pays != (code == "compensation_changed") {
			t.Errorf("a customer got %v", item)
		}
	}
}
