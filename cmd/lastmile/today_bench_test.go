package main

import (
	"net/http"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/reports"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// todayWithin is the longest time that 99 of 100 reports of the present day may take.
const todayWithin = 100 * time.Millisecond

// BenchmarkToday measures how long the report of the present day takes for an organization with 50,000 customers, who
// are online, and two months of receipts, over a real listener and through sign-in. Its tables are filled as the read
// models would fill them.
func BenchmarkToday(b *testing.B) {
	k := newBenchKit(b)
	org := k.organizationID("acme")
	for _, fill := range []struct{ model, sql string }{
		{billingviews.CollectionsName, `insert into {schema}.collections (position, org_id, at, receipt_id,
			subscriber_id, channel, amount_minor, receipts, why) select n, $1, now() - n * interval '26 seconds',
			gen_random_uuid(), gen_random_uuid(), 'c2b', 150000, 1, 'paid' from generate_series(1, 60000) n`},
		{subscribersviews.SubscribersName, `insert into {schema}.subscribers (subscriber_id, org_id, account_number,
			status, currency, created_at, revision, name_key) select gen_random_uuid(), $1, n::text, 'active', 'KES',
			now() - n * interval '10 minutes', 0, '' from generate_series(1, 50000) n`},
		{subscribersviews.SubscriptionsName, `insert into {schema}.subscriptions (subscription_id, org_id,
			subscriber_id, plan_id, plan_version, terms, state, starts_at, created_at, state_since, revision)
			select gen_random_uuid(), $1, gen_random_uuid(), gen_random_uuid(), 1,
			jsonb_build_object('filler', repeat('x', 600)), 'active', now(), now() - n * interval '1 minute', now(), 0
			from generate_series(1, 50000) n`},
		{accessviews.DunningName, `insert into {schema}.dunning (subscription_id, org_id, subscriber_id, state, since)
			select gen_random_uuid(), $1, gen_random_uuid(), case when n % 20 = 0 then 'suspended' else 'none' end,
			now() from generate_series(1, 50000) n`},
		{billingviews.InvoicesName, `insert into {schema}.invoices (invoice_id, org_id, subscriber_id, state, currency,
			total_minor, due_minor, due_on, lines, taxes, drafted_at) select gen_random_uuid(), $1, gen_random_uuid(),
			'issued', 'KES', 150000, case when n % 50 = 0 then 150000 else 0 end, current_date - 9,
			jsonb_build_array(repeat('x', 300)), '[]', now() - n * interval '1 minute'
			from generate_series(1, 60000) n`},
		{reportsviews.ChangesName, `insert into {schema}.changes (position, org_id, at, kind)
			select n, $1, now() - n * interval '1 minute', 'restored' from generate_series(1, 60000) n`},
	} {
		k.fill(b, k.app.engines.views.SQL(fill.model, fill.sql), org)
	}
	k.fill(b, `insert into `+k.db.Namespace.Schema("telemetry")+`.sessions (id, org_id, device_id, session_key,
		username, calling, mac, called, port, service, subscriber_id, access, rate_down, rate_up,
		started_at, updated_at,
		ended_by,
		end_reason, bytes_down, bytes_up, seconds, samples) select gen_random_uuid(), $1, $1, n::text, n::text, '', '',
		'', '', 'ppp', gen_random_uuid(), 'full', 1, 1, now(), now(), 0, '', 0, 0, 0, '\x00'
		from generate_series(1, 50000) n`, org)
	if _, err := k.db.Owner.Exec(b.Context(), `vacuum analyze`); err != nil {
		b.Fatal(err)
	}
	l, call := dialMany(b, k.addr, 1)[0], request(http.MethodGet, "/reports/today?since=2000-01-01", k.admin, "")
	for b.Loop() {
		var took []time.Duration
		for range 500 {
			begun := time.Now()
			if err := l.expect(http.StatusOK, call); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(begun))
		}
		b.ReportMetric(0, "ns/op") // the time of all reports together has no meaning
		benchtest.Latencies(b, "report", took, todayWithin)
	}
}

// fill runs a statement that fills a table.
func (k *kit) fill(b *testing.B, sql string, args ...any) {
	b.Helper()
	if _, err := k.db.Owner.Exec(b.Context(), sql, args...); err != nil {
		b.Fatal(err)
	}
}
