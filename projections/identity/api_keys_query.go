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

// APIKeyRow is an API key of an organization.
type APIKeyRow struct {
	ID               id.APIKey       `db:"key_id"`
	OrgID            id.Organization `db:"org_id"`
	Name             string          `db:"name"`
	Role             events.Role     `db:"role"`
	Scopes           []string        `db:"scopes"`            // nil = all that the role may
	AllowedAddresses []string        `db:"allowed_addresses"` // nil = from everywhere
	ExpiresAt        *time.Time      `db:"expires_at"`
	CreatedAt        time.Time       `db:"created_at"`
	CreatedBy        id.User         `db:"created_by"`
	SecretID         id.APIKeySecret `db:"secret_id"` // the present one
	Prefix           string          `db:"prefix"`
	Answers          id.User         `db:"answers"`         // who made the present secret
	RotatedAt        *time.Time      `db:"rotated_at"`      // nil = never
	PreviousPrefix   *string         `db:"previous_prefix"` // of the secret that had an overlap; nil = there is none
	PreviousUntil    *time.Time      `db:"previous_until"`
	RevokedAt        *time.Time      `db:"revoked_at"` // nil = it was not
	RevokedBy        id.User         `db:"revoked_by"`
	Revision         int64           `db:"revision"`
}

// APIKeyKey is a row's place in the list, newest first. The zero value starts at the newest row.
type APIKeyKey struct {
	CreatedAt time.Time `json:"c"`
	ID        id.APIKey `json:"i"`
}

// Key makes the next page begin after this row.
func (r APIKeyRow) Key() APIKeyKey { return APIKeyKey{CreatedAt: r.CreatedAt, ID: r.ID} }

// APIKeysQuery serves API keys to their organization.
type APIKeysQuery struct{ Views *runner.Views }

// SQL of the reads.
const (
	apiKeyColumns = `key_id, org_id, name, role, scopes, allowed_addresses, expires_at, created_at, created_by,
	secret_id, prefix, answers, rotated_at, previous_prefix, previous_until, revoked_at, revoked_by, revision`
	oneAPIKeySQL   = `select ` + apiKeyColumns + ` from {schema}.api_keys where org_id = $1 and key_id = $2`
	listAPIKeysSQL = `select ` + apiKeyColumns + ` from {schema}.api_keys
	where org_id = @org and (@since::timestamptz is null or (created_at, key_id) < (@since, @key))
	order by created_at desc, key_id desc limit @max`
	nameAPIKeysSQL = `select key_id, name from {schema}.api_keys where org_id = $1 and key_id = any($2::uuid[])`
)

// Get returns one key of an organization, nil when there is none.
func (q APIKeysQuery) Get(ctx context.Context, org id.Organization, key id.APIKey) (*APIKeyRow, error) {
	var row *APIKeyRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[APIKeyRow], q.Views.SQL(APIKeysName, oneAPIKeySQL), org,
			key)
	})
	return row, err
}

// List returns up to max keys of an organization after a place, newest first.
func (q APIKeysQuery) List(
	ctx context.Context, org id.Organization, after APIKeyKey, max int,
) ([]APIKeyRow, error) {
	var rows []APIKeyRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[APIKeyRow], q.Views.SQL(APIKeysName, listAPIKeysSQL),
			pgx.NamedArgs{"org": org, "since": null.Time(after.CreatedAt), "key": after.ID, "max": max})
	})
	return rows, err
}

// Names returns what some keys of an organization are called. Unknown ones are missing in the result.
func (q APIKeysQuery) Names(
	ctx context.Context, org id.Organization, keys []id.APIKey,
) (map[id.APIKey]string, error) {
	ids := id.Texts(keys)
	type named struct {
		ID   id.APIKey `db:"key_id"`
		Name string    `db:"name"`
	}
	var rows []named
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[named], q.Views.SQL(APIKeysName, nameAPIKeysSQL), org, ids)
	})
	names := make(map[id.APIKey]string, len(rows))
	for _, row := range rows {
		names[row.ID] = row.Name
	}
	return names, err
}
