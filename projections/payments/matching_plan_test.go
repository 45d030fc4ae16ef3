package paymentsviews_test

import (
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

func TestMatching_LooksOneSubscriberUpAmongMany(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	r := runner.New(runner.Config{Feed: feedtest.Start(t, feedtest.New()), DB: db, Clock: clock.NewManual(began)})
	r.Register(paymentsviews.Matching{})
	if err := r.Start(t.Context()); err != nil {
		t.Fatalf("start read model: %v", err)
	}
	t.Cleanup(r.Stop)
	org := id.New[id.Organization]()
	find, err := os.ReadFile("matching_find.sql")
	if err != nil {
		t.Fatal(err)
	}
	sql := func(text string) string { return r.Views().SQL(paymentsviews.MatchingName, text) }
	for _, statement := range []string{
		`insert into {schema}.payers select gen_random_uuid(), '` + org.String() +
			`', lpad(i::text, 8, '0'), 'KES', '2547' || lpad(i::text, 8, '0')
			from generate_series(1, 100000) i`,
		`analyze {schema}.payers`,
	} {
		if _, err := db.Owner.Exec(t.Context(), sql(statement)); err != nil {
			t.Fatal(err)
		}
	}
	for _, of := range []id.Organization{{}, org} {
		rows, err := db.Owner.Query(t.Context(), "explain "+sql(string(find)), pgx.NamedArgs{
			"org": of, "currency": "KES", "account": "00001234", "numbers": []string{"ACME-0007"}, "given": []string{},
			"prefixes": []string{"ACME", "ACM"}, "accounts": []string{"10000008", "00001234"},
			"naming": []string{"ACME", "ACM"}, "phone": "254700000009", "username": "00001234", "payer": "254700000001",
			"numeric": true, "misspelt": true, "separated": true,
		})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if text := strings.Join(plan, "\n"); err != nil || strings.Contains(text, "Seq Scan on payers") ||
			strings.Contains(text, "CTE mine") {
			t.Errorf("every subscriber is read (%v):\n%s", err, text)
		}
	}
}
