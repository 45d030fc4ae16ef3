package paymentsviews_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// hostile is payersStory with a customer of Other for each text, who has it as an old account number and as a username.
func hostile(texts ...string) *projectiontest.Story {
	story := payersStory()
	for i, text := range texts {
		s := id.Derive[id.Subscriber]("hostile", fmt.Sprint(i))
		alias := strings.Map(func(r rune) rune {
			if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
				return r
			}
			return -1
		}, strings.ToUpper(text))
		story.Add("subscriber-"+s.String(), withAlias(events.SubscriberRegistered{
			SubscriberID: s, OrgID: other, AccountNumber: fmt.Sprintf("5555%04d", i), Currency: money.KES,
		}, alias))
		story.Add("subscription-"+s.String(), events.SubscriptionCreated{
			SubscriptionID: id.Derive[id.Subscription]("hostile", fmt.Sprint(i)), OrgID: other, SubscriberID: s,
			Username: personal.Of("x-" + text),
		})
	}
	return story
}

// An organization registers every slip of its neighbour's account numbers, and whatever else the neighbour's customers
// type, as old account numbers of its own customers.
func TestMatching_AnAliasTakesNoNeighboursMoney(t *testing.T) {
	t.Parallel()
	texts := append(slips("10000008"), "1000000", "100000088", "ACME-0099", "acme 99", "ACC 10000008", "10000008 rent",
		"1OO00OO8", "0712345679", "712345678", "0007")
	q := paymentsviews.MatchingQuery{Views: told(t, hostile(texts...))}
	for _, text := range texts {
		for _, phone := range []string{"", "2547*****678", strangePhone} {
			found, err := q.Find(t.Context(), paymentsviews.Reference{
				BillRef: text, Phone: phone, Currency: money.KES,
			})
			if err != nil || found.Sole == other || found.Payer != nil && found.Payer.OrgID == other {
				t.Errorf("%q from %q: %+v, %v", text, phone, found, err)
			}
		}
		found, err := q.Find(t.Context(), paymentsviews.Reference{OrgID: other, BillRef: text, Currency: money.KES})
		if err != nil || found.Payer == nil || found.Payer.By != "account_alias" {
			t.Errorf("%q on the own paybill: %+v, %v", text, found, err)
		}
	}
}

// An organization's old account number equals what a neighbour's customer types: a phone, a username, a word.
func TestMatching_AnAliasHoldsNoNeighboursMoneyUp(t *testing.T) {
	t.Parallel()
	story := hostile("0712345678", "254712345678", "amina.home", "rent", "10000008", "acme-0007", "acme0007", "40404")
	q := paymentsviews.MatchingQuery{Views: told(t, story)}
	shared := id.Organization{}
	checkMatches(t, q, map[string]match{
		"a phone":                         {shared, "0712345678", "", amina, "phone", false},
		"a phone with its country":        {shared, "254712345678", aminasPhone, amina, "phone", false},
		"a username":                      {shared, "amina.home", "", amina, "username", false},
		"a username, its customer pays":   {shared, "Amina.Home", aminasPhone, amina, "username", false},
		"a word":                          {shared, "rent", aminasPhone, amina, "payer_phone", false},
		"an account number":               {shared, "10000008", "", amina, "account_number", false},
		"an invoice number":               {shared, "ACME-0007", "", amina, "invoice_number", false},
		"an invoice number, its customer": {shared, "acme-0007", aminasPhone, amina, "invoice_number", false},
		"an invoice without its dash":     {shared, "acme0007", "", amina, "invoice_number", false},
		"digits, which are a number":      {shared, "40404", aminasPhone, id.Subscriber{}, "", true},
	})
}

// A username that is younger than a neighbour's old account number does not take its money; who has both, pays.
func TestMatching_AUsernameTakesNoOlderAliasesMoney(t *testing.T) {
	t.Parallel()
	story := payersStory().
		Add("subscription-young", events.SubscriptionCreated{
			SubscriptionID: id.Derive[id.Subscription]("test", "young"), OrgID: other, SubscriberID: chege,
			Username: personal.Of("abc77"),
		}).
		Add("subscriber-esther", events.SubscriberDetailsCorrected{SubscriberID: esther,
			Details: events.SubscriberDetails{
				AccountAliases: personal.OfAll([]string{"7001", "20011"}), Phone: personal.Of("+" + strangePhone),
			}})
	checkMatches(t, paymentsviews.MatchingQuery{Views: told(t, story)}, map[string]match{
		"a masked payer":      {id.Organization{}, "abc77", "", id.Subscriber{}, "", true},
		"the own phone":       {id.Organization{}, "20011", strangePhone, esther, "payer_phone", false},
		"on the own paybill":  {acme, "ABC 77", "", dora, "account_alias", false},
		"at the other's till": {other, "abc77", "", chege, "username", false},
	})
}

// Nine digits are a phone without its zero, or an account number with a digit too many.
func TestMatching_APhoneThatIsASlipOfANeighboursAccountNumberIsForAPerson(t *testing.T) {
	t.Parallel()
	story := payersStory().
		Add("subscriber-victim", events.SubscriberRegistered{
			SubscriberID: id.Derive[id.Subscriber]("test", "victim"), OrgID: acme, AccountNumber: "71000003",
			Currency: money.KES,
		}).
		Add("subscriber-chege", events.SubscriberDetailsCorrected{SubscriberID: chege,
			Details: events.SubscriberDetails{Phone: personal.Of("+254710000033")}})
	checkMatches(t, paymentsviews.MatchingQuery{Views: told(t, story)}, map[string]match{
		"nine digits":  {id.Organization{}, "710000033", "", id.Subscriber{}, "", true},
		"a whole one":  {id.Organization{}, "0710000033", "", chege, "phone", false},
		"own paybill":  {other, "710000033", "", chege, "phone", false},
		"other digits": {id.Organization{}, "712345678", "", amina, "phone", false},
	})
}

// A prefix that an organization took and never used says nothing about what the neighbours' customers type.
func TestMatching_APrefixCountsOnceAnInvoiceHasIt(t *testing.T) {
	t.Parallel()
	story := payersStory()
	for _, prefix := range []string{"JOHN", "MARY", "OTH"} {
		story.Add("organization-other",
			events.BillingSettingsAdopted{OrgID: other, Billing: events.BillingSettings{InvoicePrefix: prefix}})
	}
	checkMatches(t, paymentsviews.MatchingQuery{Views: told(t, story)}, map[string]match{
		"held for a second":    {id.Organization{}, "JOHN 3", aminasPhone, amina, "payer_phone", false},
		"and given up":         {id.Organization{}, "mary-12", aminasPhone, amina, "payer_phone", false},
		"before an account":    {id.Organization{}, "john 10000008", "", amina, "account_number", false},
		"among other words":    {id.Organization{}, "for oth 3 rent", aminasPhone, amina, "payer_phone", false},
		"printed among words":  {id.Organization{}, "inv OTH-0003 rent", aminasPhone, id.Subscriber{}, "", false},
		"one with an invoice":  {id.Organization{}, "OTH 3", aminasPhone, id.Subscriber{}, "", false},
		"another organization": {acme, "OTH 3", aminasPhone, amina, "payer_phone", false},
	})
	story.Add("organization-other",
		events.BillingSettingsAdopted{OrgID: other, Billing: events.BillingSettings{InvoicePrefix: "JOHN"}}).
		Add("account-chege", events.InvoiceIssued{
			InvoiceID: id.Derive[id.Invoice]("test", "john"), SubscriberID: chege, OrgID: other, Number: "JOHN-0001",
		})
	checkMatches(t, paymentsviews.MatchingQuery{Views: told(t, story)}, map[string]match{
		"from its first invoice on": {id.Organization{}, "JOHN 3", aminasPhone, id.Subscriber{}, "", false},
	})
}

func TestMatching_ANumberAmongWordsMatchesWhenItIsTheOnlyOne(t *testing.T) {
	t.Parallel()
	q, shared, nobody := paymentsviews.MatchingQuery{Views: told(t, payersStory())}, id.Organization{}, id.Subscriber{}
	cases := map[string]match{
		"two account numbers":            {shared, "10000008 10000016", "", nobody, "", false},
		"two, one is nobody's":           {shared, "10000008 or 10000073", "", nobody, "", false},
		"two, the payer is known":        {shared, "10000008 10000016", aminasPhone, nobody, "", false},
		"an account number and a phone":  {shared, "10000008 0733333333", "", nobody, "", false},
		"an invoice and an account":      {shared, "ACME-0007 10000016", "", nobody, "", false},
		"a slip among words":             {shared, "acc 10000009", "", nobody, "", false},
		"a slip, the payer is known":     {shared, "acc 10000009", aminasPhone, nobody, "", false},
		"nobody's, the payer is known":   {shared, "rent 10000073", aminasPhone, nobody, "", false},
		"a phone of two tenants":         {shared, "0733333333 rent", "", nobody, "", true},
		"a phone of two, on its paybill": {other, "0733333333 rent", "", chege, "phone", false},
		"another's account, own paybill": {other, "acc 10000008", "", nobody, "", false},
		"a foreign phone is not ours":    {shared, "+1 712345678 jane", "", nobody, "", false},
		"behind a neighbour's prefix":    {shared, "oth 10000008 rent", "", nobody, "", false},
		"a house and a street":           {shared, "room 12 block 4", aminasPhone, amina, "payer_phone", false},
		"an invoice among words":         {shared, "inv ACME-0007 jan", "", amina, "invoice_number", false},
		"digits that are too many":       {shared, "110000008 rent", "", nobody, "", false},
	}
	for _, typed := range []string{
		"acc 10000008", "A/C 10000008", "A/C: 1000 0008", "10000008 rent", "rent10000008", "ACC10000008", "1OO00OO8",
		"10000008 for 3 months", "1000-0008 wifi", "acct no. 10000008", "I0000OO8", "10000008, 10000008",
	} {
		cases[typed] = match{shared, typed, "", amina, "account_number", false}
		cases[typed+", own paybill"] = match{acme, typed, "", amina, "account_number", false}
	}
	for _, typed := range []string{"0712345678 jane", "jane +254 712 345678", "tel 0712-345-678", "O712345678"} {
		cases[typed] = match{shared, typed, "", amina, "phone", false}
	}
	checkMatches(t, q, cases)
}

func TestSuggestions_OfNumbersAmongWords(t *testing.T) {
	t.Parallel()
	q := paymentsviews.MatchingQuery{Views: told(t, payersStory())}
	for typed, want := range map[string][]id.Subscriber{
		"10000008 10000016": {amina, brian}, "acc 10000009": {amina}, "1OO00O16 rent": {brian},
		"rent 10000016 0712345678": {amina, brian}, "pay ACME-0007 or 10000016": {amina, brian},
	} {
		lists, err := q.Suggest(t.Context(), paymentsviews.Reference{OrgID: acme, BillRef: typed, Currency: money.KES})
		if err != nil {
			t.Fatal(err)
		}
		var got []id.Subscriber
		for _, s := range lists[0] {
			got = append(got, s.SubscriberID)
		}
		for _, s := range want {
			if !slices.Contains(got, s) {
				t.Errorf("%q: %v does not have %v", typed, got, s)
			}
		}
	}
}

func TestAccountsOf_FindsANumberAmongWordsWhenItIsTheOnlyOne(t *testing.T) {
	t.Parallel()
	q := paymentsviews.MatchingQuery{Views: told(t, payersStory())}
	for typed, want := range map[string][]id.Subscriber{
		"10000008": {amina}, "acc 10000008": {amina}, "A/C 1OO00OO8": {amina}, "0712345678 jane": {amina},
		"10000008 10000016": nil, "10000008 0733333333": nil, "acc 10000024": nil, "": nil,
	} {
		got, err := q.AccountsOf(t.Context(), acme, typed)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v, want %v", typed, got, err, want)
		}
	}
}

// Two customers of one organization fit: its staff finds out which. Where two organizations may be meant, neither has
// it.
func TestFound_TheOnlyOrganizationThatMayBeMeant(t *testing.T) {
	t.Parallel()
	story := hostile("40404", "acme-0099").
		Add("subscriber-twin", events.SubscriberRegistered{
			SubscriberID: id.Derive[id.Subscriber]("test", "twin"), OrgID: acme, AccountNumber: "10000073",
			Currency: money.KES, Details: events.SubscriberDetails{Phone: personal.Of("+" + aminasPhone)},
		})
	q := paymentsviews.MatchingQuery{Views: told(t, story)}
	for name, c := range map[string]struct {
		typed, phone string
		want         id.Organization
	}{
		"a phone of two customers":             {"0712345678", "", acme},
		"the payer's phone is of two":          {"rent", aminasPhone, acme},
		"a slip, from the customer's phone":    {"10000009", aminasPhone, acme},
		"a slip alone":                         {"10000009", "", id.Organization{}},
		"a phone of two organizations":         {"0733333333", "", id.Organization{}},
		"a slip, from a neighbour's customer":  {"10000025", aminasPhone, id.Organization{}},
		"a name that was chosen, and no more":  {"40404", "", id.Organization{}},
		"a name, from a neighbour's phone":     {"40404", aminasPhone, id.Organization{}},
		"a number that comes later":            {"acme-0099", "", id.Organization{}},
		"two numbers of one, and its own name": {"10000008 10000016", "", acme},
		"two numbers of two":                   {"10000008 10000024", "", id.Organization{}},
		"nobody":                               {"something", strangePhone, id.Organization{}},
	} {
		found, err := q.Find(t.Context(), paymentsviews.Reference{
			BillRef: c.typed, Phone: c.phone, Currency: money.KES,
		})
		if err != nil || found.Payer != nil || found.Sole != c.want {
			t.Errorf("%s: %+v, %v, want %v", name, found, err, c.want)
		}
	}
}

// TestReferences_WhatMoneyIsMatchedByIsGuarded: a column of matching.sql that holds a text is a reference, unless it is
// listed here; each is that of a rule, and each rule of matching_find.sql has its place.
func TestReferences_WhatMoneyIsMatchedByIsGuarded(t *testing.T) {
	t.Parallel()
	none := []string{
		"payers.currency", "invoices.number", // compared as number_key
	}
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var columns []string
	table := ""
	for line := range strings.Lines(read("matching.sql")) {
		if m := regexp.MustCompile(`^create table \{schema\}\.([a-z_]+)`).FindStringSubmatch(line); m != nil {
			table = m[1]
		}
		m := regexp.MustCompile(`^  ([a-z_]+) (text|jsonb|citext|varchar|bytea|text\[\])`).FindStringSubmatch(line)
		if m != nil && !slices.Contains(none, table+"."+m[1]) {
			columns = append(columns, table+"."+m[1])
		}
	}
	guarded := paymentsviews.ReferenceColumns()
	for _, c := range columns {
		if !slices.Contains(guarded, c) {
			t.Errorf("%s holds a text by which money may be matched, and is that of no rule", c)
		}
	}
	for _, c := range guarded {
		if !slices.Contains(columns, c) {
			t.Errorf("%s is guarded and does not exist", c)
		}
	}
	var rules []string
	for _, m := range regexp.MustCompile(`select '([a-z_]+)'`).FindAllStringSubmatch(read("matching_find.sql"), -1) {
		rules = append(rules, m[1])
	}
	slices.Sort(rules)
	if known := paymentsviews.ReferenceRules(); len(rules) == 0 || !slices.Equal(rules, known) {
		t.Errorf("matching_find.sql has the rules %v, and %v are guarded", rules, known)
	}
}
