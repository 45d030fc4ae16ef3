package billingviews_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/billing"
)

// A prepaid period begins with its payment, so its invoice says when only once it is paid. With a fixed billing day it
// says before for which time it was made, and again when the payment is taken back. The period of a postpaid invoice
// stays as the document says.
func TestInvoices_ShowWhereThePaidPeriodLies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		later    []events.Event
		from, to time.Time
		billing  [2]time.Time // the period with a billing day
	}{
		"not paid": {nil, time.Time{}, time.Time{}, [2]time.Time{at(5), at(6)}},
		"paid": {
			[]events.Event{
				events.SubscriptionExtended{InvoiceID: invoiceID(21), From: at(1), To: at(2)},
				events.SubscriptionExtended{InvoiceID: invoiceID(24), From: at(2), To: at(3)},
			}, at(1), at(2), [2]time.Time{at(2), at(3)},
		},
		"moved by another one": {
			[]events.Event{
				events.SubscriptionExtended{InvoiceID: invoiceID(21), From: at(1), To: at(2)},
				events.SubscriptionExtended{
					InvoiceID: invoiceID(23), From: at(1), To: at(2),
					Moved: []events.PeriodPlace{
						{InvoiceID: invoiceID(21), From: at(3), To: at(4)},
						{InvoiceID: invoiceID(24), From: at(4), To: at(9)},
					},
				},
			}, at(3), at(4), [2]time.Time{at(4), at(9)},
		},
		"taken back": {
			[]events.Event{
				events.SubscriptionExtended{InvoiceID: invoiceID(21), From: at(1), To: at(2)},
				events.SubscriptionExtended{InvoiceID: invoiceID(24), From: at(2), To: at(3)},
				events.PeriodWithdrawn{InvoiceID: invoiceID(21)}, events.PeriodWithdrawn{InvoiceID: invoiceID(24)},
			}, time.Time{}, time.Time{}, [2]time.Time{at(5), at(6)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			all := append([]events.Event{
				created, createdPayer, period(21, sub, time.Time{}, time.Time{}), period(22, payer, at(5), at(6)),
				period(24, sub, at(5), at(6)),
			}, c.later...)
			k.tell(t, acme, append(all, events.SubscriptionExtended{InvoiceID: invoiceID(22), From: at(7),
				To: at(8)})...)
			for n, want := range map[int][2]time.Time{21: {c.from, c.to}, 22: {at(5), at(6)}, 24: c.billing} {
				d, err := k.invoices.Get(t.Context(), acme, invoiceID(n))
				if err != nil || d == nil {
					t.Fatalf("invoice: %v, %v", d, err)
				}
				var got [2]time.Time
				if d.PeriodFrom != nil && d.PeriodTo != nil {
					got = [2]time.Time{d.PeriodFrom.UTC(), d.PeriodTo.UTC()}
				}
				if got != want {
					t.Errorf("the period of invoice %d is %v, want %v", n, got, want)
				}
			}
		})
	}
}

// period is the draft of a period; both instants are zero when it begins with its payment.
func period(n int, of id.Subscription, from, to time.Time) events.InvoiceDrafted {
	draft := drafted(n, amina, 1000, 0, 10)
	draft.SubscriptionID, draft.PeriodFrom, draft.PeriodTo = of, from, to
	return draft
}

// onBillingDay is a prepaid month whose days were known before, and which lies elsewhere since it was paid.
func onBillingDay() []events.Event {
	return []events.Event{
		created, period(24, sub, at(5), at(6)),
		events.SubscriptionExtended{InvoiceID: invoiceID(24), From: at(7), To: at(8)},
	}
}

// An order is overdue for nobody until it was paid and the payment is taken back.
func TestInvoices_AnOrderIsOwedFromItsPaymentOn(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	order := drafted(31, amina, 25000, 0, 10)
	order.SoldTo, order.Order = sub, true
	byCash := credited(31, amina, 25000, "cash", 3)
	yes, today := true, order.DueOn.AddDays(1)
	for _, step := range []struct {
		what           string
		tells          []events.Event
		order, overdue bool
	}{
		{"issued", []events.Event{order, issued(31, amina, 25000, 1, 10)}, true, false},
		{"paid in part", []events.Event{byCash, allocated(byCash, 31, 13000, 12000)}, true, false},
		{"paid", []events.Event{
			allocated(byCash, 31, 12000, 0), events.InvoicePaid{SubscriberID: amina, InvoiceID: invoiceID(31)},
		}, false, false},
		{"taken back", []events.Event{events.AllocationWithdrawn{
			SubscriberID: amina, InvoiceID: invoiceID(31), ReceiptID: byCash.ReceiptID, Amount: kes(25000),
			Due: kes(25000), At: at(40),
		}}, false, true},
	} {
		k.tell(t, acme, step.tells...)
		d, err := k.invoices.Get(t.Context(), acme, invoiceID(31))
		if err != nil || d == nil || d.Ordered != step.order || d.Overdue(today) != step.overdue {
			t.Errorf("%s: %+v, %v", step.what, d, err)
		}
		list, err := k.invoices.List(t.Context(), acme, billingviews.InvoiceFilter{Overdue: &yes, Today: today},
			billingviews.InvoiceKey{}, 10)
		if err != nil || (len(list) == 1) != step.overdue {
			t.Errorf("%s: the overdue ones are %+v, %v", step.what, list, err)
		}
	}
}
