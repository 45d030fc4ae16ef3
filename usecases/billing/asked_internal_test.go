package billingcases

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	billingviews "github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

func TestAsking_OrdersAreNotOwed(t *testing.T) {
	t.Parallel()
	customer := subscribersviews.SubscriberRow{Currency: money.KES, BalanceMinor: 700_00}
	open := []billingviews.OpenInvoice{{DueMinor: 500_00}, {Ordered: true, DueMinor: 300_00}, {}}
	if got := owed(customer, open); got != money.Of(400_00, money.KES) {
		t.Errorf("%s is owed", got)
	}
	for _, c := range []struct{ price, owed, want money.Amount }{
		{money.Of(100_00, money.KES), money.Of(400_00, money.KES), money.Of(500_00, money.KES)},
		{money.Of(100_00, money.KES), money.Of(-30_00, money.KES), money.Of(70_00, money.KES)},
		{money.Of(100_00, money.KES), money.Of(-400_00, money.KES), money.Of(0, money.KES)},
		{money.Of(100_00, "TZS"), money.Of(-30_00, money.KES), money.Of(100_00, "TZS")},
	} {
		if got := beside(c.price, c.owed); got != c.want {
			t.Errorf("%s beside %s: %s", c.price, c.owed, got)
		}
	}
}

func TestAsking_AServiceWaitsWhileNoInvoiceAsks(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	row := subscribersviews.SubscriptionRow{
		ID: id.New[id.Subscription](), State: "active", Terms: events.PlanTerms{Mode: events.Prepaid}, PaidUntil: &now,
	}
	other := id.New[id.Subscription]()
	of := func(change func(*subscribersviews.SubscriptionRow)) subscribersviews.SubscriptionRow {
		changed := row
		change(&changed)
		return changed
	}
	for name, c := range map[string]struct {
		row  subscribersviews.SubscriptionRow
		open []billingviews.OpenInvoice
		want bool
	}{
		"no paid time": {row, nil, true},
		"other invoices": {row, []billingviews.OpenInvoice{
			{DueMinor: 1}, {SubscriptionID: &other, DueMinor: 1},
			{SubscriptionID: &row.ID, Ordered: true, DueMinor: 1},
		}, true},
		"an invoice": {row, []billingviews.OpenInvoice{{SubscriptionID: &row.ID, DueMinor: 1}}, false},
		"a draft":    {row, []billingviews.OpenInvoice{{SubscriptionID: &row.ID}}, false},
		"a period that an invoice opened": {of(func(r *subscribersviews.SubscriptionRow) {
			r.OpenInvoice = new(id.New[id.Invoice]())
		}), nil, false},
		"pending": {of(func(r *subscribersviews.SubscriptionRow) {
			r.State, r.PaidUntil = "pending", nil
		}), nil, true},
		"paused":   {of(func(r *subscribersviews.SubscriptionRow) { r.State = "paused" }), nil, false},
		"paid":     {of(func(r *subscribersviews.SubscriptionRow) { r.PaidUntil = new(now.Add(1)) }), nil, false},
		"postpaid": {of(func(r *subscribersviews.SubscriptionRow) { r.Terms.Mode = events.Postpaid }), nil, false},
	} {
		if got := waits(c.row, c.open, now); got != c.want {
			t.Errorf("%s: waits %v", name, got)
		}
	}
}

// TestAsking_WhatBeginsAServiceIsWithThoseThatTheMoneyRenewsBefore: credit renews what expires first and is covered.
func TestAsking_WhatBeginsAServiceIsWithThoseThatTheMoneyRenewsBefore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		price  int64
		before []int64
		want   int64
	}{
		"alone":                       {1500, nil, 1500},
		"after a cheaper one":         {1500, []int64{1000}, 2500},
		"after one as dear":           {1500, []int64{1500}, 3000},
		"before a dearer one has all": {1000, []int64{1500}, 1000},
		"after two":                   {1500, []int64{1000, 400}, 2900},
		"what it adds covers another": {1500, []int64{2000, 1000}, 4500},
	} {
		var before []money.Amount
		for _, price := range c.before {
			before = append(before, money.Major(price, money.KES))
		}
		if got := begins(money.Major(c.price, money.KES), before); got != money.Major(c.want, money.KES) {
			t.Errorf("%s: %s, want %d", name, got, c.want)
		}
	}
	five := money.Major(5, money.KES)
	if got := begins(five, []money.Amount{money.Major(1, "TZS")}); got != five {
		t.Errorf("in another currency %s", got)
	}
	later, never := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC), subscribersviews.SubscriptionRow{}
	if row := (subscribersviews.SubscriptionRow{PaidUntil: &later}); expiresFirst(never, row) >= 0 {
		t.Error("one that never was paid comes after one that was")
	}
}
