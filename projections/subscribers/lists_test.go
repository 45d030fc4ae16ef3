package subscribersviews_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// life is the history of one customer, and the instants at which something changes.
type life struct {
	who      id.Subscriber
	lines    []id.Subscription
	list     []events.Envelope
	instants []time.Time
}

// add records one more event an hour later.
func (l *life) add(list ...events.Event) {
	for _, e := range list {
		at := began.Add(time.Duration(len(l.list)) * time.Hour)
		l.list = append(l.list, events.Envelope{
			ID: id.Derive[id.Event](l.who.String(), strconv.Itoa(len(l.list))), Event: e, Type: e.EventType(),
			Meta: events.Metadata{OrgID: acme, At: at},
		})
		l.instants = append(l.instants, at)
	}
}

// lived draws the history of the n-th customer: up to three subscriptions with all that can befall them.
func lived(random *rand.Rand, n int) *life {
	l := &life{who: id.Derive[id.Subscriber]("life", strconv.Itoa(n))}
	l.add(registered(l.who, acme, strconv.Itoa(10_000_000+n), details("Life", strconv.Itoa(n), "+254712345678")))
	for i := range random.IntN(4) {
		line := id.Derive[id.Subscription](l.who.String(), strconv.Itoa(i))
		sold := terms([]events.BillingMode{events.Prepaid, events.Postpaid}[random.IntN(2)])
		sold.Access.Cap.Then = []events.CapAct{"", events.CapThrottle, events.CapStop}[random.IntN(3)]
		l.lines = append(l.lines, line)
		l.add(events.SubscriptionCreated{
			SubscriptionID: line, OrgID: acme, SubscriberID: l.who, PlanID: home, PlanVersion: 1, Terms: sold,
			CreatedAt: began.Add(time.Duration(i) * time.Second),
			StartsAt:  began.Add(time.Duration(random.IntN(4)-1) * 10 * time.Hour),
		})
	}
	for range random.IntN(12) {
		l.befall(random)
	}
	return l
}

// befall adds an event that can change access.
func (l *life) befall(random *rand.Rand) {
	if random.IntN(10) == 0 {
		if random.IntN(2) == 0 {
			l.add(events.SubscriberBlocked{SubscriberID: l.who, Reason: personal.Of("x")})
		} else {
			l.add(events.SubscriberUnblocked{SubscriberID: l.who, Reason: personal.Of("x")})
		}
	}
	if len(l.lines) == 0 {
		return
	}
	line := l.lines[random.IntN(len(l.lines))]
	at := began.Add(time.Duration(len(l.list)) * time.Hour)
	until := began.Add(time.Duration(random.IntN(40)) * time.Hour)
	l.instants = append(l.instants, until)
	subject := events.DunningSubject{SubscriptionID: line, OrgID: acme, SubscriberID: l.who}
	used := events.UsageSubject{SubscriptionID: line, OrgID: acme, SubscriberID: l.who}
	step := events.DunningStep{At: at}
	expected := []events.DunningState{
		"", events.DunningNone, events.DunningReminding, events.DunningWalledGarden, events.DunningSuspended,
	}[random.IntN(5)]
	l.add([]events.Event{
		events.SubscriptionActivated{SubscriptionID: line, SubscriberID: l.who, At: at},
		events.SubscriptionActivated{SubscriptionID: line, SubscriberID: l.who, At: at},
		events.SubscriptionExtended{
			SubscriptionID: line, SubscriberID: l.who, InvoiceID: inv1, Ordinal: 1, PaidUntil: until, PaidAt: at,
		},
		events.SubscriptionPaused{SubscriptionID: line, SubscriberID: l.who, At: at},
		events.SubscriptionResumed{SubscriptionID: line, SubscriberID: l.who, At: at, PaidUntil: until},
		events.SubscriptionEnded{SubscriptionID: line, SubscriberID: l.who, At: at},
		events.PeriodWithdrawn{SubscriptionID: line, SubscriberID: l.who, InvoiceID: inv1, Ordinal: 1},
		events.PeriodCancelled{SubscriptionID: line, SubscriberID: l.who, InvoiceID: inv1, PaidUntil: until},
		events.DunningBegan{DunningSubject: subject, DunningStep: step},
		events.WalledGardenEntered{DunningSubject: subject, DunningStep: step},
		events.ServiceSuspended{DunningSubject: subject, DunningStep: step},
		events.WriteOffProposed{DunningSubject: subject, DunningStep: step},
		events.DunningEnded{DunningSubject: subject, At: at},
		events.DunningReviewed{DunningSubject: subject, NextState: expected, At: at},
		events.CapReached{UsageSubject: used, CapPeriod: events.CapPeriod{ResetsAt: until}, At: at},
		events.CapReset{UsageSubject: used, At: at},
		events.CapPeriodMoved{UsageSubject: used, CapPeriod: events.CapPeriod{ResetsAt: until}},
	}[random.IntN(17)])
}

// TestLists_AccessIsThatOfEntitlementAtEachInstant: the access that a list shows and is filtered by, and the services
// that it shows, follow from the events as entitlement has them.
func TestLists_AccessIsThatOfEntitlementAtEachInstant(t *testing.T) {
	t.Parallel()
	const customers = 250
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same cases each time
	log := feedtest.New()
	var lives []*life
	for n := range customers {
		l := lived(random, n)
		lives = append(lives, l)
		for _, e := range l.list {
			log.Append(e.Meta, e.Event)
		}
	}
	v, db := views(t, log)
	people := subscribersviews.SubscribersQuery{Views: v}
	for n, l := range lives {
		var history entitlement.History
		for _, e := range l.list {
			history.Apply(e)
		}
		state := history.State(time.UTC)
		for _, at := range append(l.instants, began.Add(-time.Hour), began.AddDate(1, 0, 0)) {
			want, got := entitlement.Of(state, at), accessAt(t, people, db, l.who, at)
			if len(state.Subscriptions) == 0 && got.Access() == nil {
				continue
			}
			var services []entitlement.Service
			for _, s := range got.Services {
				services = append(services, entitlement.Service{
					SubscriptionID: s.SubscriptionID, Access: entitlement.Access(s.Level),
				})
			}
			for i := range want.Services {
				want.Services[i].Rate, want.Services[i].Decided = entitlement.Rate{}, entitlement.Reason{}
			}
			if diff := cmp.Diff(want.Services, services); diff != "" || *got.Access() != want.Access.String() {
				t.Fatalf("customer %d at %s (-entitlement +list):\n%s%+v", n, at, diff, state)
			}
		}
	}
}

// accessAt reads a customer, and compares the access that is shown with the one that lists are filtered by.
func accessAt(
	t *testing.T, people subscribersviews.SubscribersQuery, db *postgres.DB, who id.Subscriber, at time.Time,
) subscribersviews.SubscriberRow {
	t.Helper()
	var row *subscribersviews.SubscriberRow
	err := db.TenantRead(t.Context(), acme.UUID(), func(r *postgres.Reads) {
		people.Whole(r, &row, subscribersviews.WholeOf{Org: acme, Subscriber: who, At: at})
	})
	if err != nil || row == nil {
		t.Fatalf("%v, %v", row, err)
	}
	var level *int
	sql := people.Text(`select ` + subscribersviews.AccessSQL + `
		from {schema}.subscribers s where subscriber_id = @who`)
	err = db.TenantRead(t.Context(), acme.UUID(), func(r *postgres.Reads) {
		postgres.CollectOne(r, &level, pgx.RowTo[*int], sql, pgx.NamedArgs{"who": who, "now": at})
	})
	if err != nil || (level == nil) != (row.Access() == nil) ||
		level != nil && subscribersviews.SubscriberAccesses[*level] != *row.Access() {
		t.Fatalf("filtered by %v, shown %v: %v", level, row.Access(), err)
	}
	return *row
}

// openSQL makes sessions for the lists of these tests: every seventh customer is online.
var openSQL = []string{
	`create table {schema}.open_sessions as
		select subscriber_id, s.org_id, x.subscription_id from {schema}.subscribers s
		join {schema}.services x using (subscriber_id) where right(account_number, 4)::int % 7 = 0`,
	`create index on {schema}.open_sessions (subscriber_id)`, `analyze {schema}.open_sessions`,
	`grant select on {schema}.open_sessions to public`,
}

// crowd fills the tables with 100,000 customers, of whom some are online.
func crowd(t *testing.T) (subscribersviews.SubscribersQuery, *postgres.DB) {
	t.Helper()
	db := crowded.New(t)
	v := viewsOn(t, db, told())
	for _, sql := range openSQL {
		if _, err := db.Owner.Exec(t.Context(), v.SQL(subscribersviews.SubscribersName, sql)); err != nil {
			t.Fatalf("fill: %v\n%s", err, sql)
		}
	}
	return subscribersviews.SubscribersQuery{Views: v, Open: v.SQL(subscribersviews.SubscribersName,
		`select x.subscriber_id, x.subscription_id from {schema}.open_sessions x where x.org_id = @org`)}, db
}

// combined has filters of one, two and all kinds.
func combined(now time.Time) map[string]subscribersviews.SubscriberFilter {
	yes, no := true, false
	plan, _ := id.Parse[id.Plan]("c4ca4238-a0b9-2382-0dcc-509a6f75849b") // of md5('1')
	return map[string]subscribersviews.SubscriberFilter{
		"nothing":       {},
		"common access": {Access: "full"},
		"rare access":   {Access: "walled_garden"},
		"no access":     {Access: "none"},
		"nobody's":      {Access: "throttled"},
		"online":        {Online: &yes},
		"offline":       {Online: &no},
		"plan":          {Plan: plan},
		"rare state":    {State: "paused"},
		"plan, state":   {Plan: plan, State: "active"},
		"owes":          {Owes: &yes},
		"owes nothing":  {Owes: &no},
		"ends soon":     {PaidFrom: now, PaidBefore: now.AddDate(0, 0, 1)},
		"off and owing": {Access: "none", Owes: &yes, Online: &no},
		"name, online":  {Search: "last7", Online: &yes, Access: "full"},
		"tag, owes":     {Tag: "vip", Owes: &yes},
		"all": {
			Search: "first", Status: "active", Access: "full", Online: &yes, Plan: plan, State: "active", Owes: &yes,
			PaidFrom: now, PaidBefore: now.AddDate(1, 0, 0),
		},
	}
}

// again matches a plan that goes through the customers more than twice, or reads something for each of them.
var again = regexp.MustCompile(`Rows Removed by (Join )?Filter: ([3-9][0-9]{5}|[0-9]{7,})|loops=[0-9]{6,}`)

// TestLists_EachSortAndFilterGoesThroughTheCustomersOnceAt100000Rows: a page of any combination is read below the
// policy by reading each customer at most once, also of a filter that hardly anybody fits.
func TestLists_EachSortAndFilterGoesThroughTheCustomersOnceAt100000Rows(t *testing.T) {
	t.Parallel()
	people, db := crowd(t)
	now := time.Date(2026, 3, 12, 9, 0, 0, 0, time.UTC)
	for _, sort := range subscribersviews.SubscriberSorts {
		for name, filter := range combined(now) {
			filter.Sort, filter.Now = sort, now
			sql, args := subscribersviews.ListSQL(acme, filter, subscribersviews.SubscriberKey{}, 26)
			plan := explain(t, db, acme, people.Text(sql), args)
			if again.MatchString(plan) || name == "nothing" && removed.MatchString(plan) {
				t.Errorf("%s by %s:\n%s", name, sort, plan)
			}
		}
	}
	counts, err := people.Counts(t.Context(), acme, now, began)
	all := counts.Full + counts.Throttled + counts.WalledGarden + counts.None
	if err != nil || counts.Total != 100_002 || all != 100_002 || counts.Online < 14_000 || counts.Owing == 0 {
		t.Errorf("%+v, %v", counts, err)
	}
}

// TestLists_PagesHaveEachRowOnceThoughOthersComeAndGo pages through each sort, with customers of equal names, dates and
// balances, while customers are added and one that was shown changes its place.
func TestLists_PagesHaveEachRowOnceThoughOthersComeAndGo(t *testing.T) {
	t.Parallel()
	log := feedtest.New()
	for n := range 90 {
		who := id.Derive[id.Subscriber]("page", strconv.Itoa(n))
		meta := events.Metadata{OrgID: acme, At: began}
		name := details([]string{"Zuri", "Amina", "امينة", "🙂"}[n%4], "", "+254712345678")
		log.Append(meta, registered(who, acme, strconv.Itoa(20_000_000+n), name))
		owes := kes(int64(n % 3))
		log.Append(meta, events.InvoiceIssued{SubscriberID: who, OrgID: acme, InvoiceID: inv1, Total: owes})
		if n%5 == 0 {
			log.Append(meta, events.SubscriberForgotten{SubscriberID: who})
		}
	}
	v, db := views(t, log)
	people := subscribersviews.SubscribersQuery{Views: v}
	for turn, sort := range subscribersviews.SubscriberSorts {
		seen := map[id.Subscriber]int{}
		var after subscribersviews.SubscriberKey
		var keys []subscribersviews.SubscriberKey
		for page := 0; ; page++ {
			rows, err := people.List(t.Context(), acme, subscribersviews.SubscriberFilter{Sort: sort}, after, 7)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rows {
				seen[r.ID]++
				keys = append(keys, r.Key())
			}
			if len(rows) < 7 {
				break
			}
			after = rows[6].Key()
			comesAndGoes(t, v.SQL(subscribersviews.SubscribersName, addedSQL), db, fmt.Sprint(turn, page))
		}
		for n := range 90 {
			if who := id.Derive[id.Subscriber]("page", strconv.Itoa(n)); seen[who] != 1 {
				t.Errorf("by %s: customer %d is there %d times", sort, n, seen[who])
			}
		}
		if sort == "name" && !slices.IsSortedFunc(keys, func(a, b subscribersviews.SubscriberKey) int {
			return strings.Compare(a.Name, b.Name)
		}) {
			t.Errorf("by name: %v", keys)
		}
	}
}

// addedSQL adds a customer at any place of a list.
const addedSQL = `insert into {schema}.subscribers (subscriber_id, org_id, account_number, first_name, status, currency,
		created_at, revision, name_key, balance_minor)
	select md5($1 || n)::uuid, $2, md5($1 || n), 'New', 'active', 'KES',
		timestamptz '2026-01-01' + n * interval '40 days', 0, md5(n::text), n * 100 from generate_series(0, 3) n`

// comesAndGoes adds customers between two pages.
func comesAndGoes(t *testing.T, sql string, db *postgres.DB, name string) {
	t.Helper()
	if _, err := db.Owner.Exec(t.Context(), sql, name, acme); err != nil {
		t.Fatal(err)
	}
}
