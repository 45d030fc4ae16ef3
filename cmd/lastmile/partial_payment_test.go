package main

import (
	"strings"
	"testing"
	"time"
)

// TestPartialPayment_HalfTheMoneyIsHalfTheDays follows a customer who pays the first month in part, at once for half of
// its days, and a part of the next one before its time, which buys days when the paid time ends and cuts nobody.
func TestPartialPayment_HalfTheMoneyIsHalfTheDays(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.toThirtyDays()
	k.paybillReady()
	plan := k.plan("home", 1500)
	changed := k.must(k.admin, "PATCH", "/plans/"+plan, map[string]any{"partialPayment": "days"})
	if changed.text("partialPayment") != "days" {
		t.Fatalf("the plan is %v", changed)
	}
	customer, account := k.subscriber("254711000611")
	line := k.subscribe(customer, plan)
	k.issued(customer, 1)
	begun := k.app.clock.Now()
	k.pay("254711000611", account, 800)
	days := 800 * int(k.monthsAfter(begun, 1, 0).Sub(begun)/(24*time.Hour)) / 1500
	end := k.until(line, "")
	if want := begun.AddDate(0, 0, days); end.Sub(want).Abs() > time.Minute {
		t.Fatalf("paid until %v, want %d days from %v", end, days, begun)
	}
	if got := number(k.must(k.admin, "GET", "/subscribers/"+customer, nil), "balance"); strings.Contains(got, "-") {
		t.Errorf("the balance is %s after the days were bought", got)
	}

	k.advance(map[string]any{"to": end.Add(-48 * time.Hour)})
	k.issued(customer, 2)
	k.pay("254711000611", account, 300)
	k.advance(map[string]any{"to": end.Add(-time.Minute)})
	next := k.until(line, end.UTC().Format(time.RFC3339Nano))
	month := int(k.monthsAfter(end, 1, 0).Sub(end) / (24 * time.Hour))
	if low, high := end.AddDate(0, 0, 300*month/1500), end.AddDate(0, 0, 300*month/1500+1); next.Before(low) ||
		next.After(high) {
		t.Errorf("paid until %v, want about %v", next, low)
	}
	k.advance(map[string]any{"to": end.Add(time.Hour)})
	if got := k.must(k.admin, "GET", "/subscriptions/"+line, nil).text("access"); got != "full" {
		t.Errorf("the customer has access %q", got)
	}
	k.soundBooks()
	k.refused(k.admin, "PATCH /plans/"+plan, map[string]any{"partialPayment": "never"}, 422, "invalid_input")
	k.refused(k.admin, "PATCH /plans/"+plan, map[string]any{
		"billing": map[string]any{"mode": "prepaid", "period": "month", "anchor": 5},
	}, 422, "invalid_input")
}
