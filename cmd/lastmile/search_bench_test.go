package main

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// foundWithin is the longest time that 99 of 100 searches may take. Source: docs/rules/http.md#search.
const foundWithin = 100 * time.Millisecond

// searches has texts as people type them, from a first letter to a whole number.
var searches = []string{
	"m", "ma", "mary", "mary njo", "mary njoroge", "ma nj", "m n", "njoroge mary k", "zz", "0712", "0700012345",
	"4321", "77", "10000", "user500", "user50000", "aa:bb:cc", "aabbcc", "10.0.1", "10.0.3.9", "bench-00",
	"bench-0012345", "12345", "sgr", "SGR0054321", "%' or 1=1", "nobody at all", "a b c d", "tower",
}

// BenchmarkSearch measures how long a search takes beside another one, over a real listener and through sign-in, as an
// admin of an organization with 100,000 customers and lines, 300,000 sessions, and a million invoices and receipts.
func BenchmarkSearch(b *testing.B) {
	k := newBenchKit(b)
	k.fillSearched(b, k.org(), benchtest.Size(b, "ROWS", 100_000))
	lines := dialMany(b, k.addr, 2)
	var calls [][]byte
	for _, q := range searches {
		calls = append(calls, request(http.MethodGet, "/search?q="+url.QueryEscape(q), k.admin, ""))
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { // another clerk, who types all the time
		defer close(stopped)
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
				if err := lines[1].expect(http.StatusOK, calls[n*7%len(calls)]); err != nil {
					b.Error(err)
					return
				}
			}
		}
	}()
	defer func() { close(stop); <-stopped }()
	for b.Loop() {
		var took []time.Duration
		by := map[string][]time.Duration{}
		for range 40 {
			for i, call := range calls {
				begun := time.Now()
				if err := lines[0].expect(http.StatusOK, call); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(begun))
				by[searches[i]] = append(by[searches[i]], took[len(took)-1])
			}
		}
		slowest := slices.SortedFunc(maps.Keys(by), func(x, y string) int {
			return cmp.Compare(benchtest.Quantile(by[y], 50), benchtest.Quantile(by[x], 50))
		})
		for _, text := range slowest[:5] {
			b.Logf("%q takes %v as a rule", text, benchtest.Quantile(by[text], 50))
		}
		benchtest.Latencies(b, "search", took, foundWithin)
	}
}

// fillSearched writes rows into the read models and the sessions directly, since only reading is measured. Of each
// customer there are ten invoices and receipts, and three sessions, one of them open.
func (k *kit) fillSearched(b *testing.B, org string, count int) {
	b.Helper()
	fill := func(sql string) {
		b.Helper()
		if _, err := k.app.DB().Owner.Exec(b.Context(), sql, org, count); err != nil {
			b.Fatalf("%v\n%s", err, sql)
		}
	}
	views := k.app.engines.views
	fill(views.SQL(subscribersviews.SubscribersName, `
with names as (select array['Mary', 'John', 'Peter', 'Grace', 'Faith', 'Joseph', 'Brian', 'Mercy', 'Moses', 'Margaret']
	as first, array['Njoroge', 'Njeri', 'Otieno', 'Wanjiru', 'Mwangi', 'Kamau', 'Achieng', 'Kiprono'] as last)
insert into {schema}.subscribers
	(subscriber_id, org_id, account_number, first_name, last_name, phone, email, address, notes, tags, status,
	currency, created_at, revision, name_key)
select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $1, (10000000 + n)::text, first[n % 10 + 1],
	last[n / 10 % 8 + 1] || ' ' || 'K' || n, '+2547' || lpad(n::text, 8, '0'), 'c' || n || '@example.org', '', '', '{}',
	'active', 'KES', now(), 0, ''
from names, generate_series(1, $2) n`))
	fill(views.SQL(subscribersviews.SubscribersName, `
insert into {schema}.terms select org_id, t, subscriber_id from {schema}.subscribers, unnest(string_to_array(
	lower(first_name || ' ' || last_name), ' ') || array[account_number, email, ':' || substr(phone, 5)]) t
where org_id = $1 and $2 > 0 on conflict do nothing`))
	fill(views.SQL(subscribersviews.SubscriptionsName, `
insert into {schema}.subscriptions
	(subscription_id, org_id, subscriber_id, plan_id, plan_version, terms, state, starts_at, username, mac_addresses,
	static_ip, created_at, state_since, revision)
select gen_random_uuid(), $1, ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, gen_random_uuid(), 1,
	'{}', 'active', now(), 'user' || n, array['AA:BB:CC' || regexp_replace(lpad(upper(to_hex(n)), 6, '0'), '(..)',
	':\1', 'g')], host(inet '10.0.0.0' + n), now(), now(), 0 from generate_series(1, $2) n`))
	fill(views.SQL(subscribersviews.SubscriptionsName, `
insert into {schema}.terms select org_id, t, subscription_id from {schema}.subscriptions,
	unnest(mac_addresses || array[username, static_ip]) t where org_id = $1 and $2 > 0 on conflict do nothing`))
	fill(views.SQL(billingviews.InvoicesName, `
insert into {schema}.invoices (invoice_id, org_id, subscriber_id, number, state, currency, total_minor, lines, taxes,
	drafted_at, issued_at)
select gen_random_uuid(), $1, ('00000000-0000-7000-8000-' || lpad(to_hex(n % $2), 12, '0'))::uuid,
	'BENCH-' || lpad(n::text, 7, '0'), 'paid', 'KES', 100000, '[]', '[]', now(), now()
from generate_series(1, 10 * $2) n`))
	fill(views.SQL(paymentsviews.ReceiptsName, `
insert into {schema}.receipts (receipt_id, org_id, provider, environment, receipt_number, channel, shortcode,
	amount_minor, currency, paid_at, third_party_trans_id, org_account_balance, provisional, state, subscriber_id,
	sightings, recorded_at, revision)
select gen_random_uuid(), $1, 'mobilemoney', '', 'SGR' || lpad(n::text, 7, '0'), 'c2b', '600200', 100000, 'KES', now(),
	'', '', false, 'allocated', ('00000000-0000-7000-8000-' || lpad(to_hex(n % $2), 12, '0'))::uuid, '[]', now(), 0
from generate_series(1, 10 * $2) n`))
	fill(`
insert into ` + string(k.db.Namespace) + `_telemetry.sessions (id, org_id, device_id, session_key, username, calling,
	mac, called, port, service, ip, subscriber_id, subscription_id, access, rate_down, rate_up, started_at, updated_at,
	ended_at, ended_by, end_reason, bytes_down, bytes_up, seconds, samples)
select gen_random_uuid(), $1, gen_random_uuid(), n::text, 'user' || n % $2, '', 'AA:BB:CC' || regexp_replace(
	lpad(upper(to_hex(n % $2)), 6, '0'), '(..)', ':\1', 'g'), '', '', '', inet '10.0.0.0' + n % $2,
	('00000000-0000-7000-8000-' || lpad(to_hex(n % $2), 12, '0'))::uuid, gen_random_uuid(), 'full',
	0, 0, now() - n * interval '1 second', now(), case when n > $2 then now() end, 0, '', 0, 0, 0, ''
from generate_series(1, 3 * $2) n`)
	if _, err := k.app.DB().Owner.Exec(b.Context(), "analyze"); err != nil {
		b.Fatal(err)
	}
}
