package main

import (
	"context"
	"testing"
)

// TestCompensation_WhatWasTakenBackHasNotFailed: a compensation that everybody got is undone on purpose.
func TestCompensation_WhatWasTakenBackHasNotFailed(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.payingAt("hillside", 2)
	gift := k.given(k.hillsideGift(map[string]any{"days": 2}))
	k.must(k.admin, "POST", "/batches/"+gift+"/undo", map[string]any{"reason": "the mast was up"})
	k.undone(gift)
	k.eventually("the undo to be shown", func(ctx context.Context) (bool, error) {
		items, err := k.admin.call(ctx, "GET", "/compensations/"+gift+"/items", "", nil)
		for _, i := range items.list("data") {
			if i["given"] == true {
				return false, err
			}
		}
		return err == nil, err
	})
	c := k.must(k.admin, "GET", "/compensations/"+gift, nil)
	if c.at("failed") != "0" {
		t.Errorf("%s got nothing although the preview said otherwise; given %s", c.at("failed"), c.at("given"))
	}
	today := k.must(k.admin, "GET", "/reports/today", nil)
	if today.at("compensations.failed") != "0" {
		t.Errorf("Home tells of %s that failed", today.at("compensations.failed"))
	}
}
