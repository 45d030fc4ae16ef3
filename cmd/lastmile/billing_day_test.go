package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
)

// invoiced is the part of an invoice that GET /subscriptions/:id/upcoming tells before.
type invoiced struct{ id, total, due, from, to, lines string }

// invoicedAs reads an invoice, or one that is still to come.
func invoicedAs(a answer) invoiced {
	return invoiced{
		a.text("id"), number(a, "total"), a.text("dueDate"), a.text("periodFrom"), a.text("periodTo"),
		fmt.Sprint(a["lines"]),
	}
}

// TestBillingDay_MonthsAreInvoicedAsTheyWereToldBefore moves the clock through three months of a customer who pays
// later, billed on the first of the month, and of one who was to pay first and never did.
func TestBillingDay_MonthsAreInvoicedAsTheyWereToldBefore(t *testing.T) {
	t.Parallel()
	k := newKit(t, "DEV_CLOCK=true").start().signIn()
	customer, _ := k.subscriber("254711000701")
	line := k.subscribe(customer, k.onFirst("later", "postpaid"))
	never, _ := k.subscriber("254711000702")
	unpaid := k.subscribe(never, k.onFirst("first", "prepaid"))
	k.issued(customer, 1)
	k.issued(never, 1)
	var told []invoiced
	for _, next := range k.must(k.admin, "GET", "/subscriptions/"+line+"/upcoming", nil).list("data") {
		told = append(told, invoicedAs(next))
	}
	month := k.firstOfMonth(3)
	k.advance(map[string]any{"to": month.Add(9 * time.Hour)})
	made := k.issued(customer, 4)
	slices.SortFunc(made, func(a, b answer) int { // a jump drafts several months side by side
		return strings.Compare(b.text("periodFrom"), a.text("periodFrom"))
	})
	for i, next := range told {
		if diff := cmp.Diff(next, invoicedAs(made[2-i]), cmp.AllowUnexported(invoiced{})); diff != "" {
			t.Errorf("invoice %d (-told +made)\n%s", i+1, diff)
		}
	}
	k.subscription(unpaid, "end without a first payment", func(s subscribers.Subscription) bool {
		return s.State == subscribers.Ended
	})
	if s := k.must(k.admin, "GET", "/subscriptions/"+unpaid, nil); s.text("reason") != "expired" {
		t.Errorf("it ended because of %q", s.text("reason"))
	}

	k.must(k.admin, "POST", "/subscriptions/"+line+"/pause", map[string]string{"reason": "travels"})
	if coming := k.must(k.admin, "GET", "/subscriptions/"+line+"/upcoming", nil).list("data"); len(coming) != 0 {
		t.Errorf("a paused subscription is to get %v", coming)
	}
	k.advance(map[string]any{"to": month.Add(3*24*time.Hour + 9*time.Hour)})
	k.must(k.admin, "POST", "/subscriptions/"+line+"/resume", map[string]string{"reason": "is back"})
	k.daysCredited(made[0].text("id"), month, 3)
	k.advance(map[string]any{"to": month.Add(20*24*time.Hour + 9*time.Hour)})
	k.must(k.admin, "POST", "/subscriptions/"+line+"/end", map[string]string{"reason": "moves"})
	days := int(k.monthsAfter(month, 1, 0).Sub(month) / (24 * time.Hour))
	k.daysCredited(made[0].text("id"), month, 3, days-20)
}

// onFirst makes a plan of 1,500 for a month that ends on the first day of the next one.
func (k *kit) onFirst(code, mode string) string {
	k.t.Helper()
	return k.must(k.admin, "POST", "/plans", map[string]any{
		"code": code, "name": "Plan " + code, "kind": "pppoe", "price": 1500, "currency": "KES",
		"billing": map[string]string{"mode": mode, "period": "month", "anchor": "1"},
		"rates":   map[string]int{"down": 10000, "up": 5000},
	}).text("id")
}

// firstOfMonth is the beginning of the first day of a later month, by the calendar of the organization.
func (k *kit) firstOfMonth(later int) time.Time {
	k.t.Helper()
	now := k.local(k.app.clock.Now())
	return time.Date(now.Year(), now.Month()+time.Month(later), 1, 0, 0, 0, 0, now.Location())
}

// daysCredited waits until an invoice of 1,500 for a month has credit notes over numbers of its days.
func (k *kit) daysCredited(invoice string, month time.Time, days ...int) {
	k.t.Helper()
	of := int(k.monthsAfter(month, 1, 0).Sub(month) / (24 * time.Hour))
	var want []string // in the order of texts
	for _, n := range days {
		want = append(want, fmt.Sprintf("%.2f", float64((1500_00*n*2+of)/(2*of))/100)) // half up
	}
	slices.Sort(want)
	k.eventually(fmt.Sprintf("credit notes over %v", want), func(ctx context.Context) (bool, error) {
		read, err := k.admin.call(ctx, "GET", "/invoices/"+invoice, "", nil)
		var got []string
		for _, note := range read.list("creditNotes") {
			if note.text("state") == "issued" {
				got = append(got, number(note, "amount"))
			}
		}
		slices.Sort(got)
		return slices.Equal(got, want), err
	})
}
