package main

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// TestCompensation_AKillWhileItIsGivenGivesNothingTwiceAndMissesNobody: the program is killed right after somebody
// began to give, and again at its next start. Then each of the customers has what the preview said, once.
func TestCompensation_AKillWhileItIsGivenGivesNothingTwiceAndMissesNobody(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	program := k.spawn(freePort(t))
	k.signIn()
	const customers = 24
	before := k.payingAt("hillside", customers)
	preview := k.must(k.admin, "POST", "/compensations", map[string]any{
		"tag": "hillside", "from": time.Now().Add(-time.Hour), "to": time.Now(), "give": map[string]any{"days": 2},
		"reason": "The mast had no power.",
	})
	if fmt.Sprint(preview["customers"]) != fmt.Sprint(customers) || fmt.Sprint(preview["days"]) != "48" {
		t.Fatalf("previewed: %v", preview)
	}
	at := "/compensations/" + preview.text("id")
	k.must(k.admin, "POST", at+"/apply", nil)
	for range 2 {
		program.kill9()
		program = k.spawn(freePort(t))
	}
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	k.must(k.admin, "POST", at+"/apply", nil)
	k.eventually("the compensation to end", func(ctx context.Context) (bool, error) {
		now, err := k.admin.call(ctx, "GET", at, "", nil)
		return now.text("state") == "finished" && fmt.Sprint(now["given"]) == fmt.Sprint(customers) &&
			fmt.Sprint(now["failed"]) == "0", err
	})
	k.eventually("everybody to have two days more", func(context.Context) (bool, error) {
		for line, until := range k.paidUntils() {
			if got := until.Sub(before[line]); got != 48*time.Hour {
				return false, fmt.Errorf("%s was paid until %v, and is now until %v", line, before[line], until)
			}
		}
		return true, nil
	})
	for _, item := range k.all(k.admin, at+"/items") {
		if item["given"] != true || fmt.Sprint(item["days"]) != "2" || item["code"] != nil {
			t.Errorf("item %v", item)
		}
	}
}

// payingAt makes so many customers of an area, each with a paid subscription, and gives the end of what each has paid.
func (k *kit) payingAt(tag string, customers int) map[string]time.Time {
	k.t.Helper()
	plan := k.plan("home", 1500)
	for n := range customers {
		customer := k.must(k.admin, "POST", "/subscribers", map[string]any{
			"firstName": "Customer", "phone": fmt.Sprintf("+2547110%05d", n), "tags": []string{tag},
		}).text("id")
		k.must(k.admin, "POST", "/subscriptions", map[string]any{"subscriberId": customer, "planId": plan})
		k.must(k.admin, "POST", "/payments/cash", map[string]any{
			"subscriberId": customer, "amount": 1500, "reference": fmt.Sprint("till ", n),
		})
	}
	var paid map[string]time.Time
	k.eventually("all to have paid", func(context.Context) (bool, error) {
		paid = k.paidUntils()
		return len(paid) == customers, nil
	})
	return paid
}

// paidUntils has the end of what is paid of each active subscription.
func (k *kit) paidUntils() map[string]time.Time {
	k.t.Helper()
	paid := map[string]time.Time{}
	for _, line := range k.all(k.admin, "/subscriptions?state=active") {
		if line.text("paidUntil") == "" {
			continue
		}
		until, err := time.Parse(time.RFC3339Nano, line.text("paidUntil"))
		if err != nil {
			k.t.Fatal(err)
		}
		paid[line.text("id")] = until
	}
	return paid
}
