package main

import (
	"context"
	"testing"
)

// TestRows_NameTheSubscriberTheyBelongTo reads each list with rows of a subscriber, as a screen does.
func TestRows_NameTheSubscriberTheyBelongTo(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	subscriber, account := k.subscriber("254711000009")
	k.must(k.admin, "POST", "/subscriptions", map[string]string{
		"subscriberId": subscriber, "planId": k.plan("home", 1500),
	})
	k.issued(subscriber, 1)
	k.must(k.admin, "POST", "/payments/cash", map[string]any{
		"subscriberId": subscriber, "amount": 1500, "reference": "till 3",
	})
	for _, path := range []string{"/subscriptions", "/invoices", "/payments", "/receipts"} {
		k.eventually("a named row of "+path, func(ctx context.Context) (bool, error) {
			page, err := k.admin.call(ctx, "GET", path, "", nil)
			rows := page.list("data")
			if err != nil || len(rows) == 0 {
				return false, err
			}
			of, _ := rows[0]["subscriber"].(map[string]any)
			if of == nil {
				return false, nil
			}
			if of["id"] != subscriber || of["name"] != "Customer 0009" || of["accountNumber"] != account {
				t.Errorf("%s: %v, want Customer 0009 of account %s", path, of, account)
			}
			return true, nil
		})
		k.must(k.admin, "GET", path, nil)
	}
}

// TestNames_WhatAPlatformsAdministratorTakesHasHisName: he works at the organization's host, and is no member of it.
// Nobody reads there that the money was taken by somebody who has left.
func TestNames_WhatAPlatformsAdministratorTakesHasHisName(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	at := k.client("acme")
	at.token = k.root.token
	subscriber, _ := k.subscriber("254711000001")
	k.must(at, "POST", "/payments/cash", map[string]any{
		"subscriberId": subscriber, "amount": 44, "reference": "by root",
	})
	me := k.must(k.root, "GET", "/auth/me", nil)
	k.eventually("the receipt", func(context.Context) (bool, error) {
		list := k.all(k.admin, "/receipts")
		if len(list) != 1 {
			return false, nil
		}
		by, _ := list[0]["takenBy"].(map[string]any)
		if name, _ := by["name"].(string); name == "" || by["id"] != me["id"] {
			t.Errorf("taken by %v, who is %v", by, me)
		}
		return true, nil
	})
}
