package paymentsapi_test

import (
	"slices"
	"testing"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// suggested has the fields of suggestions that these tests compare.
type suggested struct {
	ID          string
	Amount      float64
	Suggestions []struct {
		SubscriberID, OrgID, AccountNumber, Reason string

		Subscriber *struct{ Name string }
		Reasons    []struct {
			By, Text string
			Times    int
		}
	}
}

// waiting lists the inbox of a host, the oldest first.
func (k *moneyKit) waiting(t *testing.T, host, as string) []suggested {
	t.Helper()
	k.Quiet(t)
	var page struct{ Data []suggested }
	k.Do(t, apitest.Request{Host: host, As: as, Path: "/receipts?state=suspense&sort=oldest"}).Into(t, &page)
	return page.Data
}

// A friend of Amina's pays at the shared paybill with a word that names nobody. Once a person has said whose it was,
// the next payment says it itself: to the platform which organization it may be, and to that organization whose.
func TestSuggestions_RememberForWhomAPayerPaid(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	pay := func() { k.Paybill(t, moneytest.PlatformShortcode, "254799000001", "rent of may", 77) }
	pay()
	first := k.waiting(t, apitest.Domain, apitest.Super)
	if len(first) != 1 || len(first[0].Suggestions) != 0 {
		t.Fatalf("at first: %+v", first)
	}
	at := "/receipts/" + first[0].ID
	k.Post(t, apitest.Domain, apitest.Super, at+"/assign", map[string]any{"orgId": k.Org}, 200)
	k.Quiet(t)
	k.Post(t, apitest.Acme, apitest.Admin, at+"/attribute", map[string]any{"subscriberId": k.Amina}, 200)
	pay()
	second := k.waiting(t, apitest.Domain, apitest.Super)
	if len(second) != 1 || len(second[0].Suggestions) != 1 {
		t.Fatalf("at the platform: %+v", second)
	}
	s := second[0].Suggestions[0]
	if s.OrgID != k.Org.String() || s.Reason != "history" || s.AccountNumber != "" || s.Subscriber != nil {
		t.Errorf("the platform is told of a neighbour's customer: %+v", s)
	}

	// By mistake it is given to another organization, which learns nothing of Amina.
	at = "/receipts/" + second[0].ID
	k.Post(t, apitest.Domain, apitest.Super, at+"/assign", map[string]any{"orgId": k.Orgs["other"].ID}, 200)
	if list := k.waiting(t, apitest.Other, apitest.OtherAdmin); len(list) != 1 || len(list[0].Suggestions) != 0 {
		t.Errorf("the other organization: %+v", list)
	}
	pay()
	third := k.waiting(t, apitest.Domain, apitest.Super)
	k.Post(t, apitest.Domain, apitest.Super, "/receipts/"+third[0].ID+"/assign", map[string]any{"orgId": k.Org}, 200)
	list := k.waiting(t, apitest.Acme, apitest.Admin)
	if len(list) != 1 || len(list[0].Suggestions) != 1 {
		t.Fatalf("Acme: %+v", list)
	}
	own := list[0].Suggestions[0]
	if own.SubscriberID != k.Amina.String() || own.Reasons[0].By != "history" || own.Reasons[0].Times != 1 ||
		own.Reasons[0].Text == "" || own.AccountNumber == "" {
		t.Errorf("Acme's suggestion: %+v", own)
	}
}

func TestSuggestions_AreOfNameAmountAndNumberTogether(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.owes(t)
	k.configure(t, apitest.Acme, apitest.Admin, direct("600777", "right"), 200)
	k.Quiet(t)
	if err := k.Sim.SetPhone("254799000002", provider.Phone{
		Behaviour: "pay", FirstName: "SOMEBODY", LastName: "ELSE",
	}); err != nil {
		t.Fatal(err)
	}
	k.Paybill(t, "600777", "254799000002", "internet", 1500) // what Amina owes, from a namesake's phone
	k.Paybill(t, "600777", "254799000003", "nothing", 3)     // nothing at all
	list := k.waiting(t, apitest.Acme, apitest.Admin)
	if len(list) == 2 && list[0].Amount < list[1].Amount { // each comes by a call of its own, in any order
		slices.Reverse(list)
	}
	if len(list) != 2 || len(list[0].Suggestions) != 1 || len(list[1].Suggestions) != 0 {
		t.Fatalf("inbox: %+v", list)
	}
	s := list[0].Suggestions[0]
	if s.SubscriberID != k.Amina.String() || len(s.Reasons) < 2 || s.Reasons[0].By != "amount_owed" ||
		s.Reasons[1].By != "one_name" {
		t.Errorf("suggestion: %+v", s)
	}
	k.Post(t, apitest.Acme, apitest.Admin, "/receipts/"+list[0].ID+"/attribute",
		map[string]any{"subscriberId": s.SubscriberID}, 200)
	k.Quiet(t)
	k.expectCredited(t, 1500, 1)
}

// People type the customer's full name instead of a number, and somebody else's phone pays.
func TestSuggestions_OfANameThatWasTyped(t *testing.T) {
	t.Parallel()
	k := newMoneyKit(t, moneytest.Options{})
	k.configure(t, apitest.Acme, apitest.Admin, direct("600777", "right"), 200)
	k.Run(t, commands.RegisterSubscriber{
		SubscriberID: k.Chege, OrgID: k.Org, AccountNumber: commands.AccountNumber(1_000_009), Currency: money.KES,
		Details: events.SubscriberDetails{
			FirstName: personal.Of("Wanjiku"), LastName: personal.Of("Kamau"), Phone: personal.Of("+254744000000"),
		},
	}, k.Org)
	k.Quiet(t)
	if err := k.Sim.SetPhone("254799000004", provider.Phone{
		Behaviour: "pay", FirstName: "OTIENO", LastName: "JAMES",
	}); err != nil {
		t.Fatal(err)
	}
	k.Paybill(t, "600777", "254799000004", "Kamau Wanjiku", 700)
	list := k.waiting(t, apitest.Acme, apitest.Admin)
	if len(list) != 1 || len(list[0].Suggestions) != 1 ||
		list[0].Suggestions[0].SubscriberID != k.Chege.String() || list[0].Suggestions[0].Reason != "name" {
		t.Errorf("inbox: %+v", list)
	}
}
