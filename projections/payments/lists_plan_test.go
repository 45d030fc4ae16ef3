package paymentsviews_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// A number is looked up in an index although the policy of the tenant guards the table: a function of a column in the
// condition would make the planner read every row of the organization.
func TestReceiptNumber_IsLookedUpAmongMany(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	r := runner.New(runner.Config{Feed: feedtest.Start(t, feedtest.New()), DB: db, Clock: clock.NewManual(began)})
	r.Register(paymentsviews.Payments{}, paymentsviews.Receipts{})
	if err := r.Start(t.Context()); err != nil {
		t.Fatalf("start read models: %v", err)
	}
	t.Cleanup(r.Stop)
	org := id.New[id.Organization]()
	for model, fill := range map[string]string{
		paymentsviews.PaymentsName: `insert into {schema}.payments (payment_id, org_id, subscriber_id, held_by, gateway,
				amount_minor, currency, stage, receipt_number, initiated_at, revision)
			select gen_random_uuid(), '` + org.String() + `', gen_random_uuid(), gen_random_uuid(), 'cash', 100, 'KES',
				'succeeded', 'Book ' || i, now() + i * interval '1 second', 0
			from generate_series(1, 20000) i`,
		paymentsviews.ReceiptsName: `insert into {schema}.receipts (receipt_id, org_id, provider, environment,
				receipt_number, channel, shortcode, amount_minor, currency, paid_at, third_party_trans_id,
				org_account_balance, provisional, state, sightings, recorded_at, revision)
			select gen_random_uuid(), '` + org.String() + `', 'cash', '', 'Book ' || i, 'cash', '', 100, 'KES', now(),
				'', '', false, 'matched', '[]', now() + i * interval '1 second', 0
			from generate_series(1, 20000) i`,
	} {
		table := "{schema}." + strings.TrimPrefix(model, "payments_")
		for _, statement := range []string{fill, "analyze " + table} {
			if _, err := db.Owner.Exec(t.Context(), r.Views().SQL(model, statement)); err != nil {
				t.Fatal(err)
			}
		}
		order := map[string]string{
			paymentsviews.PaymentsName: "initiated_at desc, payment_id desc",
			paymentsviews.ReceiptsName: "recorded_at desc, receipt_id desc",
		}[model]
		var plan []string
		err := r.Views().Tenant(t.Context(), org, func(reads *postgres.Reads) {
			postgres.Collect(reads, &plan, pgx.RowTo[string], r.Views().SQL(model, "explain select * from "+table+
				" where org_id = $1 and number_key = upper(regexp_replace($2, '\\s+', ' ', 'g')) order by "+order+
				" limit 26"), org, "book 17")
		})
		if text := strings.Join(plan, "\n"); err != nil || !strings.Contains(text, "_number on") {
			t.Errorf("every row of the organization is read (%v):\n%s", err, text)
		}
	}
}
