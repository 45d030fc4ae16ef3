package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
)

// capped gives the organization of a client a customer with a postpaid line that stops after 1,000 bytes a day.
func (k *kit) capped(c apiClient, of connection) connection { return k.cappedLine(c, of, "postpaid") }

// cappedLine is such a line in a mode of billing.
func (k *kit) cappedLine(c apiClient, of connection, mode string) connection {
	k.t.Helper()
	plan := k.must(c, "POST", "/plans", map[string]any{
		"code": "capped", "name": "Capped", "kind": "pppoe", "price": 1000, "currency": "KES",
		"billing": map[string]string{"mode": mode, "period": "month"},
		"rates":   map[string]any{"down": 10000, "up": 5000},
		"cap":     map[string]any{"bytes": 1000, "period": "day", "then": "stop"},
	}).text("id")
	made := k.must(c, "POST", "/subscriptions", map[string]any{
		"subscriberId": of.subscriber, "planId": plan, "username": "capped",
	})
	of.username, of.password, of.subscription = "capped", made.text("password"), made.text("id")
	return of
}

// uses reports what the customer's session has used in all.
func (k *kit) uses(c connection, class []byte, online time.Duration, bytes uint64) {
	k.t.Helper()
	k.report(c, class, told{
		session: "81000009", mac: "AA-BB-CC-00-11-33", ip: "100.64.0.9",
		status: rfc2866.AcctStatusType_Value_InterimUpdate, online: online, down: bytes - 100, up: 100,
	})
}

// offline waits until a sign-in is refused.
func (k *kit) offline(c connection) {
	k.t.Helper()
	k.eventually("sign-in to be refused", func(context.Context) (bool, error) {
		return k.dial(c.secret, c.username, c.password).Code == radius.CodeAccessReject, nil
	})
}

// happened counts the rows of a type in a customer's timeline.
func (k *kit) happened(c connection, event string) (n int) {
	k.t.Helper()
	for _, row := range k.must(k.admin, "GET", "/subscribers/"+c.subscriber+"/timeline", nil).list("data") {
		if strings.HasSuffix(row.text("type"), "."+event) {
			n++
		}
	}
	return n
}

// explained checks that one reason for a customer's access has a code, and names the event that caused it.
func (k *kit) explained(c connection, code string) {
	k.t.Helper()
	k.eventually("the reason "+code, func(ctx context.Context) (bool, error) {
		why, err := k.admin.call(ctx, "GET", "/subscribers/"+c.subscriber+"/access", "", nil)
		found := 0
		for _, reason := range why.list("reasons") {
			cause, _ := reason["cause"].(map[string]any)
			if reason.text("code") == code && cause["type"] == "event" {
				found++
			}
		}
		return found == 1, err
	})
}

// TestCaps_WarnStopTopUpAndReset: a customer is warned, used everything up and is refused, is topped up and online,
// uses that up too, and is online again on the next day without anybody's help.
func TestCaps_WarnStopTopUpAndReset(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	c := k.capped(k.admin, k.connect(k.admin, "secret-of-acme", "amina"))
	class := rfc2865.Class_Get(k.online(c))
	k.uses(c, class, time.Second, 900)
	k.eventually("a warning", func(context.Context) (bool, error) {
		return k.happened(c, "CapWarned") == 1 && k.happened(c, "FirstSessionBegan") == 1, nil
	})
	k.online(c)
	k.uses(c, class, 2*time.Second, 1100)
	k.offline(c)
	k.explained(c, "cap_stopped")
	usage := k.must(k.admin, "GET", "/subscribers/"+c.subscriber+"/usage", nil)
	stand, _ := usage["cap"].(map[string]any)
	if stand["bytes"] != 1000.0 || stand["used"] != 1100.0 || stand["resetsAt"] == nil {
		t.Errorf("cap: %v", usage["cap"])
	}
	path := "/subscriptions/" + c.subscription + "/top-ups"
	for range 2 { // a repeat under the same key adds nothing
		made, err := k.admin.call(t.Context(), "POST", path, "top-up-1", map[string]any{
			"bytes": 500, "reason": "the match", "price": 250,
		})
		if err != nil || made.text("until") != stand["resetsAt"] || made["bytes"] != 500.0 {
			t.Fatalf("top-up: %v, %v", made, err)
		}
	}
	k.online(c)
	if list := k.must(k.admin, "GET", path, nil).list("data"); len(list) != 1 || list[0].text("reason") != "the match" {
		t.Errorf("top-ups: %v", list)
	}
	k.eventually("one invoice of the top-up", func(context.Context) (bool, error) {
		sold := 0
		for _, invoice := range k.must(k.admin, "GET", "/invoices?subscriberId="+c.subscriber, nil).list("data") {
			if invoice["total"] == 250.0 && invoice.text("number") != "" {
				sold++
			}
		}
		return sold == 1, nil
	})
	usage = k.must(k.admin, "GET", "/subscribers/"+c.subscriber+"/usage", nil)
	if stand, _ := usage["cap"].(map[string]any); stand["bytes"] != 1500.0 || stand["used"] != 1100.0 {
		t.Errorf("cap: %v", usage["cap"])
	}
	k.uses(c, class, 3*time.Second, 1500)
	k.offline(c)

	k.advance(map[string]any{"advance": "24h"})
	k.online(c)
	k.eventually("the reset", func(context.Context) (bool, error) { return k.happened(c, "CapReset") == 2, nil })
	beta := k.organization("beta", "admin@beta.test")
	k.refused(beta, "POST "+path, map[string]any{"bytes": 1}, 404, "subscription_not_found")
	k.refused(beta, "GET "+path, nil, 404, "subscription_not_found")
	k.refused(k.admin, "POST "+path, map[string]any{"bytes": 0}, 422, "invalid_input")
}

// topUps lists the states of a line's top-ups, newest first.
func (k *kit) topUps(c connection) (states string) {
	k.t.Helper()
	for _, row := range k.must(k.admin, "GET", "/subscriptions/"+c.subscription+"/top-ups", nil).list("data") {
		states += row.text("state") + " "
	}
	return strings.TrimSpace(states)
}

// TestCaps_APrepaidTopUpCountsWhenItIsPaid orders three top-ups for a prepaid line: one is paid after the order, one is
// never paid, and one is paid from the credit that the late money of the second has become.
func TestCaps_APrepaidTopUpCountsWhenItIsPaid(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	k.paybillReady()
	c := k.connect(k.admin, "secret-of-acme", "amina")
	k.must(k.admin, "POST", "/subscriptions/"+c.subscription+"/end", map[string]any{"reason": "another plan"})
	c = k.cappedLine(k.admin, c, "prepaid")
	k.pay("254711000077", "capped", 1000)
	class := rfc2865.Class_Get(k.online(c))
	k.uses(c, class, time.Second, 1100)
	k.offline(c)
	order := func() {
		t.Helper()
		made := k.must(k.admin, "POST", "/subscriptions/"+c.subscription+"/top-ups", map[string]any{
			"bytes": 500, "price": 250,
		})
		if made.text("invoiceId") == "" || made.text("orderedAt") == "" {
			t.Errorf("ordered %v", made)
		}
	}
	becomes := func(want string) {
		t.Helper()
		k.eventually("the top-ups "+want, func(context.Context) (bool, error) { return k.topUps(c) == want, nil })
	}
	order()
	k.eventually("the invoice", func(context.Context) (bool, error) {
		list := k.must(k.admin, "GET", "/invoices?subscriberId="+c.subscriber, nil).list("data")
		return list[0]["total"] == 250.0 && list[0].text("number") != "", nil
	})
	becomes("awaiting_payment")
	if answer := k.dial(c.secret, c.username, c.password); answer.Code != radius.CodeAccessReject {
		t.Error("the customer is online before the payment")
	}
	k.pay("254711000077", "capped", 250)
	k.online(c)
	becomes("added")
	usage := k.must(k.admin, "GET", "/subscribers/"+c.subscriber+"/usage", nil)
	if stand, _ := usage["cap"].(map[string]any); stand["bytes"] != 1500.0 || stand["used"] != 1100.0 {
		t.Errorf("cap: %v", usage["cap"])
	}
	order()
	becomes("awaiting_payment added")
	k.advance(map[string]any{"advance": "24h"})
	becomes("lapsed added")
	k.pay("254711000077", "capped", 250)
	k.eventually("the credit", func(context.Context) (bool, error) {
		return k.must(k.admin, "GET", "/subscribers/"+c.subscriber, nil)["credit"] == 250.0, nil
	})
	order()
	becomes("added lapsed added")
	k.eventually("no invoice of a top-up that is open", func(context.Context) (bool, error) {
		return k.must(k.admin, "GET", "/subscribers/"+c.subscriber, nil)["balance"] == 0.0, nil
	})
}
