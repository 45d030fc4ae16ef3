package subscribersviews_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// rowText scans a line of an explained plan.
func rowText(row pgx.CollectableRow) (string, error) { return pgx.RowTo[string](row) }

// fillSQL inserts 100,000 customers of Acme and 10,000 of Other with their search terms, as the projection would.
var fillSQL = []string{
	`insert into {schema}.subscribers
		(subscriber_id, org_id, account_number, first_name, last_name, phone, email, address, notes, tags, status,
		currency, created_at, revision, name_key, balance_minor, paid_until)
	select (left(o, 24) || lpad(to_hex(n), 12, '0'))::uuid, o::uuid, lpad(n::text, 8, '0'), 'First' || n % 1000,
		'Last' || n, '+2547' || lpad(n::text, 8, '0'), '', '', '',
		case when n % 1000 = 0 then '{vip}'::text[] else '{}'::text[] end,
		case when n % 500 = 0 then 'blocked' else 'active' end, 'KES',
		timestamptz '2026-01-01' + n * interval '1 second', 0, 'first' || n % 1000 || ' last' || n, (n % 40 - 20) * 100,
		case when n % 10 <> 0 then timestamptz '2026-03-01' + n * interval '20 seconds' end
	from generate_series(1, 100000) n, unnest(array[$1::text, $2::text]) o where o = $1 or n <= 10000`,
	`insert into {schema}.terms select s.org_id, t, s.subscriber_id
	from {schema}.subscribers s,
		unnest(array[account_number, lower(first_name), lower(last_name), ':' || substr(phone, 5)]) t
	where s.first_name is not null on conflict do nothing`,
	`insert into {schema}.tags select org_id, unnest(tags), subscriber_id from {schema}.subscribers
	on conflict do nothing`,
	`insert into {schema}.services (subscription_id, org_id, subscriber_id, plan_id, plan_name, mode, state, since,
		username, created_at, starts_at, paid_until, step, cap_then, shown)
	select gen_random_uuid(), s.org_id, s.subscriber_id, md5((right(account_number, 3)::int % 50)::text)::uuid, 'Plan',
		'prepaid', case when right(account_number, 3) = '250' then 'paused' else 'active' end, s.created_at, 'u',
		s.created_at, s.created_at, s.paid_until, case when right(account_number, 2) = '33' then 'walled_garden'
		else 'none' end, '', true
	from {schema}.subscribers s`,
	`update {schema}.subscribers s set access_from = array['-infinity', coalesce(x.paid_until, '2026-01-01')],
		access_level = case when x.state = 'paused' then array[0, 0]
			else array[3, case x.step when 'walled_garden' then 1 else 0 end] end
	from {schema}.services x where x.subscriber_id = s.subscriber_id`,
	`analyze {schema}.services`, `vacuum analyze {schema}.subscribers`, `analyze {schema}.terms`,
	`analyze {schema}.tags`,
}

// crowded has the customers of fillSQL beside those of the story.
var crowded = pgtest.NewTemplate(func(ctx context.Context, db *postgres.DB) error {
	log := toldOnce()
	f := feed.New(log, nil)
	if err := f.Start(ctx); err != nil {
		return err
	}
	defer f.Stop()
	r, err := show(ctx, db, log, f)
	if err != nil {
		return err
	}
	defer r.Stop()
	args := []any{acme.String(), other.String()} // of the first statement
	for _, sql := range fillSQL {
		if _, err := db.Owner.Exec(ctx, r.Views().SQL(subscribersviews.SubscribersName, sql), args...); err != nil {
			return fmt.Errorf("%w\n%s", err, sql)
		}
		args = nil
	}
	return nil
})

// scanned matches a plan that reads a large table as a whole.
var scanned = regexp.MustCompile(`Seq Scan on (subscribers|terms)`)

// removed matches a plan that reads at least 1,000 rows in vain.
var removed = regexp.MustCompile(`Rows Removed by (Join )?Filter: [0-9]{4,}`)

func TestSearch_ReadsThroughTheIndexBelowThePolicyAt100000Rows(t *testing.T) {
	t.Parallel()
	db := crowded.New(t)
	v := viewsOn(t, db, toldOnce())
	people := subscribersviews.SubscribersQuery{Views: v}
	key := subscribersviews.SubscriberKey{CreatedAt: began.AddDate(0, -1, 0), ID: amina}
	for name, c := range map[string]struct {
		filter subscribersviews.SubscriberFilter
		after  subscribersviews.SubscriberKey
		index  string
	}{
		"newest":          {index: "subscribers_newest"},
		"a later page":    {after: key, index: "subscribers_newest"},
		"status":          {filter: subscribersviews.SubscriberFilter{Status: "blocked"}, index: "subscribers_status"},
		"a rare word":     {filter: subscribersviews.SubscriberFilter{Search: "last77777"}, index: "terms_pkey"},
		"two words":       {filter: subscribersviews.SubscriberFilter{Search: "first7 last777"}, index: "terms_pkey"},
		"a phone":         {filter: subscribersviews.SubscriberFilter{Search: "0700077777"}, index: "terms_pkey"},
		"a phone's start": {filter: subscribersviews.SubscriberFilter{Search: "first7 07000777"}, index: "terms_pkey"},
		"many phones":     {filter: subscribersviews.SubscriberFilter{Search: "07"}, index: "subscribers_newest"},
		"account number":  {filter: subscribersviews.SubscriberFilter{Search: "00077777"}, index: "terms_pkey"},
		"tag":             {filter: subscribersviews.SubscriberFilter{Tag: "vip"}, index: "subscribers_pkey"},
	} {
		sql, args := subscribersviews.ListSQL(acme, c.filter, c.after, 26)
		sql = people.Text(sql)
		plan := explain(t, db, acme, sql, args)
		if !strings.Contains(plan, c.index) || scanned.MatchString(plan) || removed.MatchString(plan) {
			t.Errorf("%s:\n%s", name, plan)
		}
	}
	var n []int // row-level security hides the other organization's terms, whatever the statement asks for
	err := db.TenantRead(t.Context(), acme.UUID(), func(r *postgres.Reads) {
		postgres.Collect(r, &n, pgx.RowTo[int],
			v.SQL(subscribersviews.SubscribersName, `select count(*)::int from {schema}.terms where org_id = $1`),
			other)
	})
	if err != nil || n[0] != 0 {
		t.Errorf("another tenant's words: %v, %v", n, err)
	}
}

// TestByPhones_ReadsThroughTheIndexBelowThePolicyAt100000Rows, as many phones as a part of an import may have.
func TestByPhones_ReadsThroughTheIndexBelowThePolicyAt100000Rows(t *testing.T) {
	t.Parallel()
	db := crowded.New(t)
	v := viewsOn(t, db, toldOnce())
	phones, turned := make([]string, 500), make([]string, 500)
	for i := range phones {
		phones[i] = fmt.Sprintf("+2547%08d", i*200+77)
		list := []byte(phones[i])
		slices.Reverse(list)
		turned[i] = string(list)
	}
	plan := explain(t, db, acme, v.SQL(subscribersviews.SubscribersName, subscribersviews.ByPhonesSQL), acme, turned)
	if !strings.Contains(plan, "subscribers_phone") || scanned.MatchString(plan) || removed.MatchString(plan) {
		t.Error(plan)
	}
	people := subscribersviews.SubscribersQuery{Views: v}
	const omars = "+254700000001" // who is forgotten; one of the others has it, too
	rows, err := people.ByPhones(t.Context(), acme, append(phones, omars, "", "+254"))
	if err != nil || len(rows) != len(phones)+1 {
		t.Fatalf("%d of %d, %v", len(rows), len(phones), err)
	}
	for _, row := range rows {
		if row.SubscriberID == omar || row.Phone == "+254700000077" && row.FirstName+row.LastName != "First77Last77" {
			t.Errorf("%+v", row)
		}
	}
}

// fillLinesSQL inserts a subscription of each customer with its search terms, as the projection would.
var fillLinesSQL = []string{
	`insert into {schema}.subscriptions
		(subscription_id, org_id, subscriber_id, plan_id, plan_version, terms, state, starts_at, username, created_at,
		state_since, revision)
	select gen_random_uuid(), $1, gen_random_uuid(), gen_random_uuid(), 1, '{}', 'active', now(), 'user' || n, now(),
		now(), 0 from generate_series(1, 100000) n`,
	`insert into {schema}.terms select s.org_id, t, s.subscription_id from {schema}.subscriptions s,
		unnest(array[username, 'AA:BB:' || substr(username, 5, 2), '10.0.' || substr(username, 5)]) t
	where s.username is not null on conflict do nothing`,
	`analyze {schema}.subscriptions`, `analyze {schema}.terms`,
}

// widely matches a plan that reads as many rows as a word of one letter begins.
var widely = regexp.MustCompile(`actual rows=[0-9]{5,}|Seq Scan on (subscribers|subscriptions|terms)`)

func TestFind_ReadsThroughTheIndexBelowThePolicyAt100000Rows(t *testing.T) {
	t.Parallel()
	db := crowded.New(t)
	v := viewsOn(t, db, toldOnce())
	args := []any{acme.String()} // of the first statement
	for _, sql := range fillLinesSQL {
		if _, err := db.Owner.Exec(t.Context(), v.SQL(subscribersviews.SubscriptionsName, sql), args...); err != nil {
			t.Fatalf("fill: %v\n%s", err, sql)
		}
		args = nil
	}
	for _, q := range []string{
		"f", "first7", "first7 last777", "l f", "f nobody", "zz", "7", "07", "0777", "0700077777", "00077777",
		"nobody x", "0 f", "first7 07000",
	} {
		sql, args := subscribersviews.FindSQL(acme, q, 20)
		plan := explain(t, db, acme, v.SQL(subscribersviews.SubscribersName, sql), args)
		if widely.MatchString(plan) || !strings.Contains(plan, "terms_pkey") {
			t.Errorf("customers by %q:\n%s", q, plan)
		}
		if q == "0777" && !strings.Contains(plan, "subscribers_phone") {
			t.Errorf("the end of a phone:\n%s", plan)
		}
	}
	for _, q := range []string{"u", "user7", "user77777", "aa:bb", "10.0", "zz", "2001:db8::1"} {
		sql, args := subscribersviews.FindSubscriptions(acme, q, 20)
		plan := explain(t, db, acme, v.SQL(subscribersviews.SubscriptionsName, sql), args)
		if widely.MatchString(plan) || !strings.Contains(plan, "terms_pkey") {
			t.Errorf("lines by %q:\n%s", q, plan)
		}
	}
}

// TestPlans_CountOf100000CustomersReadsAnIndexAlone: a plan that everybody has is counted without its rows.
func TestPlans_CountOf100000CustomersReadsAnIndexAlone(t *testing.T) {
	t.Parallel()
	v, db := views(t, told())
	plan := id.New[id.Plan]()
	for i, sql := range []string{`insert into {schema}.subscriptions
			(subscription_id, org_id, subscriber_id, plan_id, plan_version, terms, state, starts_at, created_at,
			state_since, revision)
		select gen_random_uuid(), $1, md5((n % 50000)::text)::uuid, $2, n % 4, '{}',
			case when n % 10 = 0 then 'ended' else 'active' end, now(), now(), now(), 0
		from generate_series(1, 100000) n`, `vacuum analyze {schema}.subscriptions`} {
		var args []any
		if i == 0 {
			args = []any{acme, plan}
		}
		if _, err := db.Owner.Exec(t.Context(), v.SQL(subscribersviews.SubscriptionsName, sql), args...); err != nil {
			t.Fatal(err)
		}
	}
	sql := v.SQL(subscribersviews.SubscriptionsName, subscribersviews.CustomersByVersionSQL)
	if shown := explain(t, db, acme, sql, acme, []id.Plan{plan}); !strings.Contains(shown, "subscriptions_plan") ||
		strings.Contains(shown, "Seq Scan") {
		t.Error(shown)
	}
	counts, err := subscribersviews.SubscriptionsQuery{Views: v}.CustomersByVersion(t.Context(), acme, []id.Plan{plan})
	sum := 0
	for _, c := range counts[plan] {
		sum += c.Customers
	}
	if err != nil || len(counts[plan]) != 4 || sum != 45_000 || counts[plan][0].Version != 3 {
		t.Errorf("%+v, %v", counts, err)
	}
}
