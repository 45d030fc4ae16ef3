package paymentsapi_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// namesake makes a customer of another organization on the shared paybill whose username is a text.
func (k *moneyKit) namesake(t *testing.T, username string) {
	t.Helper()
	other, who := k.Orgs["other"].ID, id.New[id.Subscriber]()
	k.Run(t, commands.RegisterSubscriber{
		SubscriberID: who, OrgID: other, AccountNumber: commands.AccountNumber(1_000_011), Currency: money.KES,
		Details: events.SubscriberDetails{FirstName: personal.Of("A"), Phone: personal.Of("+" + aminasPhone)},
	}, other)
	k.Run(t, commands.CreateSubscription{
		SubscriptionID: id.New[id.Subscription](), OrgID: other, SubscriberID: who, PlanID: id.New[id.Plan](),
		PlanVersion: 1, Username: personal.Of(username), Timezone: "Africa/Nairobi", Terms: events.PlanTerms{
			Name: "Home", Kind: "pppoe", Price: money.Major(1500, money.KES), Mode: events.Postpaid,
			Period: calendar.Month, Access: events.AccessTerms{}.WithDefaults(),
		},
	}, other)
	k.Quiet(t)
}

// Somebody else's customer has the number of Amina's invoice as username, so the paybill's report of her prompt waits
// in the platform's suspense. Who assigns it there sees whose prompt it may be and that it is credited already.
func TestUnowned_ThePlatformSeesWhosePromptTheMoneyMayBe(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.owes(t)
	asked := map[string]any{"amount": 1500}
	for key, invoice := range k.Account(t, k.Amina).Invoices {
		k.namesake(t, invoice.Number)
		asked["invoiceId"] = key
	}
	k.behave(t, "pay", provider.Faults{DropCallbacks: 1, C2BAlso: true})
	var p initiated
	k.ask(t, apitest.Admin, asked, 202).Into(t, &p)
	k.Quiet(t)
	k.Post(t, apitest.Acme, apitest.Admin, "/payments/query", map[string]any{"paymentId": p.PaymentID}, 200)
	k.Quiet(t)
	k.expectCredited(t, 1500, 1)
	k.behave(t, "pay", provider.Faults{C2BAlso: true})
	if !k.Sim.Resend(k.Sim.Transactions()[0].ReceiptNumber) {
		t.Fatal("nothing to send again")
	}
	k.Quiet(t)

	list := k.receipts(t, apitest.Domain, apitest.Super, "?state=suspense")
	if len(list) != 1 || len(list[0].Suggestions) != 1 {
		t.Fatalf("suspense of the platform: %+v", list)
	}
	if s := list[0].Suggestions[0]; s.By != "prompt" || s.OrgID != k.Org.String() || s.PaymentID != p.PaymentID ||
		!s.Credited {
		t.Errorf("suggestion %+v", s)
	}
	at := "/receipts/" + list[0].ID
	k.Post(t, apitest.Domain, apitest.Super, at+"/assign", map[string]any{"orgId": k.Org}, 200)
	k.Quiet(t)
	k.Post(t, apitest.Acme, apitest.Admin, at+"/attribute",
		map[string]any{"subscriberId": k.Amina, "paymentId": p.PaymentID}, 200)
	k.Quiet(t)
	k.expectCredited(t, 1500, 1)
}
