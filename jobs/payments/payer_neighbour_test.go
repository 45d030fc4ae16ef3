package paymentsjobs_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// homeNumber and homeName are the reference of a prompt of the organization of the kit, and the username of another
// organization's customer that reads as it.
const (
	homeNumber = "HOME-0012"
	homeName   = "home.0012"
)

// neighbour is another organization with a customer, whose phone is the one that the kit's prompts go to. The
// organization of the kit chose its prefix so that the invoice of its own customer is the username of that one.
func (k *kit) neighbour(t *testing.T) {
	t.Helper()
	put := func(category string, who id.Any, org id.Organization, e events.Event) {
		t.Helper()
		_, err := k.Store.Append(t.Context(), category+"-"+who.String(), eventstore.NoStream, []eventstore.New{{
			Event: e, Meta: events.Metadata{EventID: id.New[id.Event](), OrgID: org},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	org, customer, line := id.New[id.Organization](), id.New[id.Subscriber](), id.New[id.Subscription]()
	put("subscriber", id.Any(customer), org, events.SubscriberRegistered{
		SubscriberID: customer, OrgID: org, AccountNumber: "10000016", Currency: money.KES,
		Details: events.SubscriberDetails{Phone: personal.Of("254712345678")},
	})
	put("subscription", id.Any(line), org, events.SubscriptionCreated{
		SubscriptionID: line, SubscriberID: customer, OrgID: org, Username: personal.Of(homeName),
	})
	put("organization", id.Any(k.org), k.org, events.OrganizationCreated{
		OrgID: k.org, Slug: "home", Name: "Home", Billing: events.BillingSettings{InvoicePrefix: "HOME"},
	})
	put("account", id.Any(k.sub), k.org, events.InvoiceIssued{
		SubscriberID: k.sub, OrgID: k.org, InvoiceID: id.New[id.Invoice](), Number: homeNumber,
		Total: money.Major(1500, money.KES),
	})
	k.registered(t, "10000008")
}

// An organization prompts the phone of its neighbour's customer, or its own while the provider hides phones, with a
// reference that is the customer's username at the neighbour. What the customer then pays there is not the prompt's,
// however the prompt ended.
func TestFindPayer_APromptTakesNoMoneyThatMayBeForANeighboursCustomer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ hidden, cancelled bool }{
		"the prompt waits": {}, "the customer cancelled it": {cancelled: true}, "phones are hidden": {hidden: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			k.neighbour(t)
			attempt, _ := k.initiate(t, homeNumber)
			if c.cancelled {
				k.execute(t, commands.RecordVerdict{
					PaymentID: attempt, Code: "1032", Message: "no", By: commands.ByCallback,
				})
			}
			before := len(k.history(t, commands.PaymentCategory, id.Any(attempt)))
			if c.hidden {
				k.hidden(t, "SJK4X7Q2P1", homeName)
			} else {
				k.confirmed(t, paid("SJK4X7Q2P1", shortcode, homeName, 1500))
			}
			r := k.place(t, commands.ReceiptID(here, "SJK4X7Q2P1"))
			if r.Standing != payments.StandingHeld || !r.Org.IsZero() || !r.Subscriber.IsZero() {
				t.Errorf("the money does not wait for the platform: %+v", r)
			}
			if got := k.history(t, commands.PaymentCategory, id.Any(attempt)); len(got) != before {
				t.Errorf("the prompt has the money: %v", got)
			}
		})
	}
}

// The provider tells of a prompt's money at the paybill first, and then by the prompt's own callback: its ids prove
// whose the money is.
func TestFindPayer_MoneyThatItsPromptsCallbackProvesLeavesSuspense(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.neighbour(t)
	attempt, _ := k.initiate(t, homeNumber)
	receipt := k.hidden(t, "SJK4X7Q2P1", homeName)
	if r := k.place(t, receipt); r.Standing != payments.StandingHeld {
		t.Fatalf("%+v", r)
	}
	k.execute(t, commands.RecordReceipt{
		ReceiptID: receipt, OrgID: k.org, Provider: commands.ProviderMobileMoney, Environment: here,
		ReceiptNumber: "SJK4X7Q2P1", Channel: commands.ChannelPrompt, Shortcode: shortcode,
		Amount: money.Major(1500, money.KES), PaidAt: k.clock.Now(), PaymentID: attempt,
		Sighting: commands.SightingCallback,
	})
	k.place(t, receipt)
	if got := k.history(t, commands.PaymentCategory, id.Any(attempt)); len(got) != 2 ||
		got[1] != "payments.PaymentSucceeded.v1" {
		t.Errorf("the prompt is not settled by its own money: %v", got)
	}
}

// What the prompt's customer typed names nobody else, although a neighbour has a customer of the phone.
func TestFindPayer_APromptTakesWhatTheRulesGiveToItsOrganization(t *testing.T) {
	t.Parallel()
	for _, reference := range []string{homeNumber, "10000008"} {
		t.Run(reference, func(t *testing.T) {
			t.Parallel()
			k := newKit(t)
			k.neighbour(t)
			attempt, _ := k.initiate(t, reference)
			k.confirmed(t, paid("SJK4X7Q2P1", shortcode, reference, 1500))
			k.place(t, commands.ReceiptID(here, "SJK4X7Q2P1"))
			if got := k.history(t, commands.PaymentCategory, id.Any(attempt)); len(got) != 2 ||
				got[1] != "payments.PaymentSucceeded.v1" {
				t.Errorf("the prompt is not settled: %v", got)
			}
		})
	}
}

// Several prompts of one organization may have the money, and a neighbour's customer as well.
func TestFindPayer_MoneyThatMayBeForANeighboursCustomerIsAssignedToNobody(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.neighbour(t)
	first, _ := k.initiate(t, homeNumber)
	k.initiate(t, homeNumber)
	k.execute(t, commands.SettlePayment{
		PaymentID: first, ReceiptID: id.New[id.Receipt](), Amount: money.Major(1500, money.KES), By: commands.ByQuery,
		Provisional: true,
	})
	r := k.place(t, k.hidden(t, "SJK4X7Q2P1", homeName))
	if r.Standing != payments.StandingHeld || !r.Org.IsZero() {
		t.Errorf("the money does not wait for the platform: %+v", r)
	}
}
