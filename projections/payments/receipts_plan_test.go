package paymentsviews_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// manyReceiptsSQL adds 100,000 receipts. One of a thousand is cash of one member of staff, and each tenth other one is
// in suspense.
const manyReceiptsSQL = `insert into {schema}.receipts (receipt_id, org_id, provider, environment, receipt_number,
		channel, shortcode, amount_minor, currency, paid_at, third_party_trans_id, org_account_balance, provisional,
		state, sightings, recorded_at, revision, taken_by)
	select gen_random_uuid(), $1, 'mobile_money', '', 'N' || i, case when i % 1000 = 0 then 'cash' else 'c2b' end, '',
		100, 'KES', now(), '', '', false, case when i % 10 = 5 then 'suspense' else 'allocated' end, '[]',
		timestamptz '2026-01-01' + i * interval '1 minute', 0, case when i % 1000 = 0 then $2::uuid end
	from generate_series(1, 100000) i`

// wasteful matches a plan that reads rows which it does not show.
var wasteful = regexp.MustCompile(
	`Seq Scan on receipts\n|Rows Removed by [A-Za-z ]+: [0-9]{3,}|Sort Key: (receipts\.)?recorded_at`)

// TestReceipts_AnyListReadsOnlyItsPageOf100000: each filter and order has an index, also below the policy of the
// tenant.
func TestReceipts_AnyListReadsOnlyItsPageOf100000(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	r := runner.New(runner.Config{Feed: feedtest.Start(t, feedtest.New()), DB: db, Clock: clock.NewManual(began)})
	r.Register(paymentsviews.Receipts{})
	if err := r.Start(t.Context()); err != nil {
		t.Fatalf("start read models: %v", err)
	}
	t.Cleanup(r.Stop)
	org, clerk := id.New[id.Organization](), id.New[id.User]()
	sql := func(text string) string { return r.Views().SQL(paymentsviews.ReceiptsName, text) }
	if _, err := db.Owner.Exec(t.Context(), sql(manyReceiptsSQL), org, clerk); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Owner.Exec(t.Context(), sql(`analyze {schema}.receipts`)); err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	middle := paymentsviews.ReceiptKey{RecordedAt: day, ID: id.New[id.Receipt]()}
	for name, f := range map[string]paymentsviews.ReceiptFilter{
		"all": {}, "cash": {Channel: "cash"}, "no such channel": {Channel: "bill_manager"},
		"a clerk's": {TakenBy: clerk},
		"nobody's":  {TakenBy: id.New[id.User]()}, "suspense": {State: "suspense"},
		"a clerk's of a day": {TakenBy: clerk, From: day, To: day.AddDate(0, 0, 1)},
	} {
		for _, oldest := range []bool{false, true} {
			for _, after := range []paymentsviews.ReceiptKey{{}, middle} {
				f.Oldest = oldest
				text, args := paymentsviews.ReceiptListSQL(`org_id = $2`, []any{26, org}, f, after)
				var plan []string
				err := r.Views().Tenant(t.Context(), org, func(reads *postgres.Reads) {
					postgres.Collect(reads, &plan, pgx.RowTo[string],
						sql("explain (analyze, costs off, timing off, summary off) "+text), args...)
				})
				shown := strings.Join(plan, "\n")
				if err != nil || wasteful.MatchString(shown) {
					t.Errorf("%s, oldest %v, after %v (%v):\n%s", name, oldest, after.RecordedAt, err, shown)
				}
			}
		}
	}
	days := make([]time.Time, 28)
	for i := range days {
		days[i] = day.AddDate(0, 0, i)
	}
	var plan []string
	err := r.Views().Tenant(t.Context(), org, func(reads *postgres.Reads) {
		postgres.Collect(reads, &plan, pgx.RowTo[string],
			sql("explain (analyze, costs off, timing off, summary off) "+paymentsviews.WaitingByDaySQL),
			org, money.KES, days, day.AddDate(0, 0, len(days)))
	})
	shown := strings.Join(plan, "\n")
	if err != nil || wasteful.MatchString(shown) || !strings.Contains(shown, "receipts_state") {
		t.Errorf("what waits by day (%v):\n%s", err, shown)
	}
	list, err := (paymentsviews.ReceiptsQuery{Views: r.Views()}).SuspenseByCurrency(t.Context(), org, day)
	if err != nil || len(list) != 1 || list[0].Count != 10_000 || list[0].AmountMinor != 1_000_000 {
		t.Errorf("suspense %+v, %v", list, err)
	}
}
