package auditviews_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/audit"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// manyEntriesSQL adds 100,000 entries of 100 organizations, of which the one that is asked for has 50 old ones.
const manyEntriesSQL = `insert into {schema}.entries (id, position, last_position, org_id, at, actor_kind, actor_id,
		actor_role, action, target_type, target_id, outcome, request_id, correlation_id, reason, code, status, refusals,
		events)
	select gen_random_uuid(), i, i, case when i <= 50 then $1::uuid else md5((i % 100)::text)::uuid end,
		timestamptz '2026-01-01' + i * interval '1 minute', 'user', 'u' || i % 7, 'admin', 'billing.VoidInvoice',
		'invoice', gen_random_uuid(), case when i % 50 = 7 then 'refused' else 'succeeded' end, '', '', '', '', 0, 0,
		'{}'
	from generate_series(1, 100000) i`

// wasteful matches a plan that reads rows which it does not show.
var wasteful = regexp.MustCompile(`Seq Scan on entries|Rows Removed by [A-Za-z ]+: [0-9]{3,}|Sort Key: e\.position`)

// TestLog_ThePlatformReadsOnlyThePageOfAnOrganization: what the organization did long ago is not looked for behind what
// all others have done since.
func TestLog_ThePlatformReadsOnlyThePageOfAnOrganization(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	r := runner.New(runner.Config{Feed: feedtest.Start(t, feedtest.New()), DB: db, Clock: clock.NewManual(start)})
	r.Register(auditviews.Log{})
	if err := r.Start(t.Context()); err != nil {
		t.Fatalf("start read models: %v", err)
	}
	t.Cleanup(r.Stop)
	org := id.New[id.Organization]()
	sql := func(text string) string { return r.Views().SQL(auditviews.LogName, text) }
	if _, err := db.Owner.Exec(t.Context(), sql(manyEntriesSQL), org); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Owner.Exec(t.Context(), sql(`analyze {schema}.entries`)); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]auditviews.Filter{
		"all": {}, "a person's": {Actor: "u3"}, "a command": {Action: "billing.VoidInvoice"},
		"refused": {Outcome: auditviews.Refused}, "a thing": {TargetID: id.New[id.Any]()},
	} {
		for _, of := range []id.Organization{org, id.New[id.Organization]()} {
			for _, after := range []auditviews.Key{{}, {Position: 50_000}} {
				text, args := auditviews.AllSQL(of, f, after, 26)
				var plan []string
				err := r.Views().Platform(t.Context(), func(reads *postgres.Reads) {
					postgres.Collect(reads, &plan, pgx.RowTo[string],
						sql("explain (analyze, costs off, timing off, summary off) "+text), args)
				})
				shown := strings.Join(plan, "\n")
				if err != nil || wasteful.MatchString(shown) {
					t.Errorf("%s after %d (%v):\n%s", name, after.Position, err, shown)
				}
			}
		}
	}
}
