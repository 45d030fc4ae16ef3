package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestCompensation_IsGivenOnceWhateverIsRepeated: an outage of an area is begun and ended by a person, and what its
// customers get is previewed, given once, and refused for a time that overlaps.
func TestCompensation_IsGivenOnceWhateverIsRepeated(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true")
	k.start().signIn()
	customer, account := k.subscriber("254711000777")
	k.must(k.admin, "PATCH", "/subscribers/"+customer, map[string]any{"tags": []string{"hillside"}})
	line := k.must(k.admin, "POST", "/subscriptions", map[string]any{
		"subscriberId": customer, "planId": k.plan("home", 1500), "username": "hill",
	}).text("id")
	k.issued(customer, 1)
	k.must(k.admin, "POST", "/payments/cash", map[string]any{
		"subscriberId": customer, "amount": 1500, "reference": "till " + account,
	})
	before := k.until(line, "")
	k.advance(map[string]any{"advance": "72h"})
	outage := k.must(k.admin, "POST", "/outages", map[string]any{
		"tag": "hillside", "title": "Mast on the hill", "startedAt": k.app.clock.Now().Add(-30 * time.Hour),
	})
	if outage.text("state") != "running" || fmt.Sprint(outage["customers"]) != "1" {
		t.Errorf("begun: %v", outage)
	}
	k.refuses(k.admin, "POST", "/outages", map[string]any{"tag": "hillside"}, "outage_exists")
	k.shows("/status", "Mast on the hill", "254711000777")
	at := "/outages/" + outage.text("id")
	k.must(k.admin, "POST", at+"/end", map[string]any{})
	wanted := map[string]any{"outageId": outage.text("id"), "give": "proportional", "reason": "The mast had no power."}
	preview := k.must(k.admin, "POST", "/compensations", wanted)
	if preview.text("state") != "previewed" || fmt.Sprint(preview["days"]) != "2" {
		t.Errorf("previewed: %v", preview)
	}
	of := "/compensations/" + preview.text("id")
	for range 2 {
		k.must(k.admin, "POST", of+"/apply", nil)
	}
	k.eventually("the compensation to end", func(ctx context.Context) (bool, error) {
		now, err := k.admin.call(ctx, "GET", of, "", nil)
		return now.text("state") == "finished" && fmt.Sprint(now["given"]) == "1", err
	})
	after := k.until(line, before.UTC().Format(time.RFC3339Nano))
	if got := after.Sub(before); got < 47*time.Hour || got > 49*time.Hour {
		t.Errorf("paid until %s, before %s", after, before)
	}
	again := k.must(k.admin, "POST", "/compensations", wanted)
	items := k.must(k.admin, "GET", "/compensations/"+again.text("id")+"/items", nil).list("data")
	if len(items) != 1 || items[0].text("code") != "already_compensated" {
		t.Errorf("the same time again: %v", items)
	}
	wanted["outageId"] = line // of nothing that is an outage
	k.refuses(k.admin, "POST", "/compensations", wanted, "outage_not_found")
}

// refuses fails the test unless a call is refused with a code.
func (k *kit) refuses(c apiClient, method, path string, body any, code string) {
	k.t.Helper()
	_, err := c.call(k.t.Context(), method, path, "", body)
	if err == nil || !strings.Contains(err.Error(), code) {
		k.t.Errorf("%s %s: %v, want %s", method, path, err, code)
	}
}

// shows fails the test unless a public page has one text and not the other.
func (k *kit) shows(path, has, hasNot string) {
	k.t.Helper()
	text, err := k.admin.text(k.t.Context(), path)
	if err != nil || !strings.Contains(text, has) || strings.Contains(text, hasNot) {
		k.t.Errorf("%s: %v %s", path, err, text)
	}
}
