package projectiontest_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// retired is a projection of archived plans.
type retired struct{}

func (retired) Name() string           { return "retired" }
func (retired) Version() int           { return 1 }
func (retired) Handles() []string      { return []string{events.PlanArchived{}.EventType()} }
func (retired) TenantTables() []string { return []string{"plans"} }

// DDL has one table under row-level security.
func (retired) DDL() string {
	return `create table {schema}.plans
		(org_id uuid not null, id uuid primary key, reason text not null, at timestamptz not null)`
}

// insertSQL replaces the reason when the plan is there already.
const insertSQL = `
insert into {schema}.plans values ($1, $2, $3, $4)
on conflict (id) do update set reason = excluded.reason`

// Apply queues one statement for the only event handled.
func (retired) Apply(w *runner.Writes, e events.Envelope) error {
	p, _ := e.Event.(events.PlanArchived)
	w.Exec(insertSQL, e.Meta.OrgID, p.PlanID, p.Reason, e.Meta.At)
	return nil
}

func TestCheck_GoldenOnceTwiceAndSingly(t *testing.T) {
	t.Parallel()
	org := id.Must[id.Organization]("00000000-0000-7000-8000-00000000000a")
	plan := id.Must[id.Plan]("00000000-0000-7000-8000-000000000001")
	story := projectiontest.NewStory(org, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)).
		Add("plan-1", events.PlanArchived{PlanID: plan, Reason: "old"}, events.PlanArchived{
			PlanID: plan, Reason: "older",
		})
	projectiontest.Check(t, retired{}, story)
	projectiontest.Prepare(t, retired{}, insertSQL, `select reason from {schema}.plans where org_id = $1`)
}
