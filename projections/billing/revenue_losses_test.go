package billingviews_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// writtenOff gives up a part of an invoice.
func writtenOff(invoice int, minor int64) []events.Event {
	return []events.Event{
		events.DebtWrittenOff{SubscriberID: amina, OrgID: acme, WriteOffID: loss, Amount: kes(minor)},
		events.InvoiceAllocated{
			SubscriberID: amina, InvoiceID: invoiceID(invoice), ReceiptID: loss, Amount: kes(minor),
		},
		events.InvoiceWrittenOff{
			SubscriberID: amina, OrgID: acme, InvoiceID: invoiceID(invoice), Amount: kes(minor),
		},
	}
}

// lost sums up the losses of a year.
func (k *revenueKit) lost(t *testing.T) (sum int64) {
	t.Helper()
	got, err := k.query.Earned(t.Context(), acme, spanOf(date(3, 1), date(5, 1)))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range got.Beside {
		if b.Kind == "loss" {
			sum += b.AmountMinor
		}
	}
	return sum
}

// Nobody owes anything for a prepaid period that never began, or whose payment was taken back: its write-off loses
// nothing that was earned. Money that had come for it all the same is credit once the period is dropped.
func TestRevenue_TheWriteOffOfAPeriodThatNeverBeganIsNoLoss(t *testing.T) {
	t.Parallel()
	k := newRevenueKit(t)
	k.tell(t, local(3, 10, 14, 5), append([]events.Event{created}, charged(1, sub, 310000, 49600)...)...)
	k.tell(t, local(3, 20, 10, 0), writtenOff(1, 359600)...)
	k.tell(t, local(3, 20, 10, 0),
		events.WriteOffRecovered{OrgID: acme, InvoiceID: invoiceID(1), Amount: kes(100)},
		events.RecoveryWaived{SubscriberID: amina, InvoiceID: invoiceID(1)},
		events.RecoveryWithdrawn{OrgID: acme, InvoiceID: invoiceID(1), Amount: kes(100), ToCredit: true})
	begins, ends := local(3, 10, 14, 5), local(4, 10, 14, 5)
	k.tell(t, local(3, 21, 10, 0), charged(2, sub, 310000, 49600)...)
	k.tell(t, local(3, 21, 10, 0), paid(2, begins, ends))
	k.tell(t, local(3, 21, 11, 0), events.PeriodWithdrawn{SubscriptionID: sub, InvoiceID: invoiceID(2)})
	k.tell(t, local(3, 21, 12, 0), writtenOff(2, 359600)...)
	if lost := k.lost(t); lost != 0 {
		t.Errorf("lost %d", lost)
	}
}

// Of a prepaid period a part is given up, and money pays the rest: the period is earned, and the part is lost, as long
// as it stays paid.
func TestRevenue_APartOfAPrepaidPeriodIsALossWhileMoneyPaysTheRest(t *testing.T) {
	t.Parallel()
	k := newRevenueKit(t)
	k.tell(t, local(3, 10, 14, 5), append([]events.Event{created}, charged(1, sub, 310000, 49600)...)...)
	k.tell(t, local(3, 10, 15, 0), writtenOff(1, 10000)[:2]...)
	for _, c := range []struct {
		event events.Event
		lost  int64
	}{
		{paid(1, local(3, 10, 14, 5), local(4, 10, 14, 5)), 10000},
		{events.PeriodWithdrawn{SubscriptionID: sub, InvoiceID: invoiceID(1)}, 0},
		{paid(1, local(3, 10, 14, 5), local(4, 10, 14, 5)), 10000},
		{events.WriteOffRecovered{OrgID: acme, InvoiceID: invoiceID(1), Amount: kes(10000)}, 0},
		{events.RecoveryWithdrawn{OrgID: acme, InvoiceID: invoiceID(1), Amount: kes(10000)}, 10000},
		{events.PeriodCancelled{SubscriptionID: sub, InvoiceID: invoiceID(1)}, 0},
	} {
		k.tell(t, local(3, 20, 10, 0), c.event)
		if lost := k.lost(t); lost != c.lost {
			t.Errorf("after %s: lost %d, want %d", c.event.EventType(), lost, c.lost)
		}
	}
}

// A postpaid period is earned without its payment, so that its write-off is a loss; so is a debt that an import
// brought. Of a part that was credited before nothing is lost, and money that pays an invoice is no loss.
func TestRevenue_TheWriteOffOfWhatIsEarnedIsALoss(t *testing.T) {
	t.Parallel()
	k := newRevenueKit(t)
	postpaid, money := charged(1, payer, 310000, 49600), id.Derive[id.Receipt]("test", "money")
	k.tell(t, local(3, 10, 14, 5), append([]events.Event{createdPayer}, postpaid...)...)
	k.tell(t, local(3, 11, 10, 0), noted(1, 59600),
		events.InvoiceAllocated{InvoiceID: invoiceID(1), ReceiptID: wholeNote, Amount: kes(59600)},
		events.InvoiceAllocated{InvoiceID: invoiceID(1), ReceiptID: money, Amount: kes(100000)})
	k.tell(t, local(3, 20, 10, 0), writtenOff(1, 200000)...)
	if lost := k.lost(t); lost != 200000 {
		t.Errorf("lost %d of what was earned", lost)
	}
	k.tell(t, local(3, 21, 10, 0), writtenOff(9, 700)...)
	if lost := k.lost(t); lost != 200700 {
		t.Errorf("lost %d with what was brought", lost)
	}
}
