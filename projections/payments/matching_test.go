package paymentsviews_test

import (
	"slices"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// match is a payment and the payer that the rules find for it; by is "" for none.
type match struct {
	org       id.Organization
	ref       string
	phone     string
	want      id.Subscriber
	by        string
	ambiguous bool
}

// checkMatches compares what the rules find for each payment.
func checkMatches(t *testing.T, q paymentsviews.MatchingQuery, cases map[string]match) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := q.Find(t.Context(), paymentsviews.Reference{
				OrgID: c.org, BillRef: c.ref, Phone: c.phone, Currency: money.KES,
			})
			if err != nil {
				t.Fatal(err)
			}
			var got id.Subscriber
			by := ""
			if found.Payer != nil {
				got, by = found.Payer.SubscriberID, found.Payer.By
			}
			if got != c.want || by != c.by || found.Ambiguous != c.ambiguous {
				t.Errorf("want %v by %q (ambiguous %v), have %v by %q (%v)", c.want, c.by, c.ambiguous, got, by,
					found.Ambiguous)
			}
		})
	}
}

func TestMatching_RulesInTheirOrder(t *testing.T) {
	t.Parallel()
	q := paymentsviews.MatchingQuery{Views: told(t, payersStory())}
	shared := id.Organization{}
	checkMatches(t, q, map[string]match{
		"invoice number":                     {shared, "ACME-0007", "", amina, "invoice_number", false},
		"invoice number as people type it":   {shared, " acme 0007", "", amina, "invoice_number", false},
		"invoice number without zeros":       {shared, "acme 7", "", amina, "invoice_number", false},
		"voided invoice":                     {shared, "OTH-0001", "", id.Subscriber{}, "", false},
		"bare sequence":                      {shared, "0007", "", id.Subscriber{}, "", false},
		"account number":                     {shared, "1000 0008", "", amina, "account_number", false},
		"prefix and account number":          {shared, "ACME 10000008", "", amina, "prefixed_account", false},
		"another's prefix":                   {shared, "OTH 10000008", "", id.Subscriber{}, "", false},
		"a prefix that was never used":       {shared, "AC 10000024", "", chege, "account_number", false},
		"account kept in dollars":            {shared, "10000032", "", id.Subscriber{}, "", false},
		"phone":                              {shared, "0712345678", "", amina, "phone", false},
		"phone of two tenants":               {shared, "0733333333", "", id.Subscriber{}, "", true},
		"phone of two tenants, own paybill":  {acme, "0733333333", "", brian, "phone", false},
		"corrected phone":                    {shared, "0722222222", "", id.Subscriber{}, "", false},
		"username":                           {shared, "amina.home", "", amina, "username", false},
		"username of two tenants":            {shared, "SHOP", "", id.Subscriber{}, "", true},
		"username on an own paybill":         {other, "shop", "", chege, "username", false},
		"account of another, on own paybill": {other, "10000008", "", id.Subscriber{}, "", false},
		"payer's own phone last":             {shared, "rent", "254712345678", amina, "payer_phone", false},
		"what was typed beats who typed":     {acme, "shop", "254712345678", brian, "username", false},
		"masked payer":                       {shared, "rent", "2547*****678", id.Subscriber{}, "", false},
		"nothing":                            {shared, "", "", id.Subscriber{}, "", false},
		"too long":                           {shared, string(make([]byte, 200)), "", id.Subscriber{}, "", false},
	})
}

// numbered has invoices of two organizations whose prefixes continue each other with a digit.
func numbered() *projectiontest.Story {
	issued := func(name string, s id.Subscriber, org id.Organization, number string) events.InvoiceIssued {
		return events.InvoiceIssued{
			SubscriberID: s, OrgID: org, InvoiceID: id.Derive[id.Invoice]("test", name), Number: number, Total: kes(10),
		}
	}
	return payersStory().
		Add("account-amina", issued("long", amina, acme, "ACME-10007"), issued("short", amina, acme, "ACME1-0008")).
		Add("account-brian", issued("same", brian, acme, "ACME1-0009"), issued("other", brian, acme, "ACME-10009")).
		Add("account-chege", issued("one", chege, other, "ACME1-0007"))
}

func TestMatching_AnOldAccountNumberComesRightAfterTheAccountNumber(t *testing.T) {
	t.Parallel()
	q := paymentsviews.MatchingQuery{Views: told(t, payersStory())}
	shared := id.Organization{}
	checkMatches(t, q, map[string]match{
		"on the own paybill":             {acme, "abc 77", "", dora, "account_alias", false},
		"on another's own paybill":       {other, "abc 77", "", id.Subscriber{}, "", false},
		"of one organization, shared":    {shared, "ABC-77", "", dora, "account_alias", false},
		"digits alone, shared":           {shared, "20011", "", id.Subscriber{}, "", false},
		"of two, on an own paybill":      {other, "20011", "", farah, "account_alias", false},
		"digits alone":                   {acme, "7001", "", esther, "account_alias", false},
		"a neighbour's customer pays it": {shared, "ABC77", "254733333333", id.Subscriber{}, "", true},
	})
}

func TestMatching_PrefixesThatContinueEachOtherWithDigitsStayApart(t *testing.T) {
	t.Parallel()
	q := paymentsviews.MatchingQuery{Views: told(t, numbered())}
	for typed, want := range map[string]id.Subscriber{
		"ACME-10007": amina, "acme 1-0007": chege, "Acme1-0007 qx": chege, "ACME10007": {}, "acme 10007": {},
		"ACME10008": amina,
	} {
		found, err := q.Find(t.Context(), paymentsviews.Reference{
			BillRef: typed, Phone: "254712345678", Currency: money.KES,
		})
		if err != nil {
			t.Fatal(err)
		}
		var got id.Subscriber
		if found.Payer != nil {
			got = found.Payer.SubscriberID
		}
		if got != want || found.Ambiguous != want.IsZero() {
			t.Errorf("%s is %v (ambiguous %v), want %v", typed, got, found.Ambiguous, want)
		}
	}
	lists, err := q.Suggest(t.Context(),
		paymentsviews.Reference{OrgID: acme, BillRef: "ACME10009", Currency: money.KES},
		paymentsviews.Reference{OrgID: other, BillRef: "ACME10007", Currency: money.KES})
	if err != nil || len(lists[0]) != 1 || lists[0][0].SubscriberID != brian || len(lists[1]) != 1 ||
		lists[1][0].SubscriberID != chege || lists[1][0].By != "invoice_number" {
		t.Errorf("suggestions %v, %v", lists, err)
	}
}

// A late payer of the former owner's invoice waits in suspense until the next owner gives its number out.
func TestMatching_AReleasedPrefixIsItsNextOwnersAlone(t *testing.T) {
	t.Parallel()
	issued := func(name string, s id.Subscriber, org id.Organization, number string) events.InvoiceIssued {
		return events.InvoiceIssued{
			SubscriberID: s, OrgID: org, InvoiceID: id.Derive[id.Invoice]("test", name), Number: number, Total: kes(10),
		}
	}
	story := payersStory().
		Add("organization-other",
			events.BillingSettingsAdopted{OrgID: other, Billing: events.BillingSettings{InvoicePrefix: "OLD"}}).
		Add("account-chege", issued("old", chege, other, "OLD-0001"), issued("kept", chege, other, "OLD1-0002"),
			issued("long", chege, other, "OLD-10002"),
			events.InvoicePaid{SubscriberID: chege, OrgID: other, InvoiceID: id.Derive[id.Invoice]("test", "old")}).
		Add("account-brian", issued("another's", brian, acme, "OLD-0009")).
		Add("organization-other",
			events.BillingSettingsAdopted{OrgID: other, Billing: events.BillingSettings{InvoicePrefix: "NEW"}},
			events.InvoicePrefixReleased{OrgID: other, Prefix: "OLD"}).
		Add("account-chege", events.InvoiceReopened{
			SubscriberID: chege, OrgID: other, InvoiceID: id.Derive[id.Invoice]("test", "old"), Due: kes(10),
		})
	const aminas, brians = "254712345678", "254733333333"
	checkMatches(t, paymentsviews.MatchingQuery{Views: told(t, story)}, map[string]match{
		"nobody has the number":         {id.Organization{}, "OLD-0001", aminas, id.Subscriber{}, "", false},
		"nobody ever had it":            {id.Organization{}, "OLD-0002", aminas, id.Subscriber{}, "", false},
		"on its own paybill":            {other, "OLD-0001", brians, id.Subscriber{}, "", false},
		"another's own paybill":         {acme, "OLD-0001", aminas, amina, "payer_phone", false},
		"another prefix that continues": {id.Organization{}, "OLD1-0002", aminas, chege, "invoice_number", false},
		"another organization's":        {id.Organization{}, "OLD-0009", aminas, brian, "invoice_number", false},
		"without its dash, two numbers": {id.Organization{}, "OLD10002", aminas, id.Subscriber{}, "", true},
	})
	lists, err := paymentsviews.MatchingQuery{Views: told(t, story)}.Suggest(t.Context(),
		paymentsviews.Reference{OrgID: other, BillRef: "OLD-0001", Currency: money.KES})
	if err != nil || len(lists[0]) != 1 || lists[0][0].SubscriberID != chege {
		t.Errorf("suggestions %v, %v", lists, err)
	}
	story.Add("account-amina", issued("new", amina, acme, "OLD-0001"))
	checkMatches(t, paymentsviews.MatchingQuery{Views: told(t, story)}, map[string]match{
		"the next owner's customer": {id.Organization{}, "OLD-0001", "", amina, "invoice_number", false},
		"more than the phone says":  {id.Organization{}, "OLD-0001", brians, amina, "invoice_number", false},
	})
}

// A number of a prefix that an organization has left, and still holds or has released, is not the phone owner's.
func TestMatching_APrefixOfAnyTimeSaysMoreThanThePhone(t *testing.T) {
	t.Parallel()
	adopted := func(prefix string) events.BillingSettingsAdopted {
		return events.BillingSettingsAdopted{OrgID: other, Billing: events.BillingSettings{InvoicePrefix: prefix}}
	}
	const aminas = "254712345678"
	used := func(number string) []events.Event {
		issued := id.Derive[id.Invoice]("test", number)
		return []events.Event{
			events.InvoiceIssued{SubscriberID: chege, OrgID: other, InvoiceID: issued, Number: number, Total: kes(10)},
			events.InvoiceVoided{SubscriberID: chege, InvoiceID: issued, Number: number},
		}
	}
	story := payersStory().Add("organization-other", adopted("OLD")).Add("account-chege", used("OLD-0001")...).
		Add("organization-other", adopted("NEW")).Add("account-chege", used("NEW-0001")...)
	cases := map[string]match{
		"a prefix that was left":         {id.Organization{}, "OLD-0002", aminas, id.Subscriber{}, "", false},
		"its organization's own paybill": {other, "OLD-0002", "254733333333", id.Subscriber{}, "", false},
		"another's own paybill":          {acme, "OLD-0002", aminas, amina, "payer_phone", false},
		"one that was never used":        {id.Organization{}, "AC-0002", aminas, amina, "payer_phone", false},
		"with an account number":         {id.Organization{}, "OLD 10000024", aminas, chege, "account_number", false},
		"the present prefix":             {id.Organization{}, "NEW 10000024", aminas, chege, "prefixed_account", false},
	}
	checkMatches(t, paymentsviews.MatchingQuery{Views: told(t, story)}, cases)
	story.Add("organization-other", events.InvoicePrefixReleased{OrgID: other, Prefix: "OLD"})
	checkMatches(t, paymentsviews.MatchingQuery{Views: told(t, story)}, cases)

	story.Add("organization-other", adopted("OLD"))
	q := paymentsviews.MatchingQuery{Views: told(t, story)}
	checkMatches(t, q, map[string]match{
		"taken again": {id.Organization{}, "OLD 10000024", aminas, chege, "prefixed_account", false},
		"left again":  {id.Organization{}, "NEW 10000024", aminas, chege, "account_number", false},
	})
	found, err := q.Find(t.Context(), paymentsviews.Reference{
		BillRef: "rent", InvoiceNumber: "NEW-0002", Phone: aminas, Currency: money.KES,
	})
	if err != nil || found.Payer != nil {
		t.Errorf("an invoice number in the callback that nobody has: %v, %v", found.Payer, err)
	}
}

func TestMatching_TheCallbacksInvoiceNumberComesFirst(t *testing.T) {
	t.Parallel()
	q := paymentsviews.MatchingQuery{Views: told(t, numbered())}
	for given, want := range map[string]id.Subscriber{"ACME1-0007": chege, "": brian, "none": brian} {
		found, err := q.Find(t.Context(), paymentsviews.Reference{
			BillRef: "10000016", InvoiceNumber: given, Currency: money.KES,
		})
		if err != nil || found.Payer == nil || found.Payer.SubscriberID != want {
			t.Errorf("%q: %v, %v", given, found, err)
		}
	}
}

func TestSuggestions_OfAWrongCheckDigit(t *testing.T) {
	t.Parallel()
	q := paymentsviews.MatchingQuery{Views: told(t, payersStory())}
	for _, typed := range []string{"10000018", "10000061", "1000016", "100000166"} {
		list, err := q.Suggest(t.Context(), paymentsviews.Reference{OrgID: acme, BillRef: typed, Currency: money.KES})
		if err != nil || len(list[0]) == 0 || list[0][0].SubscriberID != brian || list[0][0].By != "account_number" {
			t.Errorf("%s: %v, %v", typed, list, err)
		}
	}
}

func TestSuggestions_OfOldAccountNumbersAndOfAllOrganizations(t *testing.T) {
	t.Parallel()
	q := paymentsviews.MatchingQuery{Views: told(t, payersStory())}
	for typed, by := range map[string]string{"7001": "account_alias", "7010": "near_alias", "7301": "near_alias"} {
		list, err := q.Suggest(t.Context(), paymentsviews.Reference{OrgID: acme, BillRef: typed, Currency: money.KES})
		if err != nil || len(list[0]) != 1 || list[0][0].SubscriberID != esther || list[0][0].By != by {
			t.Errorf("%s: %v, %v", typed, list, err)
		}
	}
	list, err := q.Suggest(t.Context(), paymentsviews.Reference{BillRef: "20011", Currency: money.KES})
	if err != nil || len(list[0]) != 2 || list[0][0].OrgID == list[0][1].OrgID {
		t.Errorf("at the platform: %v, %v", list, err)
	}
}

func TestSuggestions_StayWithinTheOrganization(t *testing.T) {
	t.Parallel()
	q := paymentsviews.MatchingQuery{Views: told(t, payersStory())}
	list, err := q.Suggest(t.Context(), paymentsviews.Reference{
		OrgID: acme, BillRef: "1000001", Phone: "254712345678", Currency: money.KES,
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []id.Subscriber
	for _, p := range list[0] {
		got = append(got, p.SubscriberID)
	}
	if len(got) == 0 || got[0] != amina || slices.Contains(got, chege) {
		t.Errorf("suggestions %v", list)
	}
}

func TestMatching_ReadsWhatPeopleReallyType(t *testing.T) {
	t.Parallel()
	q, shared := paymentsviews.MatchingQuery{Views: told(t, payersStory())}, id.Organization{}
	checkMatches(t, q, map[string]match{
		"account number with its suffix":     {shared, "10000008-QX", "", amina, "account_number", false},
		"suffix without its dash":            {shared, "acme0007 qxz", "", amina, "invoice_number", false},
		"invoice number with another dash":   {shared, "Acme \u2013 0007", "", amina, "invoice_number", false},
		"invoice number with a slash":        {shared, "ACME/7", "", amina, "invoice_number", false},
		"a dash elsewhere is another number": {shared, "ACM-E0007", "", id.Subscriber{}, "", false},
		"wrong check digit, own phone":       {acme, "10000007", "254712345678", id.Subscriber{}, "", false},
		"a digit too few, own phone":         {acme, "1000000", "254712345678", id.Subscriber{}, "", false},
		"prefix, wrong digit, own phone":     {shared, "ACME-10000007", "254712345678", id.Subscriber{}, "", false},
		"invoice that nobody has, own phone": {shared, "ACME-0099", "254712345678", id.Subscriber{}, "", false},
		"a house number is free text":        {shared, "ROOM 12", "254712345678", amina, "payer_phone", false},
	})
}

// A number that was ever issued ends the search, also on the own paybill of who gave it up, when its next owner has
// given the same number out.
func TestMatching_AReleasedNumberStaysOneOnTheOwnPaybillOfWhoGaveItUp(t *testing.T) {
	t.Parallel()
	story := payersStory().
		Add("account-chege", events.InvoiceIssued{
			InvoiceID: id.Derive[id.Invoice]("test", "old"), SubscriberID: chege, OrgID: other, Number: "OLD-0001",
		}).
		Add("organization-other",
			events.BillingSettingsAdopted{OrgID: other, Billing: events.BillingSettings{InvoicePrefix: "OLD"}},
			events.BillingSettingsAdopted{OrgID: other, Billing: events.BillingSettings{InvoicePrefix: "NEW"}},
			events.InvoicePrefixReleased{OrgID: other, Prefix: "OLD"}).
		Add("subscription-x", events.SubscriptionCreated{
			SubscriptionID: id.Derive[id.Subscription]("test", "x"), OrgID: other, SubscriberID: chege,
			Username: personal.Of("old-0001"),
		})
	checkMatches(t, paymentsviews.MatchingQuery{Views: told(t, story)}, map[string]match{
		"before the next owner's": {other, "OLD-0001", "", id.Subscriber{}, "", false},
	})
	story.Add("account-amina", events.InvoiceIssued{
		InvoiceID: id.Derive[id.Invoice]("test", "new"), SubscriberID: amina, OrgID: acme, Number: "OLD-0001",
	})
	checkMatches(t, paymentsviews.MatchingQuery{Views: told(t, story)}, map[string]match{
		"after it": {other, "OLD-0001", "", id.Subscriber{}, "", false},
	})
}
