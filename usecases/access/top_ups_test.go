package accesscases_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// TestTopUps_BytesForALineThatHasEndedAreGivenBack: nobody can use them.
func TestTopUps_BytesForALineThatHasEndedAreGivenBack(t *testing.T) {
	t.Parallel()
	l := newLine(t)
	invoice, price := id.New[id.Invoice](), money.Major(250, money.KES)
	for _, c := range []commands.Command{
		commands.DraftInvoice{
			SubscriberID: l.subscriber, OrgID: l.org, InvoiceID: invoice, SoldTo: l.subscription, Order: true,
			Lines:    []commands.LineInput{{Description: "Top-up", Quantity: "1", UnitPrice: price}},
			Currency: money.KES, Prefix: "ACME", DueOn: calendar.On(l.clock.Now(), l.zone),
		},
		commands.IssueInvoice{SubscriberID: l.subscriber, InvoiceID: invoice, Number: "ACME-0001"},
		commands.CreditReceipt{
			SubscriberID: l.subscriber, OrgID: l.org, ReceiptID: id.New[id.Receipt](), InvoiceID: invoice,
			Number: "R1", Channel: "c2b", Amount: price, PaidAt: l.clock.Now(),
		},
		commands.EndSubscription{SubscriptionID: l.subscription, Reason: "another plan"},
	} {
		l.Run(t, coretest.Operator(l.org), c)
	}
	order := commands.AddPaidTopUp{
		Subject: events.UsageSubject{SubscriptionID: l.subscription, OrgID: l.org, SubscriberID: l.subscriber},
		TopUpID: id.New[id.TopUp](), Bytes: 500, Price: price, InvoiceID: invoice,
	}
	for range 2 {
		if err := l.topUps().Pay(t.Context(), order, coretest.Operator(l.org)); err != nil {
			t.Fatal(err)
		}
	}
	account, _, err := bus.LoadUnchecked[billing.Account](t.Context(), l.Bus, l.subscriber)
	if err != nil || account.Credit() != price || !account.Due().IsZero() {
		t.Errorf("credit %s, due %s, %v", account.Credit(), account.Due(), err)
	}
	if s, _ := l.recorded(); len(s.TopUps) > 0 {
		t.Errorf("added %+v", s.TopUps)
	}
}
