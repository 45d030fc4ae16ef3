package paymentsviews_test

import (
	"fmt"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// Phones of the payers in payersStory.
const (
	aminasPhone  = "254712345678"
	sharedPhone  = "254733333333" // Brian's at Acme and Chege's at Other
	strangePhone = "254755555555"
)

// neighbours has what Other chose to catch the money of Acme's customers: the prefix HOME, and usernames in the form of
// words, of account numbers and of invoice numbers.
func neighbours() *projectiontest.Story {
	issued := func(s id.Subscriber, org id.Organization, number string) events.InvoiceIssued {
		return events.InvoiceIssued{
			SubscriberID: s, OrgID: org, InvoiceID: id.Derive[id.Invoice]("test", number+org.String()), Number: number,
			Total: kes(10),
		}
	}
	subscribed := func(s id.Subscriber, org id.Organization, username string) events.SubscriptionCreated {
		return events.SubscriptionCreated{
			SubscriptionID: id.Derive[id.Subscription]("test", username), SubscriberID: s, OrgID: org,
			Username: personal.Of(username),
		}
	}
	story := payersStory().
		Add("organization-other",
			events.BillingSettingsAdopted{OrgID: other, Billing: events.BillingSettings{InvoicePrefix: "HOME"}}).
		Add("account-chege", issued(chege, other, "HOME-0012"), issued(chege, other, "HOME-0099")).
		Add("account-amina", issued(amina, acme, "OLD-0001")).
		Add("organization-acme", events.InvoicePrefixReleased{OrgID: acme, Prefix: "OLD"},
			events.BillingSettingsAdopted{OrgID: acme, Billing: events.BillingSettings{InvoicePrefix: "OLD"}},
			events.BillingSettingsAdopted{OrgID: acme, Billing: events.BillingSettings{InvoicePrefix: "ACME"}})
	for i, name := range []string{"home0012", "home-0012", "10000008-2", "100000080", "user-7"} {
		story.Add(fmt.Sprintf("subscription-amina%d", i), subscribed(amina, acme, name))
	}
	for i, name := range []string{"wifi", "10000009", "1000000", "100000088", "OLD-0001", "acme-0099", "acme.0098"} {
		story.Add(fmt.Sprintf("subscription-chege%d", i), subscribed(chege, other, name))
	}
	return story
}

// Every organization chooses its invoice prefix and usernames. On the shared paybill what it chooses must not take the
// money of its neighbours' customers.
func TestMatching_ANeighboursPrefixOrUsernameTakesNobodysMoney(t *testing.T) {
	t.Parallel()
	q, shared, nobody := paymentsviews.MatchingQuery{Views: told(t, neighbours())}, id.Organization{}, id.Subscriber{}
	checkMatches(t, q, map[string]match{
		"a username that reads as an invoice":     {shared, "home0012", "", nobody, "", true},
		"from its owner's phone":                  {shared, "home0012", aminasPhone, nobody, "", true},
		"a username with a dash, its owner pays":  {shared, "home-0012", aminasPhone, nobody, "", true},
		"a word":                                  {shared, "wifi", aminasPhone, nobody, "", true},
		"a word, payer at both":                   {shared, "wifi", sharedPhone, nobody, "", true},
		"a house number":                          {shared, "home 99", aminasPhone, nobody, "", true},
		"a house number with a dash":              {shared, "home-99", aminasPhone, nobody, "", true},
		"a house number with another mark":        {shared, "home #0099", aminasPhone, nobody, "", true},
		"a house number and letters after a dash": {shared, "home 99-QX", aminasPhone, nobody, "", true},
		"an account number with a slip":           {shared, "10000009", aminasPhone, nobody, "", false},
		"the same, masked payer":                  {shared, "10000009", "2547*****678", nobody, "", false},
		"a digit too few":                         {shared, "1000000", "", nobody, "", false},
		"a digit too many":                        {shared, "100000088", "", nobody, "", false},
		"no name that was made of the account":    {shared, "100000080", "", nobody, "", false},
		"a number of before":                      {shared, "OLD-0001", aminasPhone, nobody, "", false},
		"the same, masked payer, number released": {shared, "OLD-0001", "", nobody, "", false},
		"a number that comes later":               {shared, "acme-0099", "", nobody, "", false},
		"the same with another mark":              {shared, "Acme.0098", "", nobody, "", false},
	})
}

func TestMatching_AChangedUsernameLeadsToItsCustomerAndTheFormerOneToNobody(t *testing.T) {
	t.Parallel()
	q := paymentsviews.MatchingQuery{Views: told(t, neighbours().Add("subscription-chege0",
		events.SubscriptionCredentialsSet{
			SubscriptionID: id.Derive[id.Subscription]("test", "wifi"), SubscriberID: chege,
			Username: personal.Of("kilima"),
		}))}
	checkMatches(t, q, map[string]match{
		"the new name":    {other, "kilima", "", chege, "username", false},
		"the former name": {other, "wifi", "", id.Subscriber{}, "", false},
	})
}

// What an organization chose leads to its customer as long as nothing speaks for a neighbour's.
func TestMatching_AUsernameOfOneCustomerOnThePlatformMatches(t *testing.T) {
	t.Parallel()
	q, shared := paymentsviews.MatchingQuery{Views: told(t, neighbours())}, id.Organization{}
	checkMatches(t, q, map[string]match{
		"masked payer":                        {shared, "wifi", "2547*****678", chege, "username", false},
		"a payer whom nobody knows":           {shared, "wifi", strangePhone, chege, "username", false},
		"its organization's customer pays":    {shared, "amina.home", aminasPhone, amina, "username", false},
		"a dash, a prefix that nobody had":    {shared, "user-7", "", amina, "username", false},
		"made of the account number":          {shared, "10000008-2", "", amina, "username", false},
		"made of the account, a friend pays":  {shared, "10000008-2", sharedPhone, amina, "username", false},
		"an account number, a friend pays":    {shared, "10000024", aminasPhone, chege, "account_number", false},
		"an invoice as printed":               {shared, "HOME-0099", "", chege, "invoice_number", false},
		"an invoice as printed, friend pays":  {shared, "home - 0099", aminasPhone, chege, "invoice_number", false},
		"an invoice as printed, not its name": {shared, "home-0012", strangePhone, chege, "invoice_number", false},
		"an invoice without its dash":         {shared, "home 99", "", chege, "invoice_number", false},
		"own paybill, a word":                 {other, "wifi", aminasPhone, chege, "username", false},
		"own paybill, account form":           {other, "10000009", "", chege, "username", false},
		"own paybill, invoice form":           {acme, "home-0012", "", amina, "username", false},
	})
}

// An organization may have money on grounds of its own only while nobody else's customer may be meant.
func TestFound_AllowsTheOrganizationThatTheRulesFindOrThatIsAlone(t *testing.T) {
	t.Parallel()
	q := paymentsviews.MatchingQuery{Views: told(t, neighbours())}
	for name, c := range map[string]struct {
		ref, phone              string
		allowsAcme, allowsOther bool
	}{
		"nobody is meant":                    {"nobody-77x", strangePhone, true, true},
		"a phone of one":                     {"nobody-77x", aminasPhone, true, false},
		"a phone of both":                    {"nobody-77x", sharedPhone, false, false},
		"an invoice as printed, the other's": {"home-0012", strangePhone, false, true},
		"its customer at the other pays":     {"home-0012", aminasPhone, false, false},
		"an account number, whoever pays":    {"10000024", aminasPhone, false, true},
		"a number that was given up":         {"OLD-0001", "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := q.Find(t.Context(), paymentsviews.Reference{
				BillRef: c.ref, Phone: c.phone, Currency: money.KES,
			})
			if err != nil || found.Allows(acme) != c.allowsAcme || found.Allows(other) != c.allowsOther {
				t.Errorf("allows %v and %v by %+v, %v", found.Allows(acme), found.Allows(other), found, err)
			}
		})
	}
}

// An organization with many customers of one phone hides no other organization's customer of that phone.
func TestMatching_ACrowdHidesNoNeighbour(t *testing.T) {
	t.Parallel()
	story := neighbours()
	crowd := func(org id.Organization, phone, digit string) {
		for i := range 40 {
			s := id.Derive[id.Subscriber]("crowd "+digit, fmt.Sprint(i))
			story.Add("subscriber-"+s.String(), events.SubscriberRegistered{
				SubscriberID: s, OrgID: org, AccountNumber: fmt.Sprintf("%s%07d", digit, i), Currency: money.KES,
				Details: events.SubscriberDetails{Phone: personal.Of(phone)},
			})
		}
	}
	crowd(other, aminasPhone, "2")
	crowd(acme, sharedPhone, "3")
	checkMatches(t, paymentsviews.MatchingQuery{Views: told(t, story)}, map[string]match{
		"a word":     {id.Organization{}, "wifi", aminasPhone, id.Subscriber{}, "", true},
		"a username": {id.Organization{}, "amina.home", sharedPhone, id.Subscriber{}, "", true},
	})
}

// Not printed so: the dash stands before the suffix, or at the end, and not between prefix and number.
func TestMatching_OnlyTheDashBetweenPrefixAndNumberIsThePrintedOne(t *testing.T) {
	t.Parallel()
	q, shared, nobody := paymentsviews.MatchingQuery{Views: told(t, neighbours())}, id.Organization{}, id.Subscriber{}
	checkMatches(t, q, map[string]match{
		"slash, suffix":    {shared, "home/0099-QX", aminasPhone, nobody, "", true},
		"hash, end":        {shared, "home #0099 -", aminasPhone, nobody, "", true},
		"dot, then dash":   {shared, "home.-0099", aminasPhone, nobody, "", true},
		"dash, then slash": {shared, "home-/0099", aminasPhone, nobody, "", true},
		"two dashes":       {shared, "home--0099", aminasPhone, nobody, "", true},
	})
}
