package main

import (
	"context"
	"net/url"
	"slices"
	"testing"
	"time"

	"layeh.com/radius/rfc2866"

	"github.com/lastmile-isp/lastmile/radius/directory"
)

// access asks why a customer is on or off; at is RFC 3339 or empty.
func (k *kit) access(c connection, at string) answer {
	k.t.Helper()
	path := "/subscribers/" + c.subscriber + "/access"
	if at != "" {
		path += "?at=" + url.QueryEscape(at)
	}
	return k.must(k.admin, "GET", path, nil)
}

// refusalsOf gives how often sign-ins of a customer were refused, by code.
func refusalsOf(x answer) map[string]float64 {
	got := map[string]float64{}
	for _, r := range x.list("refusals") {
		if count, ok := r["count"].(float64); ok && r.text("deviceName") != "" && r.text("at") != "" {
			got[r.text("code")] += count
		}
	}
	return got
}

// TestExplain_FollowsTheWholeCircleOfDunning: a customer does not pay, is walled in, and pays. Each time the
// explanation, the subscription and the answer to routers agree, and afterwards the explanation of each instant is the
// same.
func TestExplain_FollowsTheWholeCircleOfDunning(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.paybillReady()
	k.must(k.admin, "PUT", "/settings/dunning", map[string]any{"default": map[string]any{
		"reminderDays": []int{}, "noCutDays": []string{}, "noCutAfter": map[string]string{}, "skipHolidays": false,
	}})
	customer, account := k.subscriber("254711000341")
	subscription := k.subscribe(customer, k.plan("home", 1500))
	c := connection{subscriber: customer, subscription: subscription}
	k.issued(customer, 1)
	k.pay("254711000341", account, 1500)
	until, err := time.Parse(time.RFC3339Nano, k.paidUntil(subscription, ""))
	if err != nil {
		t.Fatal(err)
	}
	type seen struct{ at, entitled, code, cause, dunning string }
	var all []seen
	look := func(at string, want seen) {
		t.Helper()
		var last seen
		k.eventually("an explanation with "+want.code, func(context.Context) (bool, error) {
			x := k.access(c, at)
			service := x.list("services")[0]
			sub := k.must(k.admin, "GET", "/subscriptions/"+subscription, nil)
			dunning, _ := service["dunning"].(map[string]any)
			state, _ := dunning["state"].(string)
			reason := x.list("reasons")[0]
			cause, _ := reason["cause"].(map[string]any)
			kind, _ := cause["type"].(string)
			last = seen{at, x.text("entitled"), reason.text("code"), kind, state}
			return last == want && service["entitled"] == x["entitled"] && (at != "" || sub["access"] == x["entitled"]),
				nil
		})
		if at == "" {
			want.at = k.programTime().Format(time.RFC3339Nano)
			all = append(all, want)
		}
	}
	look("", seen{entitled: "full", code: "paid", cause: "event", dunning: "none"})
	k.advance(map[string]any{"to": until.AddDate(0, 0, 1)})
	look("", seen{entitled: "full", code: "grace", cause: "event", dunning: "reminding"})
	k.advance(map[string]any{"to": until.AddDate(0, 0, 4)})
	look("", seen{entitled: "walled_garden", code: "overdue", cause: "event", dunning: "walled_garden"})
	k.advance(map[string]any{"to": until.AddDate(0, 0, 12)})
	look("", seen{entitled: "none", code: "suspended", cause: "event", dunning: "suspended"})
	k.pay("254711000341", account, 1500)
	look("", seen{entitled: "full", code: "paid", cause: "event", dunning: "none"})
	for _, then := range all {
		look(then.at, then)
	}
}

// TestExplain_TellsWhyACustomerIsOffAndOn: refused sign-ins are found with their reasons, also after a restart; a
// session is seen when its router reports it, and the past stays as it was.
func TestExplain_TellsWhyACustomerIsOffAndOn(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	ours := k.connect(k.admin, "secret-of-acme", "amina")
	if s := k.access(ours, "").list("services")[0]; s.at("heard") != "<nil>" || s.at("notHeard.never") != "true" ||
		s.at("notHeard.since") != k.must(k.admin, "GET", "/subscriptions/"+ours.subscription, nil).at("createdAt") {
		t.Errorf("who never signed in: %v", s)
	}
	k.rejected(ours, "a guess", directory.CodeWrongPassword)
	k.rejected(ours, ours.password, directory.CodeUnpaid)
	stranger := ours
	stranger.username = "nobody"
	k.rejected(stranger, "pw", directory.CodeUnknownUser)
	k.eventually("refused sign-ins in the explanation", func(context.Context) (bool, error) {
		got := refusalsOf(k.access(ours, ""))
		return got["unpaid"] > 0 && got["wrong_password"] > 0, nil
	})
	before := k.access(ours, "")
	if s := before.list("services")[0]; before.text("entitled") != "none" || before.text("observed") != "offline" ||
		s.at("heard.deviceName") != "tower" || s.at("heard.at") == "<nil>" || s.at("notHeard") != "<nil>" {
		t.Errorf("before the payment: %v", before)
	}
	router := "/nas/devices/" + k.must(k.admin, "GET", "/nas/devices", nil).list("data")[0].text("id") + "/refusals"
	k.eventually("a refused stranger at the router", func(context.Context) (bool, error) {
		list := k.must(k.admin, "GET", router, nil).list("data")
		return len(list) == 1 && list[0].text("code") == "unknown_user" && list[0]["count"] == 1.0, nil
	})
	beta := k.organization("beta", "admin@beta.test")
	k.refused(beta, "GET "+router, nil, 404, "device_not_found")
	k.refused(beta, "GET /subscribers/"+ours.subscriber+"/access", nil, 404, "subscriber_not_found")
	unpaid := time.Now().UTC().Format(time.RFC3339Nano) //nolint:forbidigo // the program runs by the machine's clock
	class := k.signedIn(k.admin, ours)
	k.report(ours, class, told{
		session: "81000001", mac: "AA-BB-CC-00-11-22", ip: "100.64.0.9",
		status: rfc2866.AcctStatusType_Value_Start,
	})
	k.app.Stop()
	k.start()
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	now := k.access(ours, "")
	services := now.list("services")
	if now.text("entitled") != "full" || now.text("observed") != "online" || len(services) != 1 ||
		services[0].text("username") != "amina" || len(services[0].list("sessions")) != 1 ||
		services[0].list("sessions")[0].text("deviceName") == "" || refusalsOf(now)["wrong_password"] == 0 {
		t.Errorf("after the payment and a restart: %v", now)
	}
	then := k.access(ours, unpaid) // sessions are kept in whole seconds, so that this one may be seen already
	if then.text("entitled") != "none" ||
		then.list("reasons")[0].text("code") != "awaiting_payment" {
		t.Errorf("before the payment, asked later: %v", then)
	}
	for _, at := range []string{"yesterday", "2999-01-01T00:00:00Z", "2001-01-01T00:00:00Z", "2026-13-01"} {
		k.refused(k.admin, "GET /subscribers/"+ours.subscriber+"/access?at="+at, nil, 422, "invalid_input")
	}
}

// TestExplain_SaysOfWhichSubscriptionAReasonIsAndWhatAnEndMeans: each reason names its subscription. The device of a
// customer whose last subscription has ended is told so, also after a restart, and the end is found in the timeline.
func TestExplain_SaysOfWhichSubscriptionAReasonIsAndWhatAnEndMeans(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	ours := k.connect(k.admin, "secret-of-acme", "amina")
	second := k.subscribe(ours.subscriber, k.plan("second", 1500))
	k.eventually("both subscriptions have a reason", func(context.Context) (bool, error) {
		of := map[string]bool{}
		for _, r := range k.access(ours, "").list("reasons") {
			of[r.text("subscriptionId")] = true
		}
		return len(of) == 2 && of[ours.subscription] && of[second], nil
	})
	k.must(k.admin, "POST", "/subscribers/"+ours.subscriber+"/block", map[string]any{"reason": "abuse"})
	k.eventually("a block is about all", func(context.Context) (bool, error) {
		first := k.access(ours, "").list("reasons")[0]
		return first.text("code") == "blocked" && first["subscriptionId"] == nil, nil
	})
	k.must(k.admin, "POST", "/subscribers/"+ours.subscriber+"/unblock", map[string]any{"reason": "sorry"})
	for _, s := range []string{second, ours.subscription} {
		k.must(k.admin, "POST", "/subscriptions/"+s+"/end", map[string]any{"reason": "moved to Kisumu"})
	}
	k.rejected(ours, ours.password, directory.CodeEnded)
	k.app.Stop()
	k.start()
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	k.rejected(ours, ours.password, directory.CodeEnded)
	k.eventually("the end is explained", func(context.Context) (bool, error) {
		x := k.access(ours, "")
		reason := x.list("reasons")[0]
		cause, _ := reason["cause"].(map[string]any)
		rows := k.must(k.admin, "GET", "/subscribers/"+ours.subscriber+"/timeline", nil).list("data")
		row := slices.IndexFunc(rows, func(r answer) bool { return r["eventId"] == cause["id"] })
		return refusalsOf(x)["ended"] > 1 && reason.text("code") == "ended" && cause["type"] == "event" &&
			reason.text("subscriptionId") == ours.subscription && row >= 0 &&
			rows[row].text("reason") == "moved to Kisumu", nil
	})
}
