package accesscases_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// TestSellDays_OfAMonthFromTheEndOfFebruaryAreThoseToTheAnniversary: who began on 31 January has paid 800 of 1,500 for
// the month from 28 February to 31 March, which are 16 of 31 days and not 14 of 28.
func TestSellDays_OfAMonthFromTheEndOfFebruaryAreThoseToTheAnniversary(t *testing.T) {
	t.Parallel()
	begun := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	now := clock.NewManual(begun)
	k := coretest.New(t, now)
	bus.Register(k.Bus, identity.Organizations())
	bus.Register(k.Bus, subscribers.Subscribers())
	bus.Register(k.Bus, subscribers.Subscriptions())
	bus.Register(k.Bus, billing.Accounts())
	org, who, line := id.New[id.Organization](), id.New[id.Subscriber](), id.New[id.Subscription]()
	march := commands.PeriodInvoice(line, 2)
	run := func(c commands.Command) {
		t.Helper()
		k.Run(t, coretest.Operator(org), c)
	}
	k.Run(t, coretest.Operator(id.Organization{}), coretest.NewOrganization(org, "acme"))
	run(coretest.NewSubscriber(who, org, 0))
	run(commands.CreateSubscription{
		SubscriptionID: line, OrgID: org, SubscriberID: who, PlanID: id.New[id.Plan](), PlanVersion: 1,
		Username: personal.Of("amina"), Timezone: "Africa/Nairobi", Terms: events.PlanTerms{
			Name: "Home", Kind: "pppoe", Price: money.Major(1500, money.KES), Mode: events.Prepaid,
			Period: calendar.Month, PartialPayment: events.PartIsDays,
		},
	})
	run(commands.ExtendSubscription{
		SubscriptionID: line, InvoiceID: commands.PeriodInvoice(line, 1), PaidAt: begun,
	})
	run(commands.MakePeriodDue{SubscriptionID: line})
	run(commands.DraftInvoice{
		SubscriberID: who, OrgID: org, InvoiceID: march, SubscriptionID: line, Currency: money.KES, Prefix: "ACME",
		Lines: []commands.LineInput{{Description: "Home", Quantity: "1", UnitPrice: money.Major(1500, money.KES)}},
		DueOn: calendar.Date{Year: 2026, Month: time.February, Day: 28},
	})
	run(commands.IssueInvoice{SubscriberID: who, InvoiceID: march, Number: "ACME-0001"})
	run(commands.CreditReceipt{
		SubscriberID: who, OrgID: org, ReceiptID: id.New[id.Receipt](), Number: "R", Channel: "cash",
		Amount: money.Major(800, money.KES), PaidAt: begun,
	})
	now.Set(time.Date(2026, 2, 28, 8, 45, 0, 0, time.UTC))
	if _, err := accesscases.NewReviews(k.Bus, k.Bus, now).Execute(t.Context(), commands.SellDays{
		SubscriberID: who, SubscriptionID: line, InvoiceID: march, CreditNoteID: id.New[id.Receipt](), Reason: "part",
		Prefix: "ACME-CN",
	}, coretest.Operator(org)); err != nil {
		t.Fatal(err)
	}
	log, err := k.Store.Read(t.Context(), commands.AccountCategory+"-"+who.String(), 0)
	if err != nil {
		t.Fatal(err)
	}
	note, drafted := log[len(log)-1].Event.(events.CreditNoteDrafted)
	if want := (events.PartPeriod{Days: 16, Of: 31}); !drafted || note.Leaves != want {
		t.Errorf("%+v, want a note that leaves %+v", log[len(log)-1].Event, want)
	}
}
