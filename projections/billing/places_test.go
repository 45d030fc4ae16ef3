package billingviews_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
)

// A prepaid period begins with its payment, so its invoice says when only once it is paid. The period of an invoice
// that had one from the start stays as the document says.
func TestInvoices_ShowWhereThePaidPeriodLies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		later    []events.Event
		from, to time.Time
	}{
		"not paid": {nil, time.Time{}, time.Time{}},
		"paid": {
			[]events.Event{events.SubscriptionExtended{InvoiceID: invoiceID(21), From: at(1), To: at(2)}}, at(1), at(2),
		},
		"moved by another one": {
			[]events.Event{
				events.SubscriptionExtended{InvoiceID: invoiceID(21), From: at(1), To: at(2)},
				events.SubscriptionExtended{
					InvoiceID: invoiceID(23), From: at(1), To: at(2),
					Moved: []events.PeriodPlace{{InvoiceID: invoiceID(21), From: at(3), To: at(4)}},
				},
			}, at(3), at(4),
		},
		"taken back": {
			[]events.Event{
				events.SubscriptionExtended{InvoiceID: invoiceID(21), From: at(1), To: at(2)},
				events.PeriodWithdrawn{InvoiceID: invoiceID(21)},
			}, time.Time{}, time.Time{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			prepaid, postpaid := drafted(21, amina, 1000, 0, 10), drafted(22, amina, 1000, 0, 10)
			prepaid.SubscriptionID, postpaid.SubscriptionID = sub, sub
			prepaid.PeriodFrom, prepaid.PeriodTo = time.Time{}, time.Time{}
			postpaid.PeriodFrom, postpaid.PeriodTo = at(5), at(6)
			all := append([]events.Event{prepaid, postpaid}, c.later...)
			k.tell(t, acme, append(all, events.SubscriptionExtended{InvoiceID: invoiceID(22), From: at(7),
				To: at(8)})...)
			for n, want := range map[int][2]time.Time{21: {c.from, c.to}, 22: {at(5), at(6)}} {
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
