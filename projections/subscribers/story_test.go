package subscribersviews_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// The ids of these tests. Amina and Omar are customers of Acme, Brian of Other.
var (
	began = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	acme  = id.Derive[id.Organization]("test", "acme")
	other = id.Derive[id.Organization]("test", "other")
	amina = id.Derive[id.Subscriber]("test", "amina")
	omar  = id.Derive[id.Subscriber]("test", "omar")
	brian = id.Derive[id.Subscriber]("test", "brian")
	home  = id.Derive[id.Plan]("test", "home")
	line  = id.Derive[id.Subscription]("test", "line")
	line2 = id.Derive[id.Subscription]("test", "line2")
	inv1  = id.Derive[id.Invoice]("test", "1")
	inv2  = id.Derive[id.Invoice]("test", "2")
	inv3  = id.Derive[id.Invoice]("test", "3")
	key1  = id.Derive[id.Secret]("test", "1")
	key2  = id.Derive[id.Secret]("test", "2")
	text  = personal.Of
	kes   = func(major int64) money.Amount { return money.Major(major, money.KES) }
)

// terms are those of the plan Home 10: 1,500 shillings a month.
func terms(mode events.BillingMode) events.PlanTerms {
	return events.PlanTerms{
		Name: "Home 10", Kind: "pppoe", Price: kes(1500), Mode: mode, Period: calendar.Month,
		Rates: events.Rates{Down: 10_000, Up: 5_000},
	}
}

// details has the fields that search uses, and tags.
func details(first, last, phone string, tags ...string) events.SubscriberDetails {
	return events.SubscriberDetails{
		FirstName: text(first), LastName: text(last), Phone: text(phone), Tags: personal.OfAll(tags),
	}
}

// registered makes a person a customer of an organization.
func registered(who id.Subscriber, org id.Organization, number string, d events.SubscriberDetails) events.Event {
	return events.SubscriberRegistered{
		SubscriberID: who, OrgID: org, AccountNumber: number, Currency: money.KES, Details: d, RegisteredAt: began,
		ImportRow: text("row of " + d.FirstName.Reveal()),
	}
}

// plans creates, revises and archives the plan Home 10.
func plans() []events.Event {
	second := terms(events.Prepaid)
	second.Price = kes(1800)
	return []events.Event{
		events.PlanCreated{PlanID: home, OrgID: acme, Code: "home-10", Terms: terms(events.Prepaid)},
		events.PlanRevised{PlanID: home, Version: 2, Terms: second},
		events.PlanArchived{PlanID: home, Reason: "old"},
	}
}

// aminas is the history of Amina as a customer: blocked, unblocked and corrected.
func aminas() []events.Event {
	return []events.Event{
		registered(amina, acme, "10000016", details("Amina", "Wanjiru", "+254712345678", "vip", "north")),
		events.SubscriberBlocked{SubscriberID: amina, Reason: personal.Of("fraud")},
		events.SubscriberUnblocked{SubscriberID: amina, Reason: personal.Of("cleared")},
		events.SubscriberDetailsCorrected{
			SubscriberID: amina, Details: events.SubscriberDetails{FirstName: text("Amina"), LastName: text("O'Tieno"),
				Phone: text("+254733000111"), Email: text("Amina@Mail.test"), Tags: personal.OfAll([]string{"north"}),
				Location: (&events.Location{Latitude: -1, Longitude: 36}).Text()},
		},
	}
}

// omars is the history of Omar, who is forgotten at the end.
func omars() []events.Event {
	return []events.Event{
		registered(omar, acme, "10000024", details("Omar", "Ali", "+254700000001", "vip")),
		events.SubscriberBlocked{SubscriberID: omar, Reason: personal.Of("asked for it")},
		events.SubscriptionCreated{
			SubscriptionID: line2, OrgID: acme, SubscriberID: omar, PlanID: home, PlanVersion: 2,
			Terms: terms(events.Postpaid), StartsAt: began, Username: text("omar"), PasswordRef: key1, CreatedAt: began,
		},
		events.SubscriptionAddressesAssigned{
			SubscriptionID: line2, SubscriberID: omar, StaticIP: text("203.0.113.9"),
			StaticIPv6Prefix: text("2001:db8:9::/56"), MACAddresses: personal.OfAll([]string{"AA:BB:CC:00:00:09"}),
			At: began,
		},
		events.SubscriptionCredentialsSet{
			SubscriptionID: line2, SubscriberID: omar, Username: text("omar-ali"), PasswordRef: key2, At: began,
		},
		events.ExtraAdded{
			SubscriptionID: line2, OrgID: acme, SubscriberID: omar, Extra: address,
			Description: personal.Of("for Omar"), At: began,
		},
		events.ChargesDue{
			SubscriptionID: line2, OrgID: acme, SubscriberID: omar, InvoiceID: inv2, At: began,
			Charges: []events.PeriodExtra{{ID: address.ID, Kind: events.ChargeExtra, Amount: kes(300)}},
		},
		events.SubscriberForgotten{SubscriberID: omar},
	}
}

// account has an event of each kind that changes Amina's balance.
func account() []events.Event {
	return []events.Event{
		events.InvoiceIssued{SubscriberID: amina, OrgID: acme, InvoiceID: inv1, Total: kes(1500)},
		events.ReceiptCredited{SubscriberID: amina, OrgID: acme, Amount: kes(2000)},
		events.ReceiptWithdrawn{SubscriberID: amina, OrgID: acme, Amount: kes(2000)},
		events.InvoiceVoided{SubscriberID: amina, InvoiceID: inv2, Total: kes(100)}, // a draft: never owed
		events.CreditNoteIssued{SubscriberID: amina, OrgID: acme, InvoiceID: inv1, Amount: kes(400)},
		events.CreditSetAside{SubscriberID: amina, OrgID: acme, Amount: kes(70)},
		events.SetAsideReturned{SubscriberID: amina, OrgID: acme, Amount: kes(20)},
		events.DebtWrittenOff{SubscriberID: amina, OrgID: acme, Amount: kes(600)},
		events.WriteOffRecovered{SubscriberID: amina, OrgID: acme, Amount: kes(9)},
		events.RecoveryWithdrawn{SubscriberID: amina, OrgID: acme, Amount: kes(4)},
	}
}

// lines is Amina's subscription. The payment of its first period is taken back while the second period is unpaid.
func lines() []events.Event {
	return []events.Event{
		events.SubscriptionCreated{
			SubscriptionID: line, OrgID: acme, SubscriberID: amina, PlanID: home, PlanVersion: 1,
			Terms: terms(events.Prepaid), StartsAt: began, Username: text("amina"), CreatedAt: began,
		},
		events.SubscriptionAddressesAssigned{
			SubscriptionID: line, SubscriberID: amina, StaticIP: text("203.0.113.1"),
			StaticIPv6Prefix: text("2001:db8:1::/56"), At: began,
		},
		dueAgain(1, inv1),
		events.SubscriptionActivated{SubscriptionID: line, SubscriberID: amina, At: began},
		events.SubscriptionExtended{
			SubscriptionID: line, SubscriberID: amina, InvoiceID: inv1, Ordinal: 1, From: began,
			To: began.AddDate(0, 1, 0), PaidUntil: began.AddDate(0, 1, 0), PaidAt: began, Begins: began,
		},
		events.SubscriptionPaused{
			SubscriptionID: line, SubscriberID: amina, Reason: personal.Of("travels"), At: began.Add(time.Hour),
		},
		events.SubscriptionResumed{
			SubscriptionID: line, SubscriberID: amina, Reason: personal.Of("is back"),
			PaidUntil: began.AddDate(0, 1, 1), At: began.Add(25 * time.Hour),
			Moved: moved(1, inv1, began, began.AddDate(0, 1, 1)),
		},
		events.BillingSuspended{SubscriptionID: line, SubscriberID: amina, At: began.Add(26 * time.Hour)},
		events.BillingResumed{
			SubscriptionID: line, SubscriberID: amina, From: began.Add(26 * time.Hour), At: began.Add(50 * time.Hour),
			PaidUntil: began.AddDate(0, 1, 2), Moved: moved(1, inv1, began, began.AddDate(0, 1, 2)),
		},
		beside(address), beside(cable), beside(welcome),
		dueAgain(2, inv2, address, cable, welcome),
		events.PeriodCancelled{
			SubscriptionID: line, SubscriberID: amina, InvoiceID: inv2, Ordinal: 2, NeverBegan: true,
			DropsCharges: true, PaidUntil: began.AddDate(0, 1, 1), At: began,
		},
		events.ExtraRemoved{SubscriptionID: line, SubscriberID: amina, Extra: address, At: began.Add(time.Hour)},
		dueAgain(3, inv2),
		events.PeriodWithdrawn{
			SubscriptionID: line, SubscriberID: amina, InvoiceID: inv1, Ordinal: 1, PaidUntil: began,
			Reason: personal.Of("reversed"), Moved: moved(1, inv1, time.Time{}, time.Time{}),
		},
		events.SubscriptionAddressesAssigned{
			SubscriptionID: line, SubscriberID: amina, StaticIPv6Prefix: text("2001:db8:1::/56"),
			MACAddresses: personal.OfAll([]string{"AA:BB:CC:00:00:01", "AA:BB:CC:00:00:02"}), At: began,
		},
		events.SubscriptionCredentialsSet{
			SubscriptionID: line, SubscriberID: amina, Username: text("amina.o"), PasswordRef: key1, At: began,
		},
		events.SubscriptionCredentialsShown{SubscriptionID: line, SubscriberID: amina, PasswordRef: key1, At: began},
	}
}

// dueAgain is a period of Amina's subscription.
func dueAgain(ordinal int, invoice id.Invoice, extras ...events.Extra) events.Event {
	due := events.PeriodDue{
		SubscriptionID: line, OrgID: acme, SubscriberID: amina, InvoiceID: invoice, Ordinal: ordinal,
		DueAt: began.AddDate(0, 1, 1), At: began.AddDate(0, 1, 0),
	}
	for _, x := range extras {
		due.Extras = append(due.Extras, events.PeriodExtra{ID: x.ID, Kind: x.Kind, Amount: x.Amount})
	}
	return due
}

// moved tells that a period lies elsewhere now; zero instants mean nowhere.
func moved(ordinal int, invoice id.Invoice, from, to time.Time) []events.PeriodPlace {
	return []events.PeriodPlace{{Ordinal: ordinal, InvoiceID: invoice, From: from, To: to}}
}

// story appends all histories, each to its stream; Brian's events belong to Other.
func story() *projectiontest.Story {
	return projectiontest.NewStory(acme, began).Add("plan-1", plans()...).Add("subscriber-1",
		aminas()...).Add("subscription-1", lines()...).
		Add("account-1", account()...).Add("subscriber-2", omars()...).
		With(func(m *events.Metadata) { m.OrgID = other }).
		Add("subscriber-3", registered(brian, other, "10000032", details("Brian", "Amin", "+254712345678", "vip")),
			events.SubscriberBlocked{SubscriberID: brian, Reason: personal.Of("x")})
}

func TestReadModels_StoryEndsInTheseRows(t *testing.T) {
	t.Parallel()
	for _, p := range []runner.Projection{
		subscribersviews.Plans{}, subscribersviews.Subscribers{}, subscribersviews.Subscriptions{},
	} {
		t.Run(p.Name(), func(t *testing.T) {
			t.Parallel()
			db, tables := projectiontest.Check(t, p, story())
			forgets(t, projectiontest.Dump(t, db, tables.Schema()))
		})
	}
}

// forgets fails when a dump of tables still has personal data of Omar (docs/rules/engine.md#personal-fields).
func forgets(t *testing.T, dump string) {
	t.Helper()
	for _, word := range []string{"Omar", "omar", "Ali\"", "254700000001", "203.0.113.9", "db8:9", "00:09"} {
		if strings.Contains(dump, word) {
			t.Errorf("%q is still there", word)
		}
	}
}

// views returns the read models with all events of a log shown.
func views(t *testing.T, log *feedtest.Log) (*runner.Views, *postgres.DB) {
	t.Helper()
	db := pgtest.New(t)
	return viewsOn(t, db, log), db
}

// viewsOn is views in a database.
func viewsOn(t *testing.T, db *postgres.DB, log *feedtest.Log) *runner.Views {
	t.Helper()
	r, err := show(t.Context(), db, log, feedtest.Start(t, log))
	if err != nil {
		t.Fatalf("start read models: %v", err)
	}
	t.Cleanup(r.Stop)
	return r.Views()
}

// show starts the read models and waits until they show all of a log.
func show(ctx context.Context, db *postgres.DB, log *feedtest.Log, f *feed.Feed) (*runner.Runner, error) {
	r := runner.New(runner.Config{Feed: f, DB: db, Clock: clock.NewManual(began)})
	r.Register(subscribersviews.Plans{}, subscribersviews.Subscribers{}, subscribersviews.Subscriptions{})
	if err := r.Start(ctx); err != nil {
		return nil, err
	}
	head, _ := log.Head(ctx)
	err := coretest.Shows(ctx, r.Views(), head, subscribersviews.PlansName, subscribersviews.SubscribersName,
		subscribersviews.SubscriptionsName)
	if err != nil {
		r.Stop()
		return nil, err
	}
	return r, nil
}

// told returns a log in memory with the events of the story.
func told() *feedtest.Log {
	log := feedtest.New()
	for _, e := range story().Events() {
		log.Append(e.Meta, e.Event)
	}
	return log
}

// toldOnce is the log of the template: its readers know it again by the ids of its events.
var toldOnce = sync.OnceValue(told)

func TestQueries_EachOrganizationSeesItsOwn(t *testing.T) {
	t.Parallel()
	v, _ := views(t, told())
	people, owned, sold := subscribersviews.SubscribersQuery{Views: v}, subscribersviews.SubscriptionsQuery{Views: v},
		subscribersviews.PlansQuery{Views: v}
	ctx := t.Context()
	for org, want := range map[id.Organization]struct{ people, plans, lines int }{acme: {2, 1, 2}, other: {1, 0, 0}} {
		a, err := people.List(ctx, org, subscribersviews.SubscriberFilter{}, subscribersviews.SubscriberKey{}, 100)
		b, err2 := sold.List(ctx, org, nil, subscribersviews.PlanKey{}, 100)
		c, err3 := owned.List(ctx, org, subscribersviews.SubscriptionFilter{}, subscribersviews.SubscriptionKey{}, 100)
		if err != nil || err2 != nil || err3 != nil || len(a) != want.people || len(b) != want.plans ||
			len(c) != want.lines {
			t.Errorf("%d people, %d plans, %d lines, want %+v; %v %v %v", len(a), len(b), len(c), want, err, err2, err3)
		}
	}
	if row, err := people.Get(ctx, other, amina); row != nil || err != nil {
		t.Errorf("subscriber of another: %+v, %v", row, err)
	}
	if row, err := sold.Get(ctx, other, home); row != nil || err != nil {
		t.Errorf("plan of another: %+v, %v", row, err)
	}
	if row, err := owned.Get(ctx, other, line); row != nil || err != nil {
		t.Errorf("subscription of another: %+v, %v", row, err)
	}
	rows, block, err := owned.OfSubscriber(ctx, acme, brian)
	if len(rows) != 0 || block != nil || err != nil {
		t.Errorf("another's block: %+v %+v %v", rows, block, err)
	}
	for _, word := range []string{"amin", "254712", "10000032"} { // words that find Brian
		if found := names(t, people, acme,
			subscribersviews.SubscriberFilter{Search: word}); strings.Contains(strings.Join(found, " "), "Brian") {
			t.Errorf("%s finds %v", word, found)
		}
	}
	// Brian is of another organization, and Omar, who had the tag too, is forgotten.
	if found := names(t, people, acme, subscribersviews.SubscriberFilter{Tag: "vip"}); len(found) != 0 {
		t.Errorf("tag finds %v", found)
	}
}

// names lists the first names of the customers that a filter finds.
func names(
	t *testing.T, q subscribersviews.SubscribersQuery, org id.Organization, f subscribersviews.SubscriberFilter,
) []string {
	t.Helper()
	rows, err := q.List(t.Context(), org, f, subscribersviews.SubscriberKey{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	found := []string{}
	for _, r := range rows {
		name := "?"
		if r.FirstName != nil {
			name = *r.FirstName
		}
		found = append(found, name)
	}
	return found
}

func TestSearch_WordsBeginNamesPhonesAndNumbers(t *testing.T) {
	t.Parallel()
	v, _ := views(t, told())
	q := subscribersviews.SubscribersQuery{Views: v}
	for search, want := range map[string][]string{
		"AMI": {"Amina"}, "tien": {"Amina"}, "o'tieno amina": {"Amina"}, "0733": {"Amina"}, "+254 733-000": {"Amina"},
		"733000111": {"Amina"}, "10000016": {"Amina"}, "amina@mail.TEST": {"Amina"}, "wanjiru": {}, "0712": {},
		"73300": {"Amina"}, "ami 0733": {"Amina"}, "733 tien": {"Amina"}, "ami 0712": {},
		"mina": {}, "%": {}, "a_": {"Amina"}, "10000024": {"?"}, "omar": {}, "' or 1=1 --": {},
		strings.Repeat("x", 300): {}, "ami amin amina o fifth": {"Amina"},
	} {
		if diff := cmp.Diff(want, names(t, q, acme, subscribersviews.SubscriberFilter{Search: search})); diff != "" {
			t.Errorf("%q (-want +got)\n%s", search, diff)
		}
	}
}

func TestSubscriptions_AccessFollowsPaymentPauseAndBlock(t *testing.T) {
	t.Parallel()
	until := began.Add(time.Hour)
	row := func(edit func(*subscribersviews.SubscriptionRow)) subscribersviews.SubscriptionRow {
		r := subscribersviews.SubscriptionRow{
			State: "active", Terms: terms(events.Prepaid), StartsAt: began, PaidUntil: &until,
		}
		edit(&r)
		return r
	}
	for name, c := range map[string]struct {
		row  subscribersviews.SubscriptionRow
		at   time.Time
		want string
	}{
		"paid":           {row(func(*subscribersviews.SubscriptionRow) {}), began, "full"},
		"at its end":     {row(func(*subscribersviews.SubscriptionRow) {}), until, "none"},
		"never paid":     {row(func(r *subscribersviews.SubscriptionRow) { r.PaidUntil = nil }), began, "none"},
		"pending":        {row(func(r *subscribersviews.SubscriptionRow) { r.State = "pending" }), began, "none"},
		"paused":         {row(func(r *subscribersviews.SubscriptionRow) { r.State = "paused" }), began, "none"},
		"blocked":        {row(func(r *subscribersviews.SubscriptionRow) { r.Blocked = true }), began, "none"},
		"before its day": {row(func(*subscribersviews.SubscriptionRow) {}), began.Add(-time.Second), "none"},
		"postpaid": {
			row(func(r *subscribersviews.SubscriptionRow) { r.Terms.Mode, r.PaidUntil = events.Postpaid, nil }),
			until.AddDate(1, 0, 0), "full",
		},
		"postpaid, ended": {
			row(func(r *subscribersviews.SubscriptionRow) { r.Terms.Mode, r.State = events.Postpaid, "ended" }), began,
			"none",
		},
	} {
		if got := c.row.Access(c.at); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// explain returns the plan of a statement as PostgreSQL makes it for one organization's query role.
func explain(t *testing.T, db *postgres.DB, org id.Organization, sql string, args ...any) string {
	t.Helper()
	var lines []string
	err := db.TenantRead(context.WithoutCancel(t.Context()), org.UUID(), func(r *postgres.Reads) {
		postgres.Collect(r, &lines, rowText, "explain (analyze, costs off, timing off, summary off) "+sql, args...)
	})
	if err != nil {
		t.Fatalf("explain: %v\n%s", err, sql)
	}
	return strings.Join(lines, "\n")
}

func TestSubscriptions_PeriodsThatStayPaidMove(t *testing.T) {
	t.Parallel()
	month := func(n int) time.Time { return began.AddDate(0, n, 0) }
	row := periodsAfter(t, lines()[0], dueAgain(1, inv1), lines()[3], dueAgain(2, inv2),
		events.SubscriptionExtended{
			SubscriptionID: line, SubscriberID: amina, InvoiceID: inv2, Ordinal: 2, From: month(1), To: month(2),
			PaidUntil: month(2), PaidAt: began,
		},
		dueAgain(3, inv3),
		events.PeriodWithdrawn{
			SubscriptionID: line, SubscriberID: amina, InvoiceID: inv1, Ordinal: 1, PaidUntil: month(1),
			Moved: append(moved(1, inv1, time.Time{}, time.Time{}), moved(2, inv2, began, month(1))...),
		},
		events.PeriodCancelled{
			SubscriptionID: line, SubscriberID: amina, InvoiceID: inv3, Ordinal: 3, PaidUntil: month(1), At: began,
		},
	)
	at := func(i int, state string, from, to *time.Time) {
		p := row.Periods[len(row.Periods)-i]
		if p.Ordinal != i || p.State != state || cmp.Diff(from, p.From) != "" || cmp.Diff(to, p.To) != "" {
			t.Errorf("period %d is %+v, want %s from %v to %v", i, p, state, from, to)
		}
	}
	end := month(1)
	at(1, "withdrawn", nil, nil)
	at(2, "paid", &began, &end)
	at(3, "cancelled", nil, nil)
	if row.PaidUntil == nil || !row.PaidUntil.Equal(end) || row.OpenInvoice == nil || *row.OpenInvoice != inv1 {
		t.Errorf("paid until %v, open %v", row.PaidUntil, row.OpenInvoice)
	}
}

// periodsAfter is Amina's subscription after events.
func periodsAfter(t *testing.T, list ...events.Event) subscribersviews.SubscriptionRow {
	t.Helper()
	log := feedtest.New()
	for i, e := range list {
		log.Append(events.Metadata{OrgID: acme, EventID: id.Derive[id.Event]("test", string(rune('a'+i)))}, e)
	}
	v, _ := views(t, log)
	q := subscribersviews.SubscriptionsQuery{Views: v}
	if row, err := q.Get(t.Context(), other, line); row != nil || err != nil {
		t.Errorf("another organization sees %+v, %v", row, err)
	}
	row, err := q.Get(t.Context(), acme, line)
	if err != nil || row == nil {
		t.Fatalf("%+v, %v", row, err)
	}
	return *row
}

// TestSubscriptions_PeriodsRecordedWithoutOrdinalsAreCounted takes events of the first versions as the log has them.
func TestSubscriptions_PeriodsRecordedWithoutOrdinalsAreCounted(t *testing.T) {
	t.Parallel()
	row := periodsAfter(t, lines()[0], dueAgain(0, inv1),
		events.SubscriptionExtended{
			SubscriptionID: line, SubscriberID: amina, InvoiceID: inv1, From: began, To: began.AddDate(0, 1, 0),
			PaidUntil: began.AddDate(0, 1, 0),
		},
		dueAgain(0, inv2),
		events.PeriodCancelled{SubscriptionID: line, SubscriberID: amina, InvoiceID: inv2, At: began})
	second, first := row.Periods[0], row.Periods[1]
	if first.Ordinal != 1 || first.State != "paid" || !first.To.Equal(began.AddDate(0, 1, 0)) ||
		second.Ordinal != 2 || second.State != "cancelled" || second.To != nil {
		t.Errorf("periods %+v", row.Periods)
	}
	if row.PaidUntil == nil || !row.PaidUntil.Equal(began.AddDate(0, 1, 0)) || row.OpenInvoice != nil {
		t.Errorf("paid until %v, open %v", row.PaidUntil, row.OpenInvoice)
	}
}
