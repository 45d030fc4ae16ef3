package identityviews

import (
	_ "embed"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// APIKeysName keys the projection's checkpoint and schemas, so it never changes.
const APIKeysName = "identity_api_keys"

// APIKeys lists the API keys of each organization, revoked ones included. What a key may do at a request is asked of
// the Directory.
type APIKeys struct{}

// apiKeysDDL is compiled in from api_keys.sql.
//
//go:embed api_keys.sql
var apiKeysDDL string

// Name keys checkpoint and schemas.
func (APIKeys) Name() string { return APIKeysName }

// Version must grow with every change to the table or to Apply.
func (APIKeys) Version() int { return 1 }

// DDL creates the table of api_keys.sql.
func (APIKeys) DDL() string { return apiKeysDDL }

// TenantTables are under row-level security.
func (APIKeys) TenantTables() []string { return []string{"api_keys"} }

// Handles lists the events that change the table.
func (APIKeys) Handles() []string {
	return []string{
		events.APIKeyIssued{}.EventType(), events.APIKeyRotated{}.EventType(), events.APIKeyRevoked{}.EventType(),
	}
}

// Statements of Apply. A row ignores older events, because a rotation moves a value within it.
const (
	issueKeySQL = `
insert into {schema}.api_keys
	(key_id, org_id, name, role, scopes, allowed_addresses, expires_at, created_at, created_by, secret_id, prefix,
	answers, revision)
values
	(@key, @org, @name, @role, @scopes, @addresses, @expires, @at, @by, @secret, @prefix, @by, @revision)
on conflict (key_id) do nothing`
	rotateKeySQL = `
update {schema}.api_keys set previous_prefix = case when @overlaps then prefix end,
	previous_until = case when @overlaps then @until::timestamptz end, prefix = @prefix, secret_id = @secret,
	answers = @by, rotated_at = @at, revision = @revision
where key_id = @key and revision < @revision`
	revokeKeySQL = `
update {schema}.api_keys set revoked_at = $2, revoked_by = $3, previous_prefix = null, previous_until = null,
	revision = $4
where key_id = $1 and revision < $4`
)

// Apply queues the statement for one event.
func (APIKeys) Apply(w *runner.Writes, e events.Envelope) error {
	revision := int64(e.Revision) //nolint:gosec // revisions fit
	switch v := e.Event.(type) {
	case events.APIKeyIssued:
		w.Exec(issueKeySQL, pgx.NamedArgs{
			"key": v.KeyID, "org": v.OrgID, "name": v.Name, "role": string(v.Role), "scopes": v.Scopes,
			"addresses": v.AllowedAddresses, "expires": null.Time(v.ExpiresAt), "at": v.At, "by": v.By,
			"secret": v.SecretID, "prefix": v.Prefix, "revision": revision,
		})
	case events.APIKeyRotated:
		w.Exec(rotateKeySQL, pgx.NamedArgs{
			"key": v.KeyID, "secret": v.SecretID, "prefix": v.Prefix, "overlaps": v.Overlaps(),
			"until": v.PreviousUntil, "by": v.By, "at": v.At, "revision": revision,
		})
	case events.APIKeyRevoked:
		w.Exec(revokeKeySQL, v.KeyID, v.At, v.By, revision)
	}
	return nil
}
