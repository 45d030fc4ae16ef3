package cpeviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// ProvisionRow is one script of an organization.
type ProvisionRow struct {
	ID           id.CPEProvision `db:"provision_id"`
	OrgID        id.Organization `db:"org_id"`
	Name         string          `db:"name"`
	StoredName   string          `db:"stored_name"` // at the CPE server
	Tag          string          `db:"tag"`
	Version      int             `db:"version"`
	Script       string          `db:"script"`
	State        string          `db:"state"` // one of ProvisionStates, or ProvisionRemoved
	ErrorCode    *string         `db:"error_code"`
	ErrorMessage *string         `db:"error_message"`
	WrittenAt    time.Time       `db:"written_at"`
	SettledAt    *time.Time      `db:"settled_at"`
	ActorKind    string          `db:"actor_kind"`
	ActorID      string          `db:"actor_id"`
	Revision     int64           `db:"revision"`
}

// ProvisionsQuery serves the scripts of organizations.
type ProvisionsQuery struct{ Views *runner.Views }

// provisionSelect fits ProvisionRow; a condition follows.
const provisionSelect = `select provision_id, org_id, name, stored_name, tag, version, script, state, error_code,
	error_message, written_at, settled_at, actor_kind, actor_id, revision from {schema}.provisions where `

// Get returns a provision of an organization; nil when it has none with this id, or has taken it back.
func (q ProvisionsQuery) Get(
	ctx context.Context, org id.Organization, provision id.CPEProvision,
) (*ProvisionRow, error) {
	var row *ProvisionRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[ProvisionRow], q.Views.SQL(ProvisionsName,
			provisionSelect+`org_id = $1 and provision_id = $2 and state <> 'removed'`), org, provision)
	})
	return row, err
}

// List returns up to max provisions of an organization after a key, in the order of their names.
func (q ProvisionsQuery) List(
	ctx context.Context, org id.Organization, after ProvisionKey, max int,
) ([]ProvisionRow, error) {
	var rows []ProvisionRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[ProvisionRow], q.Views.SQL(ProvisionsName,
			provisionSelect+`org_id = $1 and state <> 'removed' and name > $2 order by name limit $3`),
			org, after.Name, max)
	})
	return rows, err
}

// Any returns a provision, whoever has it, also one that was taken back: for the platform's work with the CPE server.
func (q ProvisionsQuery) Any(ctx context.Context, provision id.CPEProvision) (*ProvisionRow, error) {
	var row *ProvisionRow
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[ProvisionRow],
			q.Views.SQL(ProvisionsName, provisionSelect+`provision_id = $1`), provision)
	})
	return row, err
}

// Held returns up to max provisions of all organizations after an id, in the order of ids: those that the CPE server
// should have, and those that it should not have any more.
func (q ProvisionsQuery) Held(
	ctx context.Context, after id.CPEProvision, max int,
) ([]ProvisionRow, error) {
	var rows []ProvisionRow
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[ProvisionRow], q.Views.SQL(ProvisionsName,
			provisionSelect+`state <> 'removed' and ($1::uuid is null or provision_id > $1::uuid)
			order by provision_id limit $2`), after, max)
	})
	return rows, err
}

// Stored returns the provisions that have, or had, some names at the CPE server, whoever's they are.
func (q ProvisionsQuery) Stored(ctx context.Context, names []string) ([]ProvisionRow, error) {
	var rows []ProvisionRow
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[ProvisionRow],
			q.Views.SQL(ProvisionsName, provisionSelect+`stored_name = any($1)`), names)
	})
	return rows, err
}
