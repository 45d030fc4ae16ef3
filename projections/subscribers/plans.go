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
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// PlansName is the projection's durable name.
const PlansName = "subscribers_plans"

// Plans lists what an organization sells.
type Plans struct{}

//go:embed plans.sql
var plansDDL string

// Name is the durable name.
func (Plans) Name() string { return PlansName }

// Version is raised when tables or Apply change.
func (Plans) Version() int { return 1 }

// DDL creates the tables.
func (Plans) DDL() string { return plansDDL }

// TenantTables are under row-level security.
func (Plans) TenantTables() []string { return []string{"plans"} }

// Handles lists the events.
func (Plans) Handles() []string {
	return []string{
		events.PlanCreated{}.EventType(), events.PlanRevised{}.EventType(), events.PlanArchived{}.EventType(),
	}
}

// createPlanSQL makes a row.
const createPlanSQL = `
insert into {schema}.plans (plan_id, org_id, code, version, terms, created_at, revision)
values (@plan, @org, @code, 1, @terms, @at, @revision)
on conflict (plan_id) do nothing`

// Apply queues the statements for one event.
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

// PlanRow is one plan.
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

// PlanKey is the place of a row in the list, newest first. The zero value is before all.
type PlanKey struct {
	CreatedAt time.Time `json:"c"`
	ID        id.Plan   `json:"i"`
}

// Key is where the row stands in the list.
func (r PlanRow) Key() PlanKey { return PlanKey{CreatedAt: r.CreatedAt, ID: r.ID} }

// PlansQuery reads plans.
type PlansQuery struct{ Views *runner.Views }

// planColumns are the columns that a row's struct takes.
const planColumns = `plan_id, org_id, code, version, terms, archived, created_at, revision`

// Get is one plan of an organization, nil without one.
func (q PlansQuery) Get(ctx context.Context, org id.Organization, plan id.Plan) (*PlanRow, error) {
	var row *PlanRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[PlanRow],
			q.Views.SQL(PlansName, `select `+planColumns+` from {schema}.plans where plan_id = $1`), plan)
	})
	return row, err
}

// List gives up to max plans of an organization after a key, newest first.
func (q PlansQuery) List(ctx context.Context, org id.Organization, after PlanKey, max int) ([]PlanRow, error) {
	var rows []PlanRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		sql := `select ` + planColumns + ` from {schema}.plans
			where org_id = $1 and ($2::timestamptz is null or (created_at, plan_id) < ($2, $3))
			order by created_at desc, plan_id desc limit $4`
		postgres.Collect(r, &rows, pgx.RowToStructByName[PlanRow], q.Views.SQL(PlansName, sql), org,
			postgres.NullTime(after.CreatedAt), after.ID, max)
	})
	return rows, err
}
