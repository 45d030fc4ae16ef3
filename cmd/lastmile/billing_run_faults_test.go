package main

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// TestBillingRun_TheFaultOfAnOrganizationStopsNoOther: the provider refuses what one organization has given for its own
// shortcode, and another organization is suspended. All customers are invoiced on their day.
func TestBillingRun_TheFaultOfAnOrganizationStopsNoOther(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	mail := map[string]string{"acme": testAdminEmail, "broken": "a@broken.test", "closed": "a@closed.test"}
	for n, slug := range []string{"acme", "broken", "closed"} {
		if slug != "acme" {
			k.admin = k.organization(slug, mail[slug])
		}
		plan := k.onFirst("later", "postpaid")
		for i := range 2 {
			who, _ := k.subscriber(fmt.Sprintf("2547110%02d%03d", n, i))
			k.subscribe(who, plan)
		}
	}
	broken, _ := k.login("broken", mail["broken"], testPassword)
	k.must(broken, "PUT", "/settings/payment-gateway", map[string]any{
		"mode": "direct", "environment": "sandbox", "shortcode": "600999", "consumerKey": "wrong",
		"consumerSecret": "wrong", "passkey": "wrong",
	})
	closed := k.organizationID("closed").String()
	k.must(k.root, "POST", "/orgs/"+closed+"/suspend", map[string]string{"reason": "asked for it"})

	month := k.firstOfMonth(1)
	date := month.Format(time.DateOnly)
	k.advance(map[string]any{"to": month.Add(9 * time.Hour)})
	k.must(k.root, "POST", "/orgs/"+closed+"/resume", map[string]string{"reason": "is back"})
	for _, slug := range []string{"acme", "broken", "closed"} {
		k.admin, _ = k.login(slug, mail[slug], testPassword)
		run := k.billingRun(date, "finished")
		if run.at("done") != "2" || run.at("failed") != "0" {
			t.Errorf("the run of %s is %v", slug, run)
		}
		for _, who := range k.all(k.admin, "/subscribers") {
			k.issued(who.text("id"), 2)
		}
	}
	k.soundBooks()
}

// TestBillingRun_WhoCannotBeReadIsToldOnHome: the run invoices the others, names the one that it could not, and Home
// tells of it until a run invoices everybody.
func TestBillingRun_WhoCannotBeReadIsToldOnHome(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	later := k.onFirst("later", "postpaid")
	var lines []string
	for n := range 2 {
		who, _ := k.subscriber(fmt.Sprintf("25471200%04d", n))
		lines = append(lines, k.subscribe(who, later))
		k.issued(who, 1)
	}
	month := k.firstOfMonth(1)
	k.whileStopped("subscribers.SubscriptionCreated%", damaged, lines[0])
	k.advance(map[string]any{"to": month.Add(9 * time.Hour)})
	run := k.billingRun(month.Format(time.DateOnly), "finished")
	if failures := run.list("failures"); run.at("done") != "1" || run.at("failed") != "1" || len(failures) != 1 ||
		failures[0].text("code") != "internal" || failures[0].text("subscriptionId") != lines[0] {
		t.Errorf("the run: %v", run)
	}
	fault := k.runFault()
	if fault.at("root.id") != run.text("id") || fault.list("effects")[0].at("count") != "1" {
		t.Errorf("Home: %v", fault)
	}
	k.whileStopped("subscribers.SubscriptionCreated%", mended, lines[0])
	k.must(k.admin, "POST", "/billing/runs", map[string]string{"date": month.Format(time.DateOnly)})
	k.eventually("Home to be well", func(context.Context) (bool, error) { return k.runFault() == nil, nil })
}

// runFault finds the fault on Home of a run that left somebody out; nil = none.
func (k *kit) runFault() answer {
	k.t.Helper()
	for _, fault := range k.must(k.admin, "GET", "/reports/today", nil).list("faults") {
		if fault.text("kind") == "run_failed" {
			return fault
		}
	}
	return nil
}
