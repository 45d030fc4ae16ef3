package paymentsviews_test

import (
	"os"
	"regexp"
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

// read finds a plan that reads a whole table of many rows.
var read = regexp.MustCompile(`Seq Scan on (payers|aliases|usernames|invoices)`)

// slips lists the account numbers in which one digit differs.
func slips(account string) (list []string) {
	for i := range account {
		for d := '0'; d <= '9'; d++ {
			if rune(account[i]) != d {
				list = append(list, account[:i]+string(d)+account[i+1:])
			}
		}
	}
	return list
}

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
		`insert into {schema}.aliases select subscriber_id, org_id, 'OLD' || account_number, 1 from {schema}.payers`,
		`insert into {schema}.usernames select gen_random_uuid(), org_id, subscriber_id, 'user' || account_number, 1
			from {schema}.payers`,
		`insert into {schema}.invoices select gen_random_uuid(), org_id, subscriber_id, 'ACME-' || account_number,
			'ACME-' || account_number, false, 1 from {schema}.payers`,
		`analyze {schema}.payers`, `analyze {schema}.aliases`, `analyze {schema}.usernames`,
		`analyze {schema}.invoices`,
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
			"alias": "OLD00001234", "near": slips("00001234"), "inside_accounts": []string{"00001234", "00001242"},
			"inside_phones": []string{"254700000003"}, "inside_invoices": []string{"ACME-00000007"},
		})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if text := strings.Join(plan, "\n"); err != nil || read.MatchString(text) ||
			strings.Contains(text, "CTE mine") {
			t.Errorf("every subscriber is read (%v):\n%s", err, text)
		}
	}
}
