package main

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// TestOutages_AnotherOrganizationsAreAbsent: nobody sees, ends, describes or compensates what is of another
// organization, nor begins an outage at its routers and services, nor stands a router behind its.
func TestOutages_AnotherOrganizationsAreAbsent(t *testing.T) {
	t.Parallel()
	k := newKit(t).withRouters("7.16").start().signIn()
	device := k.register(0)
	service := k.service(device, map[string]any{"type": "pppoe", "parentInterface": "ether4"})
	k.payingAt("hillside", 1)
	other, support := k.strangers()
	outage := k.must(k.admin, "POST", "/outages", map[string]any{
		"tag": "hillside", "title": "Mast", "tell": false,
	}).text("id")
	for range 2 { // a repeat of the same words says nothing new
		k.must(k.admin, "PATCH", "/outages/"+outage, map[string]any{"message": "No power.", "title": nil})
	}
	if o := k.must(support, "GET", "/outages/"+outage, nil); o["title"] != nil || o.text("message") != "No power." ||
		o.at("customers") != "1" || o.at("told.began.asked") != "0" {
		t.Errorf("support reads %v", o)
	}
	gift := k.hillsideGift(map[string]any{"days": 1})
	at, given := "/outages/"+outage, "/compensations/"+gift
	k.foundNowhere(other, at, given)
	where := map[string]any{"from": time.Now().Add(-time.Hour), "to": time.Now(), "give": "proportional", "reason": "x"}
	for _, place := range [][2]string{
		{"deviceId", device.device}, {"serviceId", service}, {"outageId", outage},
	} {
		code := map[string]string{"deviceId": "device_not_found", "serviceId": "service_not_found"}[place[0]]
		if code != "" {
			k.refused(other, "POST /outages", map[string]any{place[0]: place[1]}, 404, code)
		} else {
			code = "outage_not_found"
		}
		body := map[string]any{place[0]: place[1]}
		for name, value := range where {
			body[name] = value
		}
		k.refused(other, "POST /compensations", body, 404, code)
	}
	own := k.must(other, "POST", "/nas/devices", map[string]any{
		"name": "own", "ipAddress": "203.0.113.9", "radiusSecret": "radiussecret",
	}).text("id")
	k.refused(other, "PATCH /nas/devices/"+own, map[string]any{"upstreamId": device.device}, 404, "device_not_found")
	same := k.must(other, "POST", "/outages", map[string]any{"tag": "hillside"})
	if same.at("customers") != "0" {
		t.Errorf("the same tag of another organization has customers: %v", same)
	}
	for _, call := range []string{"POST /outages", "PATCH " + at, "POST " + at + "/end", "POST " + at + "/tell",
		"POST /compensations", "POST " + given + "/apply", "PUT /settings/outages"} {
		k.refused(support, call, map[string]any{}, 403, "role_required")
	}
	if o := k.must(k.admin, "GET", at, nil); o.text("state") != "running" || o.text("message") != "No power." {
		t.Errorf("afterwards: %v", o)
	}
	if c := k.must(k.admin, "GET", given, nil); c.text("state") != "previewed" {
		t.Errorf("afterwards: %v", c)
	}
}

// foundNowhere checks that an outage and a compensation are absent for somebody, and no filter finds them.
func (k *kit) foundNowhere(other apiClient, outage, compensation string) {
	k.t.Helper()
	for _, call := range []string{
		"GET " + outage, "PATCH " + outage, "POST " + outage + "/end", "GET " + outage + "/customers",
	} {
		k.refused(other, call, map[string]any{}, 404, "outage_not_found")
	}
	for _, call := range []string{
		"GET " + compensation, "GET " + compensation + "/items", "POST " + compensation + "/apply",
	} {
		k.refused(other, call, nil, 404, "compensation_not_found")
	}
	k.refused(other, "POST "+outage+"/tell", nil, 404, "outage_not_found")
	of := outage[len("/outages/"):]
	for _, list := range []string{
		"/outages", "/compensations", "/compensations?outageId=" + of, "/messages?outageId=" + of,
	} {
		if rows := k.all(other, list); len(rows) != 0 {
			k.t.Errorf("%s of another organization: %v", list, rows)
		}
	}
}

// hillsideGift previews something for the hillside of the last hour, and gives the id.
func (k *kit) hillsideGift(give map[string]any) string {
	k.t.Helper()
	return k.must(k.admin, "POST", "/compensations", map[string]any{
		"tag": "hillside", "from": time.Now().Add(-time.Hour), "to": time.Now(), "give": give, "reason": "The mast.",
	}).text("id")
}

// TestCompensation_TimesThatOverlapAreGivenOnce: two people preview the same at once, and both give it. Days of the one
// and money of the other count as the same time.
func TestCompensation_TimesThatOverlapAreGivenOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	before := k.payingAt("hillside", 2)
	first, second := k.hillsideGift(map[string]any{"days": 1}), k.hillsideGift(map[string]any{"money": 100})
	for _, one := range []string{first, second} {
		k.must(k.admin, "POST", "/compensations/"+one+"/apply", nil)
		k.eventually("the compensation to end", func(ctx context.Context) (bool, error) {
			now, err := k.admin.call(ctx, "GET", "/compensations/"+one, "", nil)
			return now.text("state") == "finished", err
		})
	}
	now := k.must(k.admin, "GET", "/compensations/"+second, nil)
	if now.at("given") != "0" || now.at("refused") != "2" || now.at("failed") != "2" || now.at("customers") != "0" {
		t.Errorf("the second one: %v", now)
	}
	for _, item := range k.all(k.admin, "/compensations/"+second+"/items?gets=false") {
		if item.text("code") != "already_compensated" || item["given"] != false {
			t.Errorf("item %v", item)
		}
	}
	k.eventually("one day more", func(context.Context) (bool, error) {
		for line, until := range k.paidUntils() {
			if until.Sub(before[line]) != 24*time.Hour {
				return false, fmt.Errorf("%s: %v, before %v", line, until, before[line])
			}
		}
		return true, nil
	})
	for _, customer := range k.all(k.admin, "/subscribers") {
		if entries := k.all(k.admin, "/subscribers/"+customer.text("id")+"/statement"); len(entries) != 2 {
			t.Errorf("beside invoice and payment the statement has a credit: %v", entries)
		}
	}
	today := k.must(k.admin, "GET", "/reports/today", nil)
	list := "/compensations?state=finished&failed=true&from=" + today.at("compensations.failedFrom")
	if rows := k.all(k.admin, list); today.at("compensations.failed") != "1" || len(rows) != 1 ||
		rows[0].text("id") != second {
		t.Errorf("Home tells %v, %s has %v", today["compensations"], list, rows)
	}
}

// TestCompensation_ThereAreSoManyPreviewsAnHour, since each stays in the log with all its subscriptions. What is
// refused for its form counts for nothing.
func TestCompensation_ThereAreSoManyPreviewsAnHour(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.payingAt("hillside", 1)
	gift := map[string]any{
		"tag": "hillside", "from": time.Now().Add(-time.Hour), "to": time.Now(), "give": map[string]any{"days": 1},
		"reason": "",
	}
	for range 5 {
		k.refused(k.admin, "POST /compensations", gift, 422, "invalid_input")
	}
	gift["reason"] = "The mast."
	for range 30 {
		k.must(k.admin, "POST", "/compensations", gift)
	}
	k.refused(k.admin, "POST /compensations", gift, 429, "rate_limited")
}
