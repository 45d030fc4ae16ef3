package billingviews_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/projections/billing"
)

// owed has debts on both sides of each border of an age on 31 May 2026, and an order, which nobody owes.
func owed() (list []events.Event) {
	today := calendar.Date{Year: 2026, Month: 5, Day: 31}
	for n, days := range []int{-5, 0, 1, 30, 31, 60, 61, 90, 91, 400} {
		who := amina
		if n%2 == 1 {
			who = brian
		}
		draft, issue := drafted(40+n, who, int64(100*(n+1)), n, 1), issued(40+n, who, int64(100*(n+1)), n, 1)
		draft.DueOn, issue.DueOn = today.AddDays(-days), today.AddDays(-days)
		list = append(list, draft, issue)
	}
	order := drafted(60, brian, 77700, 20, 1)
	order.SoldTo, order.Order = sub, true
	byCash := credited(41, amina, 30, "cash", 22)
	return append(list, order, issued(60, brian, 77700, 21, 1), byCash, allocated(byCash, 40, 30, 70))
}

// The ages add up to what the list of invoices has: what is overdue is the sum that Home shows, and all of it is the
// sum of what is due.
func TestAgeing_IsTheDueOfAllInvoicesByTheDaysSinceTheyWereDue(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.tell(t, acme, owed()...)
	today := calendar.Date{Year: 2026, Month: 5, Day: 31}
	sums, err := k.invoices.Aged(t.Context(), acme, today)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	var overdue billingviews.Overdue
	for _, s := range sums {
		name := "all"
		if s.Bucket != nil {
			name = billingviews.AgeBuckets[*s.Bucket]
			if *s.Bucket > 0 {
				overdue.AmountMinor, overdue.Invoices = overdue.AmountMinor+s.AmountMinor, overdue.Invoices+s.Invoices
			}
		}
		got = append(got, fmt.Sprint(name, " ", s.AmountMinor, " ", s.Invoices, " ", s.Subscribers))
	}
	want := []string{
		"current 270 2 2", "1-30 700 2 2", "31-60 1100 2 2", "61-90 1500 2 2", "over90 1900 2 2", "all 5470 10 2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ages (-want +got):\n%s", diff)
	}
	home, err := k.invoices.Overdue(t.Context(), acme, today)
	if err != nil || home.AmountMinor != overdue.AmountMinor || home.Invoices != overdue.Invoices {
		t.Errorf("Home says %+v, the ages %+v, %v", home, overdue, err)
	}
	rows, err := k.invoices.List(t.Context(), acme, billingviews.InvoiceFilter{}, billingviews.InvoiceKey{}, 100)
	var due int64
	for _, r := range rows {
		if !r.Ordered {
			due += r.DueMinor
		}
	}
	if err != nil || due != 5470 {
		t.Errorf("the invoices have %d due, %v", due, err)
	}
	theirs, err := k.invoices.Aged(t.Context(), other, today)
	if err != nil || len(theirs) != 1 || theirs[0].AmountMinor != 0 {
		t.Errorf("another tenant got %+v, %v", theirs, err)
	}
}

func TestDebtors_ComeByTheirDebtOnceAndOfOneAgeAlone(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.tell(t, acme, owed()...)
	today := calendar.Date{Year: 2026, Month: 5, Day: 31}
	all, err := k.invoices.Debtors(t.Context(), acme, today, nil, billingviews.DebtorPage{})
	want := []billingviews.DebtorRow{
		{
			SubscriberID: brian, AmountMinor: 3000, ByAge: []int64{200, 400, 600, 800, 1000}, Invoices: 5,
			OldestDueOn: "2025-04-26",
		},
		{
			SubscriberID: amina, AmountMinor: 2470, ByAge: []int64{70, 300, 500, 700, 900}, Invoices: 5,
			OldestDueOn: "2026-03-01",
		},
	}
	if diff := cmp.Diff(want, all); diff != "" || err != nil {
		t.Fatalf("debtors (-want +got): %v\n%s", err, diff)
	}
	next, err := k.invoices.Debtors(t.Context(), acme, today, nil, billingviews.DebtorPage{After: all[0].Key(), Max: 5})
	if err != nil || len(next) != 1 || next[0].SubscriberID != amina {
		t.Errorf("after the first one %+v, %v", next, err)
	}
	oldest := 4
	of, err := k.invoices.Debtors(t.Context(), acme, today, &oldest, billingviews.DebtorPage{Max: 1})
	if err != nil || len(of) != 1 || of[0].AmountMinor != 1000 || of[0].OldestDueOn != "2025-04-26" {
		t.Errorf("over 90 days owes %+v, %v", of, err)
	}
	rows, err := k.invoices.Debtors(t.Context(), other, today, nil, billingviews.DebtorPage{})
	if err != nil || len(rows) > 0 {
		t.Errorf("another tenant got %+v, %v", rows, err)
	}
}
