package main

import (
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
