package subscribersapi_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/isptest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// told is an invoice as GET /subscriptions/:id/end tells it.
type told struct {
	ID        string
	Number    *string
	Due, Paid float64
}

// unused is a part of an invoice for days that will not be used, as GET /subscriptions/:id/end tells it.
type unused struct {
	ID       string
	Number   *string
	Days, Of int
	Amount   float64
}

// ending is the answer of GET /subscriptions/:id/end.
type ending struct {
	StaysDue, Voided []told
	Credited         []unused
}

// ending asks what an end would do.
func (k *ispKit) ending(t *testing.T, as, subscription string) ending {
	t.Helper()
	var got ending
	k.Want(t, 200, "", isptest.Get(as, "/subscriptions/"+subscription+"/end")).Into(t, &got)
	return got
}

// twoMonthsTakenBack pays two months of a prepaid subscription, and takes the money back after a day.
func (k *ispKit) twoMonthsTakenBack(t *testing.T, subscriber, subscription string) {
	t.Helper()
	start := k.Clock.Now()
	var paid []id.Receipt
	for n := range 2 {
		paid = append(paid, k.credited(t, subscriber, 150050))
		k.eventually(t, subscription, "paid", paidUntil(start.AddDate(0, n+1, 0)))
	}
	k.Clock.Advance(24 * time.Hour)
	for _, receipt := range paid {
		k.Run(t, commands.WithdrawReceipt{
			SubscriberID: id.Must[id.Subscriber](subscriber), ReceiptID: receipt, Reason: "reversed",
		})
	}
	k.eventually(t, subscription, "withdrawn", openInvoices(2))
}

// TestEnding_TellsBeforehandWhatTheEndDoes: a month that never began is voided, and the money on it becomes credit, as
// is told before; of a month on credit the days until yesterday stay due.
func TestEnding_TellsBeforehandWhatTheEndDoes(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	k.withMoney(t)
	admin := k.Admin(t)
	c := k.Register(t, admin, isptest.Amina())
	s := k.subscribe(t, admin, c.ID, k.Plan(t, admin, "p", "prepaid", "month"), nil) // 1,500.50
	k.twoMonthsTakenBack(t, c.ID, s.ID)
	admin = k.Admin(t) // the sign-in is over
	k.credited(t, c.ID, 150050+50000)
	second := commands.PeriodInvoice(id.Must[id.Subscription](s.ID), 2)
	k.eventually(t, s.ID, "paid again, and a part of the second month",
		func(_ subscribers.Subscription, a billing.Account) bool {
			return a.Invoices[second].Due.Minor == 100050
		})
	got := k.ending(t, admin, s.ID)
	if len(got.StaysDue) != 0 || len(got.Voided) != 1 || got.Voided[0].ID != second.String() ||
		got.Voided[0].Number == nil || got.Voided[0].Due != 1000.50 || got.Voided[0].Paid != 500 {
		t.Errorf("with the first month paid: %+v", got)
	}
	k.Want(t, 200, "", isptest.Post(admin, "/subscriptions/"+s.ID+"/end", map[string]string{"reason": "moved"}))
	k.eventually(t, s.ID, "voided", credit(50000))

	other := k.subscribe(t, admin, c.ID, k.Plan(t, admin, "later", "postpaid", "month"), nil)
	first := commands.PeriodInvoice(id.Must[id.Subscription](other.ID), 1)
	k.eventually(t, other.ID, "invoiced", func(_ subscribers.Subscription, a billing.Account) bool {
		return a.Invoices[first].Due.Minor == 100050 // the credit is on it
	})
	k.Clock.Advance(20 * 24 * time.Hour)
	admin = k.Admin(t) // the sign-in is over
	before := k.ending(t, admin, other.ID)
	want := ending{
		StaysDue: []told{{ID: first.String(), Due: 468.06, Paid: 500}}, Voided: []told{},
		Credited: []unused{{ID: first.String(), Days: 11, Of: 31, Amount: 532.44}},
	}
	if len(before.StaysDue) == 1 {
		want.StaysDue[0].Number, want.Credited[0].Number = before.StaysDue[0].Number, before.StaysDue[0].Number
	}
	if diff := cmp.Diff(want, before); diff != "" {
		t.Errorf("a month on credit (-want +got)\n%s", diff)
	}
	k.Want(t, 200, "", isptest.Post(admin, "/subscriptions/"+other.ID+"/end", map[string]string{"reason": "moved"}))
	k.eventually(t, other.ID, "ended and owed", func(s subscribers.Subscription, a billing.Account) bool {
		return s.State == subscribers.Ended && a.Invoices[first].Due.Minor == 46806
	})
	if diff := cmp.Diff(before.StaysDue, k.ending(t, admin, other.ID).StaysDue); diff != "" {
		t.Errorf("after the end (-before +after)\n%s", diff)
	}
	k.Want(t, 404, "subscription_not_found", isptest.Get(admin, "/subscriptions/"+c.ID+"/end"))
}

// TestEnding_AUsedMonthWhosePaymentWasTakenBackStaysDue: the one after it, which never began, is voided, as is told.
func TestEnding_AUsedMonthWhosePaymentWasTakenBackStaysDue(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	k.withMoney(t)
	admin := k.Admin(t)
	c := k.Register(t, admin, isptest.Amina())
	s := k.subscribe(t, admin, c.ID, k.Plan(t, admin, "p", "prepaid", "month"), nil)
	k.twoMonthsTakenBack(t, c.ID, s.ID)
	admin = k.Admin(t) // the sign-in is over
	got := k.ending(t, admin, s.ID)
	invoice := func(n int) string { return commands.PeriodInvoice(id.Must[id.Subscription](s.ID), n).String() }
	if len(got.StaysDue) != 1 || len(got.Voided) != 1 || got.StaysDue[0].ID != invoice(1) ||
		got.Voided[0].ID != invoice(2) {
		t.Fatalf("told %+v", got)
	}
	k.Want(t, 200, "", isptest.Post(admin, "/subscriptions/"+s.ID+"/end", map[string]string{"reason": "moved"}))
	k.eventually(t, s.ID, "ended as told", func(_ subscribers.Subscription, a billing.Account) bool {
		_, voided := a.Voided[id.Must[id.Invoice](got.Voided[0].ID)]
		return voided && a.Invoices[id.Must[id.Invoice](got.StaysDue[0].ID)].Due.Minor == 150050
	})
}

// TestEnding_WhatWasUsedOfAnUndoneMonthIsCharged as is told before, and the money that the undo has left pays it.
func TestEnding_WhatWasUsedOfAnUndoneMonthIsCharged(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	k.withMoney(t)
	admin := k.Admin(t)
	c := k.Register(t, admin, isptest.Amina())
	s := k.subscribe(t, admin, c.ID, k.Plan(t, admin, "p", "prepaid", "month"), nil) // 1,500.50
	start := k.Clock.Now()
	k.credited(t, c.ID, 150050)
	k.eventually(t, s.ID, "paid", paidUntil(start.AddDate(0, 1, 0)))
	k.Clock.Advance(10 * 24 * time.Hour)
	subscription, month := id.Must[id.Subscription](s.ID), commands.PeriodInvoice(id.Must[id.Subscription](s.ID), 1)
	k.Run(t, commands.UndoPeriod{
		SubscriptionID: subscription, InvoiceID: month, RunID: id.Derive[id.BillingRun]("test", "wrong"),
	})
	k.Run(t, commands.TakeBackInvoice{
		SubscriberID: id.Must[id.Subscriber](c.ID), InvoiceID: month, Reason: "wrong", Dropped: true, Prefix: "CN",
		CreditNoteID: id.Derive[id.Receipt]("undo", month.String()),
	})
	k.eventually(t, s.ID, "taken back", func(_ subscribers.Subscription, a billing.Account) bool {
		return a.Credit().Minor == 150050
	})
	admin = k.Admin(t) // the sign-in is over
	var told struct{ Charged []struct{ Amount float64 } }
	k.Want(t, 200, "", isptest.Get(admin, "/subscriptions/"+s.ID+"/end")).Into(t, &told)
	if len(told.Charged) != 1 || told.Charged[0].Amount != 484.03 { // 10 of 31 days
		t.Fatalf("told %+v", told)
	}
	k.Want(t, 200, "", isptest.Post(admin, "/subscriptions/"+s.ID+"/end", map[string]string{"reason": "moved"}))
	k.eventually(t, s.ID, "charged and paid", func(now subscribers.Subscription, a billing.Account) bool {
		return now.State == subscribers.Ended && a.Credit().Minor == 150050-48403 && a.Owed().IsZero()
	})
}
