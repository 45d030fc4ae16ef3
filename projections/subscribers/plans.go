package subscribersviews

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// PlansName keys the projection's checkpoint and schemas, so it never changes.
const PlansName = "subscribers_plans"

// Plans lists the plans of an organization, with the terms of the newest version and archived ones included.
type Plans struct{}

// plansDDL is compiled in from plans.sql.
//
//go:embed plans.sql
var plansDDL string

// Name keys checkpoint and schemas.
func (Plans) Name() string { return PlansName }

// Version must grow with every change to the tables or to Apply.
func (Plans) Version() int { return 1 }

// DDL creates the tables of plans.sql.
func (Plans) DDL() string { return plansDDL }

// TenantTables are under row-level security.
func (Plans) TenantTables() []string { return []string{"plans"} }

// Handles lists the events that change the tables.
func (Plans) Handles() []string {
	return []string{
		events.PlanCreated{}.EventType(), events.PlanRevised{}.EventType(), events.PlanArchived{}.EventType(),
	}
}

// createPlanSQL inserts version 1 of a plan.
const createPlanSQL = `
insert into {schema}.plans (plan_id, org_id, code, version, terms, created_at, revision)
values (@plan, @org, @code, 1, @terms, @at, @revision)
on conflict (plan_id) do nothing`

// Apply queues the statements for one event; the same event again changes nothing.
func (Plans) Apply(w *runner.Writes, e events.Envelope) error {
	switch v := e.Event.(type) {
	case events.PlanCreated:
		terms, err := json.Marshal(v.Terms)
		if err != nil {
			return fmt.Errorf("marshal terms: %w", err)
		}
		w.Exec(createPlanSQL, pgx.NamedArgs{
			"plan": v.PlanID, "org": v.OrgID, "code": v.Code, "terms": string(terms), "at": e.Meta.At,
			"revision": int64(e.Revision),
		})
	case events.PlanRevised:
		terms, err := json.Marshal(v.Terms)
		if err != nil {
			return fmt.Errorf("marshal terms: %w", err)
		}
		w.Exec(`update {schema}.plans set version = $2, terms = $3, revision = $4 where plan_id = $1`,
			v.PlanID, v.Version, string(terms), int64(e.Revision))
	case events.PlanArchived:
		w.Exec(`update {schema}.plans set archived = true, revision = $2 where plan_id = $1`, v.PlanID,
			int64(e.Revision))
	}
	return nil
}

// PlanRow is one plan with its present terms; a subscription keeps the terms of its own version.
type PlanRow struct {
	ID        id.Plan          `db:"plan_id"`
	OrgID     id.Organization  `db:"org_id"`
	Code      string           `db:"code"`
	Version   int              `db:"version"`
	Terms     events.PlanTerms `db:"terms"`
	Archived  bool             `db:"archived"`
	CreatedAt time.Time        `db:"created_at"`
	Revision  int64            `db:"revision"` // of the plan's stream
}

// PlanKey is a row's place in the list, newest first. The zero value starts at the newest row.
type PlanKey struct {
	CreatedAt time.Time `json:"c"`
	ID        id.Plan   `json:"i"`
}

// Key makes the next page begin after this row.
func (r PlanRow) Key() PlanKey { return PlanKey{CreatedAt: r.CreatedAt, ID: r.ID} }

// PlansQuery serves an organization's plans.
type PlansQuery struct{ Views *runner.Views }

// planColumns fit PlanRow.
const planColumns = `plan_id, org_id, code, version, terms, archived, created_at, revision`

// Get returns one plan of an organization, archived or not; nil when it has none with this id.
func (q PlansQuery) Get(ctx context.Context, org id.Organization, plan id.Plan) (*PlanRow, error) {
	var row *PlanRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[PlanRow],
			q.Views.SQL(PlansName, `select `+planColumns+` from {schema}.plans where plan_id = $1`), plan)
	})
	return row, err
}

// List returns up to max plans of an organization after a key, newest first; archived = nil does not restrict them.
func (q PlansQuery) List(
	ctx context.Context, org id.Organization, archived *bool, after PlanKey, max int,
) ([]PlanRow, error) {
	var rows []PlanRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		sql := `select ` + planColumns + ` from {schema}.plans
			where org_id = $1 and ($2::timestamptz is null or (created_at, plan_id) < ($2, $3))
				and ($5::boolean is null or archived = $5)
			order by created_at desc, plan_id desc limit $4`
		postgres.Collect(r, &rows, pgx.RowToStructByName[PlanRow], q.Views.SQL(PlansName, sql), org,
			null.Time(after.CreatedAt), after.ID, max, archived)
	})
	return rows, err
}

// All returns the plans of an organization, without archived ones, at most mostPlans.
func (q PlansQuery) All(ctx context.Context, org id.Organization) ([]PlanRow, error) {
	return q.List(ctx, org, new(bool), PlanKey{}, mostPlans)
}

// WithArchived reads all plans of an organization, also those that are not sold any more.
func (q PlansQuery) WithArchived(ctx context.Context, org id.Organization) ([]PlanRow, error) {
	return q.List(ctx, org, nil, PlanKey{}, mostPlans)
}

// mostPlans bounds the plans that are read at once.
const mostPlans = 10_000

// Names gives the names of some plans of an organization with one statement, archived ones too. One that is not known
// there is left out.
func (q PlansQuery) Names(ctx context.Context, org id.Organization, plans []id.Plan) (map[id.Plan]string, error) {
	if len(plans) == 0 {
		return nil, nil
	}
	var names map[id.Plan]string
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMap(r, &names, q.Views.SQL(PlansName, `
			select plan_id, terms->>'name' as name from {schema}.plans where org_id = $1 and plan_id = any($2)`),
			org, plans)
	})
	return names, err
}

// NamedPolicies lists which of some dunning policies the plans of an organization name that are not archived.
func (q PlansQuery) NamedPolicies(ctx context.Context, org id.Organization, names []string) ([]string, error) {
	var named []string
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &named, pgx.RowTo[string], q.Views.SQL(PlansName, `
			select distinct terms->'access'->>'dunningPolicy' as name from {schema}.plans
			where org_id = $1 and not archived and terms->'access'->>'dunningPolicy' = any($2) order by name`),
			org, names)
	})
	return named, err
}
