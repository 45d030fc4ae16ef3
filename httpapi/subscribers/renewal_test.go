package subscribersapi_test

import (
	"context"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/isptest"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/jobs/billing"
	"github.com/lastmile-isp/lastmile/processmanagers/billing/invoicing"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
	"github.com/lastmile-isp/lastmile/processmanagers/subscribers/renewal"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/usecases/billing"
)

// withMoney adds accounts, invoicing and renewal to the kit. travel moves the clock, and asks a subscription for its
// period as the billing run of that day does.
func (k *ispKit) withMoney(t *testing.T) (travel func(subscription string, to time.Time)) {
	t.Helper()
	bus.Register(k.Core.Bus, billing.Accounts())
	bus.Register(k.Core.Bus, billing.NumberSeries())
	p := processrunner.New(processrunner.Config{Feed: k.Core.Feed(t), DB: k.Core.DB, Clock: k.Clock,
		Bus: billingcases.PeriodInvoices{Bus: k.Core.Bus}})
	p.Register(invoicing.Process(), invoicing.DocumentProcess(), renewal.Process())
	coretest.Start(t, "processes", p)
	coretest.Start(t, "numbering", billingjobs.NewNumberer(billingjobs.Config{
		Bus: k.Core.Bus, Query: billingviews.NumberingQuery{Views: k.Views()}, Clock: k.Clock,
		Logger: storetest.Quiet(),
	}))
	return func(subscription string, to time.Time) {
		k.Clock.Set(to)
		k.Run(t, commands.MakePeriodDue{
			SubscriptionID: id.Must[id.Subscription](subscription), On: calendar.On(to, time.UTC),
		})
	}
}

// credited puts money on a subscriber's account, in minor units, and gives the receipt.
func (k *ispKit) credited(t *testing.T, subscriber string, minor int64) id.Receipt {
	t.Helper()
	receipt := id.New[id.Receipt]()
	k.Run(t, commands.CreditReceipt{SubscriberID: id.Must[id.Subscriber](subscriber), OrgID: k.Acme, ReceiptID: receipt,
		Number: "R" + receipt.String()[:8], Channel: "c2b", Amount: money.Of(minor, money.KES), PaidAt: k.Clock.Now()})
	return receipt
}

// eventually waits until the log has a wanted state of a subscription and of its subscriber's account.
func (k *ispKit) eventually(
	t *testing.T, subscription, what string, holds func(s subscribers.Subscription, a billing.Account) bool,
) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		s, _, err := bus.LoadUnchecked[subscribers.Subscription](ctx, k.Core.Bus,
			id.Must[id.Subscription](subscription))
		if err != nil {
			t.Fatal(err)
		}
		a, _, err := bus.LoadUnchecked[billing.Account](ctx, k.Core.Bus, s.SubscriberID)
		if err != nil {
			t.Fatal(err)
		}
		if holds(s, a) {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("never %s: %+v", what, s)
		case <-tick.C:
		}
	}
}

// paidUntil is a condition on the instant to which a subscription is paid.
func paidUntil(want time.Time) func(subscribers.Subscription, billing.Account) bool {
	return func(s subscribers.Subscription, _ billing.Account) bool { return s.PaidUntil().Equal(want) }
}

// openInvoices is a condition on the number of open invoices.
func openInvoices(n int) func(subscribers.Subscription, billing.Account) bool {
	return func(s subscribers.Subscription, _ billing.Account) bool { return len(s.Open()) == n }
}

func TestRenewal_APrepaidYearOfMoneyAndTime(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	travel := k.withMoney(t)
	admin := k.Admin(t)
	c := k.Register(t, admin, isptest.Amina())
	s := k.subscribe(t, admin, c.ID, k.Plan(t, admin, "p", "prepaid", "month"), nil) // 1,500.50
	start := k.Clock.Now()
	end := func(months int) time.Time { return start.AddDate(0, months, 0) }
	k.credited(t, c.ID, 150050)
	k.eventually(t, s.ID, "paid", paidUntil(end(1)))
	travel(s.ID, end(1).Add(-73*time.Hour))
	k.credited(t, c.ID, 150000) // half a shilling is missing
	travel(s.ID, end(1).Add(-72*time.Hour))
	k.eventually(t, s.ID, "invoiced again", openInvoices(1))
	k.credited(t, c.ID, 50+2*150050) // the rest, and two months
	k.eventually(t, s.ID, "paid before its end", paidUntil(end(2)))
	travel(s.ID, end(2).Add(-72*time.Hour)) // the lead time before the end: credit renews the subscription
	k.eventually(t, s.ID, "renewed from credit", paidUntil(end(3)))
	travel(s.ID, end(3).Add(-72*time.Hour))
	k.eventually(t, s.ID, "renewed from credit again", paidUntil(end(4)))
	travel(s.ID, end(4).Add(-72*time.Hour))
	k.eventually(t, s.ID, "invoiced", openInvoices(1))
	late := end(4).AddDate(0, 0, 9)
	travel(s.ID, late)
	k.credited(t, c.ID, 150050)
	k.eventually(t, s.ID, "paid after its end", paidUntil(late.AddDate(0, 1, 0)))
	k.eventually(t, s.ID, "settled", func(s subscribers.Subscription, a billing.Account) bool {
		return len(s.Open()) == 0 && len(s.Periods) == 5 && len(a.Settled) == 5 && s.State == subscribers.Active
	})
}

func TestRenewal_ReversedMoneyTakesThePeriodAndNewMoneyGivesIt(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	k.withMoney(t)
	admin := k.Admin(t)
	c := k.Register(t, admin, isptest.Amina())
	s := k.subscribe(t, admin, c.ID, k.Plan(t, admin, "p", "prepaid", "month"), nil)
	start := k.Clock.Now()
	receipt := k.credited(t, c.ID, 150050)
	k.eventually(t, s.ID, "paid", paidUntil(start.AddDate(0, 1, 0)))
	k.Run(t, commands.WithdrawReceipt{
		SubscriberID: id.Must[id.Subscriber](c.ID), ReceiptID: receipt, Reason: "reversed",
	})
	k.eventually(t, s.ID, "withdrawn", paidUntil(time.Time{}))
	k.Clock.Advance(24 * time.Hour)
	k.credited(t, c.ID, 150050)
	k.eventually(t, s.ID, "paid again", paidUntil(start.AddDate(0, 1, 1)))
}

func TestRenewal_EndingVoidsTheInvoiceOfServiceNeverGiven(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	k.withMoney(t)
	admin := k.Admin(t)
	c := k.Register(t, admin, isptest.Amina())
	s := k.subscribe(t, admin, c.ID, k.Plan(t, admin, "p", "prepaid", "month"), nil)
	k.eventually(t, s.ID, "invoiced", func(_ subscribers.Subscription, a billing.Account) bool {
		return len(a.Invoices) == 1 && a.Invoices[id.Must[id.Invoice](*s.OpenInvoiceID)].Seq > 0
	})
	k.Want(t, 200, "", isptest.Post(admin, "/subscriptions/"+s.ID+"/end", map[string]string{"reason": "moved"}))
	k.eventually(t, s.ID, "voided",
		func(_ subscribers.Subscription, a billing.Account) bool { return len(a.Voided) == 1 })
}

// credit is a condition on the unused money of an account, in minor units, with nothing due.
func credit(minor int64) func(subscribers.Subscription, billing.Account) bool {
	return func(_ subscribers.Subscription, a billing.Account) bool {
		return a.Credit().Minor == minor && a.Due().IsZero() && len(a.Voided) > 0
	}
}

func TestRenewal_EndingGivesThePartOnTheInvoiceBackAsCredit(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	k.withMoney(t)
	admin := k.Admin(t)
	c := k.Register(t, admin, isptest.Amina())
	s := k.subscribe(t, admin, c.ID, k.Plan(t, admin, "p", "prepaid", "month"), nil)
	invoice := id.Must[id.Invoice](*s.OpenInvoiceID)
	k.eventually(t, s.ID, "invoiced", func(_ subscribers.Subscription, a billing.Account) bool {
		return a.Invoices[invoice].Seq > 0
	})
	k.credited(t, c.ID, 100000)
	k.eventually(t, s.ID, "partly paid", func(_ subscribers.Subscription, a billing.Account) bool {
		return a.Invoices[invoice].Due.Minor == 50050
	})
	k.Want(t, 200, "", isptest.Post(admin, "/subscriptions/"+s.ID+"/end", map[string]string{"reason": "moved"}))
	k.eventually(t, s.ID, "given back", credit(100000))
}

func TestRenewal_MoneyThatLandsAfterTheEndBecomesCredit(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	k.withMoney(t)
	admin := k.Admin(t)
	c := k.Register(t, admin, isptest.Amina())
	s := k.subscribe(t, admin, c.ID, k.Plan(t, admin, "p", "prepaid", "month"), nil)
	k.eventually(t, s.ID, "invoiced", func(_ subscribers.Subscription, a billing.Account) bool {
		return a.Invoices[id.Must[id.Invoice](*s.OpenInvoiceID)].Seq > 0
	})
	k.Run(t, commands.EndSubscription{SubscriptionID: id.Must[id.Subscription](s.ID), Reason: "moved"})
	k.credited(t, c.ID, 150050) // at the same moment: before or after the invoice is voided
	k.eventually(t, s.ID, "credit", func(s subscribers.Subscription, a billing.Account) bool {
		return credit(150050)(s, a) && s.PaidUntil().IsZero() && s.State == subscribers.Ended
	})
}

func TestRenewal_ACreditNoteOverAPaidMonthEndsItLikeAReversal(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	k.withMoney(t)
	admin := k.Admin(t)
	c := k.Register(t, admin, isptest.Amina())
	s := k.subscribe(t, admin, c.ID, k.Plan(t, admin, "p", "prepaid", "month"), nil)
	start, invoice := k.Clock.Now(), id.Must[id.Invoice](*s.OpenInvoiceID)
	receipt := k.credited(t, c.ID, 150050)
	k.eventually(t, s.ID, "paid", paidUntil(start.AddDate(0, 1, 0)))
	subscriber := id.Must[id.Subscriber](c.ID)
	k.Run(t, commands.WithdrawReceipt{SubscriberID: subscriber, ReceiptID: receipt, Reason: "reversed"})
	k.eventually(t, s.ID, "withdrawn", openInvoices(1))
	k.Run(t, commands.DraftCreditNote{
		SubscriberID: subscriber, CreditNoteID: id.New[id.Receipt](), InvoiceID: invoice, Reason: "goodwill",
		Prefix: "ACME",
	})
	k.eventually(t, s.ID, "cancelled", func(s subscribers.Subscription, a billing.Account) bool {
		p, _ := s.Period(invoice)
		return p.State == subscribers.PeriodCancelled && s.PaidUntil().IsZero() && a.Due().IsZero() &&
			a.Credit().IsZero()
	})
}
