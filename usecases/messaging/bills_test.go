package messagingcases_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// TestSend_WhereTheBillManagerRemindsOursStaysAway on the days of the bill manager, for an invoice that it has, where
// organization and platform want it. In every other case ours goes.
func TestSend_WhereTheBillManagerRemindsOursStaysAway(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before        int // days before the due date
		on, reminders bool
		platform      bool
		sent          bool
		ours          int
	}{
		"three days before":         {3, true, true, true, true, 0},
		"two days before":           {2, true, true, true, true, 1},
		"it was never sent":         {3, true, true, true, false, 1},
		"ours are wanted":           {3, true, false, true, true, 1},
		"it is off":                 {3, false, true, true, true, 1},
		"the platform has them off": {3, true, true, false, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, phone())
			bus.Register(k.Bus, payments.BillOptIns())
			bus.Register(k.Bus, payments.BillManagers())
			bus.Register(k.Bus, payments.Bills())
			k.owesOne(t)
			optIn := commands.BillOptInID("sandbox", "600100")
			k.delivery.BillOptIn = optIn
			k.Run(t, coretest.Operator(id.Organization{}), commands.RecordBillOptIn{
				OptInID: optIn, Environment: "sandbox", Shortcode: "600100", Reminders: c.platform,
				KeyRef: id.New[id.Secret](),
			})
			k.Run(t, coretest.Operator(k.args.OrgID), commands.ConfigureBillManager{
				OrgID: k.args.OrgID, On: c.on, Reminders: c.reminders,
			})
			for _, invoice := range k.account(t) {
				k.bill(t, invoice, c.sent)
			}
			k.args.Template, k.args.At = events.ReminderBefore, noon.Add(time.Duration(2-c.before)*24*time.Hour)
			again, err := k.send(t, "reminder")
			must(t, again, err)
			if len(k.sent) != c.ours {
				t.Errorf("sent %+v, %q", k.sent, k.states(t))
			}
		})
	}
}

// owesOne makes the messages be about a postpaid line of which one invoice is due in two days.
func (k *kit) owesOne(t *testing.T) {
	t.Helper()
	zone, err := time.LoadLocation("Africa/Nairobi")
	if err != nil {
		t.Fatal(err)
	}
	line, org, who := id.New[id.Subscription](), k.args.OrgID, k.args.SubscriberID
	k.append(t, org, "subscription-"+line.String(), events.SubscriptionCreated{
		SubscriptionID: line, OrgID: org, SubscriberID: who, PlanID: id.New[id.Plan](), Terms: events.PlanTerms{
			Name: "Business", Mode: events.Postpaid, Period: calendar.Month, Price: money.Major(200, money.KES),
		},
	}, events.SubscriptionActivated{SubscriptionID: line, SubscriberID: who})
	due := calendar.On(noon, zone).AddDays(2)
	k.args.SubscriptionID, k.args.DueAt = line, due.AddDays(1).Start(zone)
	debt := events.DunningDebt{InvoiceID: k.owes(t, 200, 2), DueOn: due, Amount: money.Major(200, money.KES)}
	subject := events.DunningSubject{SubscriptionID: line, OrgID: org, SubscriberID: who}
	k.append(t, org, "dunning-"+line.String(), events.DunningBegan{
		DunningSubject: subject,
		DunningStep:    events.DunningStep{DueAt: k.args.DueAt, At: noon, Due: money.Of(0, money.KES)},
	}, events.DunningReviewed{
		DunningSubject: subject, State: events.DunningReminding, At: noon,
		Owed: events.DunningOwed{At: noon, Debts: []events.DunningDebt{debt}},
	})
	k.WaitForAll(t, k.delivery.Views, accessviews.DunningName, subscribersviews.SubscriptionsName)
}

// bill has an invoice wait for the bill manager, which takes it when it is sent.
func (k *kit) bill(t *testing.T, invoice id.Invoice, sent bool) {
	t.Helper()
	k.Run(t, coretest.Operator(k.args.OrgID), commands.QueueBill{BillSubject: events.BillSubject{
		OrgID: k.args.OrgID, SubscriberID: k.args.SubscriberID, InvoiceID: invoice, Number: "ACME-1",
	}})
	if !sent {
		return
	}
	k.Run(t, coretest.Operator(k.args.OrgID), commands.OfferBill{
		InvoiceID: invoice, Try: 1, Size: 1, Amount: money.Major(200, money.KES),
	})
	bill, _, err := bus.LoadUnchecked[payments.Bill](t.Context(), k.Bus, invoice)
	if err != nil {
		t.Fatal(err)
	}
	k.Run(t, coretest.Operator(k.args.OrgID), commands.ConfirmBill{InvoiceID: invoice, Reference: bill.Reference})
}
