package main

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestBillingRun_IsHeldReleasedAndMakesWhatWasToldBefore moves the clock to the day on which all customers of an
// organization are billed, many times as many as on any day before.
func TestBillingRun_IsHeldReleasedAndMakesWhatWasToldBefore(t *testing.T) {
	t.Parallel()
	const customers = 91
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	plan := k.onFirst("later", "postpaid")
	for n := range customers {
		who, _ := k.subscriber(fmt.Sprintf("2547110%05d", n))
		k.subscribe(who, plan)
	}
	month := k.firstOfMonth(1)
	date := month.Format(time.DateOnly)
	p := k.must(k.admin, "GET", "/billing/preview?date="+date, nil)
	if fmt.Sprint(p["total"]) != strconv.Itoa(customers) {
		t.Fatalf("the preview counts %v", p)
	}
	told := map[string]string{}
	for _, one := range k.all(k.admin, "/billing/preview/invoices?date="+date) {
		for _, invoice := range one.list("invoices") {
			told[invoice.text("id")] = number(invoice, "total")
		}
	}
	k.refused(k.admin, "POST /billing/runs", map[string]string{"date": date}, 422, "invalid_input")

	k.advance(map[string]any{"to": month.Add(9 * time.Hour)})
	held := k.billingRun(date, "held")
	release := "POST /billing/runs/" + held.text("id") + "/release"
	k.refused(k.admin, release, map[string]string{"reason": " "}, 422, "invalid_input")
	if fmt.Sprint(held["total"], held["done"], held["usual"]) != fmt.Sprint(customers, 0, 0) {
		t.Errorf("the held run is %v", held)
	}
	k.must(k.admin, "POST", "/billing/runs/"+held.text("id")+"/release", map[string]string{"reason": "it is the first"})
	done := k.billingRun(date, "finished")
	if fmt.Sprint(done["done"], done["failed"]) != fmt.Sprint(customers, 0) || number(done, "amount") == "0" {
		t.Errorf("the finished run is %v", done)
	}
	made := map[string]string{}
	for _, one := range k.all(k.admin, "/billing/runs/"+done.text("id")+"/invoices") {
		made[one.text("invoiceId")] = number(one, "total")
		if one["before"] == nil {
			t.Errorf("the invoice before is missing: %v", one)
		}
	}
	if diff := cmp.Diff(told, made); diff != "" {
		t.Errorf("invoices (-told +made)\n%s", diff)
	}
	k.must(k.admin, "POST", "/billing/runs", map[string]string{"date": date}) // makes nothing twice
	if again := k.billingRun(date, "finished"); fmt.Sprint(again["done"]) != strconv.Itoa(customers) {
		t.Errorf("the same date again made %v", again)
	}
	issued := 0
	for range k.all(k.admin, "/invoices?state=issued") {
		issued++
	}
	if issued != 2*customers {
		t.Errorf("%d invoices are issued", issued)
	}
	k.soundBooks()
}

// billingRun waits until the run of a date is in a state.
func (k *kit) billingRun(date, state string) (run answer) {
	k.t.Helper()
	k.eventually("run of "+date+" to be "+state, func(ctx context.Context) (bool, error) {
		list, err := k.admin.call(ctx, "GET", "/billing/runs?limit=1&state="+state, "", nil)
		for _, run = range list.list("data") {
			if run.text("date") == date {
				return true, nil
			}
		}
		return false, err
	})
	return run
}
