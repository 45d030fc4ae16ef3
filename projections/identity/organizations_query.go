package identityviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// OrganizationRow is one organization with its present settings.
type OrganizationRow struct {
	ID        id.Organization        `db:"org_id"`
	Slug      string                 `db:"slug"`
	Name      string                 `db:"name"`
	Billing   events.BillingSettings `db:"billing"`
	Logo      string                 `db:"logo"` // the hash of the picture on its documents; "" = none
	Suspended bool                   `db:"suspended"`
	// SecondFactorRequired is true while the staff needs a second factor.
	SecondFactorRequired bool      `db:"second_factor_required"`
	CreatedAt            time.Time `db:"created_at"`
	Revision             int64     `db:"revision"` // of the organization's stream
}

// OrganizationsQuery serves organizations, with the platform role.
type OrganizationsQuery struct{ Views *runner.Views }

// OrganizationKey is a row's place in the list, newest first. The zero value starts at the newest row.
type OrganizationKey struct {
	CreatedAt time.Time       `json:"c"`
	ID        id.Organization `json:"i"`
}

// Key makes the next page begin after this row.
func (r OrganizationRow) Key() OrganizationKey {
	return OrganizationKey{CreatedAt: r.CreatedAt, ID: r.ID}
}

// organizationColumns fit OrganizationRow.
const organizationColumns = `org_id, slug, name, billing, logo, suspended, second_factor_required, created_at, revision`

// Get returns one organization, nil when there is none. It reads as the platform, so the caller must have checked the
// right to see it.
func (q OrganizationsQuery) Get(ctx context.Context, org id.Organization) (*OrganizationRow, error) {
	var row *OrganizationRow
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[OrganizationRow],
			q.Views.SQL(OrganizationsName,
				`select `+organizationColumns+` from {schema}.organizations where org_id = $1`), org)
	})
	return row, err
}

// OrganizationFilter narrows the list of organizations. A zero field does not restrict it.
type OrganizationFilter struct {
	Suspended *bool
	Text      string // part of the name or the slug, in any case
}

// List returns up to max organizations of the platform after a key, newest first.
func (q OrganizationsQuery) List(
	ctx context.Context, f OrganizationFilter, after OrganizationKey, max int,
) ([]OrganizationRow, error) {
	var rows []OrganizationRow
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		sql := `select ` + organizationColumns + ` from {schema}.organizations
			where ($1::timestamptz is null or (created_at, org_id) < ($1, $2))
				and ($3::boolean is null or suspended = $3)
				and ($4 = '' or strpos(lower(name || ' ' || slug), lower($4)) > 0)
			order by created_at desc, org_id desc limit $5`
		postgres.Collect(r, &rows, pgx.RowToStructByName[OrganizationRow], q.Views.SQL(OrganizationsName, sql),
			null.Time(after.CreatedAt), after.ID, f.Suspended, f.Text, max)
	})
	return rows, err
}

// OfSlug returns the organization with a slug, nil when there is none. It reads as the platform, as Get does.
func (q OrganizationsQuery) OfSlug(ctx context.Context, slug string) (*OrganizationRow, error) {
	var row *OrganizationRow
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[OrganizationRow],
			q.Views.SQL(OrganizationsName,
				`select `+organizationColumns+` from {schema}.organizations where slug = $1`), slug)
	})
	return row, err
}

// Some returns those of some organizations that exist, in no order. It reads as the platform, as Get does.
func (q OrganizationsQuery) Some(ctx context.Context, orgs []id.Organization) ([]OrganizationRow, error) {
	var rows []OrganizationRow
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[OrganizationRow],
			q.Views.SQL(OrganizationsName,
				`select `+organizationColumns+` from {schema}.organizations where org_id = any($1)`), orgs)
	})
	return rows, err
}

// WithOldPrefixes lists the organizations of the platform that hold an invoice prefix beside their present one.
func (q OrganizationsQuery) WithOldPrefixes(ctx context.Context) ([]id.Organization, error) {
	var orgs []id.Organization
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &orgs, pgx.RowTo[id.Organization], q.Views.SQL(OrganizationsName,
			`select org_id from {schema}.organizations where cardinality(prefixes) > 1 order by org_id`))
	})
	return orgs, err
}

// OrganizationCounts counts the organizations of the platform.
type OrganizationCounts struct {
	Total     int `db:"total"`
	Suspended int `db:"suspended"`
}

// Count counts the organizations of the platform.
func (q OrganizationsQuery) Count(ctx context.Context) (c OrganizationCounts, err error) {
	err = q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.CollectOne(r, &c, pgx.RowToStructByName[OrganizationCounts], q.Views.SQL(OrganizationsName,
			`select count(*)::int as total, count(*) filter (where suspended)::int as suspended
			from {schema}.organizations`))
	})
	return c, err
}
