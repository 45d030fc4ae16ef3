package paymentscases

import (
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// TestSuggestions_ReasonsAddUpAndTheBestComesFirst: whoever was found and is not weighed, because he was forgotten
// meanwhile, is left out, and nobody stands twice.
func TestSuggestions_ReasonsAddUpAndTheBestComesFirst(t *testing.T) {
	t.Parallel()
	who := func(name string) id.Subscriber { return id.Derive[id.Subscriber]("test", name) }
	near := func(name string, reasons ...string) paymentsviews.Suggested {
		return paymentsviews.Suggested{Payer: paymentsviews.Payer{SubscriberID: who(name)}, Reasons: reasons}
	}
	g := gather(
		[]paymentsviews.Suggested{near("slip", "account_number"), near("phone", "payer_phone"), near("gone", "phone")},
		[]paymentsviews.PaidBefore{{SubscriberID: who("slip"), Times: 3, LastAt: time.Unix(1, 0)}},
		[]id.Subscriber{who("name"), who("slip"), who("changed")},
	)
	list := g.ranked([]subscribersviews.Likely{
		{SubscriberID: who("name"), Words: 2, Owes: true}, {SubscriberID: who("slip"), Words: 1, Owes: true},
		{SubscriberID: who("phone")}, {SubscriberID: who("changed")}, {SubscriberID: who("another tenant's"), Words: 2},
	}, []id.Subscriber{who("phone")})
	var got []id.Subscriber
	for _, s := range list {
		got = append(got, s.SubscriberID)
	}
	if !slices.Equal(got, []id.Subscriber{who("slip"), who("phone"), who("name")}) {
		t.Fatalf("suggestions: %+v", list)
	}
	var by []string
	for _, r := range list[0].Reasons {
		by = append(by, r.By)
	}
	if !slices.Equal(by, []string{"account_number", "history", "amount_owed", "one_name"}) {
		t.Errorf("reasons: %v", by)
	}
	many := gathered{}
	for i := range 20 {
		org := id.Derive[id.Organization]("test", []string{"a", "b", "c"}[i%3])
		one := &Suggestion{SubscriberID: id.New[id.Subscriber](), OrgID: org}
		one.add(Reason{By: "phone"})
		many[one.SubscriberID] = one
	}
	if list := perOrganization(many); len(list) != 3 {
		t.Errorf("%d suggestions for three organizations", len(list))
	}
}
