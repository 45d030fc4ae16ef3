package topups_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/access/topups"
)

// The order of these tests has a price of 250 shillings.
var (
	start   = time.Date(2026, 3, 20, 9, 0, 0, 0, time.UTC)
	resets  = time.Date(2026, 3, 31, 21, 0, 0, 0, time.UTC)
	subject = events.UsageSubject{
		SubscriptionID: id.Derive[id.Subscription]("test", "line"),
		OrgID:          id.Derive[id.Organization]("test", "org"),
		SubscriberID:   id.Derive[id.Subscriber]("test", "amina"),
	}
	invoice = id.Derive[id.Invoice]("test", "order")
	order   = events.TopUpOrdered{
		UsageSubject: subject, TopUpID: id.Derive[id.TopUp]("test", "order"), Bytes: 5_000_000_000,
		CapPeriod: events.CapPeriod{Period: "month", ResetsAt: resets}, Price: money.Major(250, money.KES),
		InvoiceID: invoice, At: start,
	}
	draft = commands.DraftTopUpInvoice{
		SubscriberID: subject.SubscriberID, OrgID: subject.OrgID, InvoiceID: invoice, Price: order.Price,
		SubscriptionID: subject.SubscriptionID, Description: "Top-up of 5.0 GB", SoldAt: start, OrderedUntil: resets,
	}
	void = commands.VoidInvoice{
		SubscriberID: subject.SubscriberID, InvoiceID: invoice,
		Reason: "the cap was reset before the top-up was paid",
	}
)

// ordered begins an example in which the order was invoiced.
func ordered(t *testing.T) processtest.Scenario[topups.State] {
	t.Helper()
	return processtest.For(t, topups.Process(), start).When(order).Then(processmanagers.Output{
		Commands: []commands.Command{draft}, Timers: []processmanagers.Timer{{Name: "lapses", At: resets}},
	})
}

// does is an output without timers and jobs.
func does(c commands.Command) processmanagers.Output {
	return processmanagers.Output{Commands: []commands.Command{c}}
}

func TestTopUps_AnOrderIsAddedWhenItsInvoiceIsPaid(t *testing.T) {
	t.Parallel()
	paid := events.InvoicePaid{SubscriberID: subject.SubscriberID, InvoiceID: invoice, At: start}
	s := ordered(t)
	s.WhenRefused(draft, "concurrent_change").Then(does(draft))
	s.When(paid).Then(processmanagers.Output{Jobs: []commands.Job{commands.AddPaidTopUp{
		Subject: subject, TopUpID: order.TopUpID, Bytes: order.Bytes, Price: order.Price, InvoiceID: invoice,
	}}}).ThenEnded()
	processtest.For(t, topups.Process(), start).When(paid).ThenNothing() // an invoice of something else
}

func TestTopUps_AnOrderLapsesWhenTheCapResetsUnlessAPartIsPaid(t *testing.T) {
	t.Parallel()
	s := ordered(t).WhenDue("lapses", resets).Then(does(void))
	s.When(events.InvoiceVoided{SubscriberID: subject.SubscriberID, InvoiceID: invoice}).ThenNothing().ThenEnded()
	s.WhenRefused(void, "invoice_has_payments").ThenNothing()
	s.WhenRefused(void, "concurrent_change").Then(processmanagers.Output{
		Timers: []processmanagers.Timer{{Name: "lapses", At: start.Add(time.Minute)}},
	})
}

func TestTopUps_OrdersEndWithTheirSubscription(t *testing.T) {
	t.Parallel()
	over := events.SubscriptionEnded{SubscriptionID: subject.SubscriptionID, SubscriberID: subject.SubscriberID}
	processtest.For(t, topups.Process(), start).When(over).Then(does(commands.VoidOrders{
		SubscriberID: subject.SubscriberID, SubscriptionID: subject.SubscriptionID, Reason: "subscription ended",
	})).ThenEnded()
}
