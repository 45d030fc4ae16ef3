package subscribersviews_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// TestPhones_AreFoundHoweverTheyAreWrittenAndNothingElseIsTakenForOne: the list and the search find the same customers
// by the first digits of a phone. An account number, or one of before, that has the digits of a phone with its country
// code is found by these digits alone.
func TestPhones_AreFoundHoweverTheyAreWrittenAndNothingElseIsTakenForOne(t *testing.T) {
	t.Parallel()
	old := details("Alias", "Ali", "+254733000222")
	old.AccountAliases = personal.OfAll([]string{"254712345678"})
	log := feedtest.New()
	for number, d := range map[string]events.SubscriberDetails{
		"10000016": details("Amina", "Ali", "+254712345678"), "25471236": details("Account", "Ali", "+254733000111"),
		"10000024": old, "10000032": details("Zero", "Ali", "+2540712345679"),
		"10000040": details("Abroad", "Ali", "+447123456780"), "10000057": details("Teresa", "Ali", "+254733000333"),
	} {
		log.Append(events.Metadata{OrgID: acme}, registered(id.New[id.Subscriber](), acme, number, d))
	}
	v, db := views(t, log)
	people := subscribersviews.SubscribersQuery{Views: v}
	for search, want := range map[string][]string{
		"0712": {"phone Amina", "phone Zero"}, "712": {"phone Amina", "phone Zero"},
		"0712345678": {"phone Amina"}, "712345678": {"phone Amina"},
		"00254712345678": {"name Alias", "phone Amina"}, "000": {},
		"+254 0712 345 678": {"phone Amina"}, "+254 0712": {"phone Amina", "phone Zero"},
		"0712345679": {"phone Zero"}, "+2540712345679": {"phone Zero"}, "ali 0712": {"name Amina", "name Zero"},
		"254712": {"account Account", "name Alias", "phone Amina", "phone Zero"}, "25471236": {"account Account"},
		"254712345678": {"name Alias", "phone Amina"}, "07123456": {"phone Amina", "phone Zero"},
		"+44 712": {"phone Abroad"}, "00447123456780": {"phone Abroad"}, "0447": {}, "ali 447 abroad": {"name Abroad"},
		"2540733": {"phone Account", "phone Alias", "phone Teresa"}, "254": {
			"account Account", "phone Alias", "phone Amina", "phone Teresa", "phone Zero",
		},
		"t": {"name Teresa"}, "te": {"name Teresa"}, "tel": {}, "te ali": {"name Teresa"}, "tel ali": {}, ":": {},
	} {
		var rows []subscribersviews.SubscriberRow
		err := db.TenantRead(t.Context(), acme.UUID(), func(r *postgres.Reads) {
			people.Find(r, &rows, acme, search, 20)
		})
		found, who := []string{}, []string{}
		for _, r := range rows {
			found, who = append(found, r.Found(search).By+" "+*r.FirstName), append(who, *r.FirstName)
		}
		slices.Sort(found)
		if diff := cmp.Diff(want, found); diff != "" || err != nil {
			t.Errorf("search for %q: %v (-want +got)\n%s", search, err, diff)
		}
		slices.Sort(who)
		listed := names(t, people, acme, subscribersviews.SubscriberFilter{Search: search})
		slices.Sort(listed)
		if diff := cmp.Diff(who, listed, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q lists others than a search finds (-search +list)\n%s", search, diff)
		}
	}
}

// TestSecondPhone_FindsTheCustomer by its beginning and its end, until the person is forgotten.
func TestSecondPhone_FindsTheCustomer(t *testing.T) {
	t.Parallel()
	log := feedtest.New()
	both := details("Amina", "Ali", "+254712345678")
	both.SecondPhone, both.MessageSecond = personal.Of("+254733000111"), true
	log.Append(events.Metadata{OrgID: acme}, registered(id.New[id.Subscriber](), acme, "10000016", both))
	gone := id.New[id.Subscriber]()
	log.Append(events.Metadata{OrgID: acme}, registered(gone, acme, "10000032", both))
	log.Append(events.Metadata{OrgID: acme}, events.SubscriberForgotten{SubscriberID: gone, Reason: "asked"})
	log.Append(events.Metadata{OrgID: acme},
		registered(id.New[id.Subscriber](), acme, "10000024", details("Brian", "Ali", "+254712345679")))
	v, db := views(t, log)
	people := subscribersviews.SubscribersQuery{Views: v}
	for _, search := range []string{"0733000111", "0733", "+254733000111", "000111", "0712345678"} {
		var rows []subscribersviews.SubscriberRow
		if err := db.TenantRead(t.Context(), acme.UUID(), func(r *postgres.Reads) {
			people.Find(r, &rows, acme, search, 20)
		}); err != nil {
			t.Fatal(err)
		}
		if len(rows) != 1 || rows[0].Found(search).By != "phone" || rows[0].SecondPhone != "+254733000111" ||
			!rows[0].MessageSecond {
			t.Errorf("%q finds %+v", search, rows)
		}
	}
}
