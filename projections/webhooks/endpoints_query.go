package webhooksviews

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// States of an endpoint.
const (
	Enabled  = "enabled"
	Disabled = "disabled"
)

// EndpointRow has the present settings and the state of an endpoint.
type EndpointRow struct {
	ID              id.Webhook      `db:"webhook_id"`
	OrgID           id.Organization `db:"org_id"`
	URL             string          `db:"url"`
	Types           []string        `db:"types"`
	Description     string          `db:"description"`
	State           string          `db:"state"`
	EnabledAt       *time.Time      `db:"enabled_at"` // nil = it is disabled
	EnabledPosition int64           `db:"enabled_position"`
	DisabledReason  string          `db:"disabled_reason"` // "" = it is enabled
	FailingSince    *time.Time      `db:"failing_since"`   // of one that was disabled because it failed
	Failed          int             `db:"failed"`
	StateAt         time.Time       `db:"state_at"`
	SecretRef       id.Secret       `db:"secret_ref"`
	FormerRef       id.Secret       `db:"former_ref"`
	FormerUntil     *time.Time      `db:"former_until"`
	CreatedAt       time.Time       `db:"created_at"`
	Revision        int64           `db:"revision"`
}

// Name is its description, or the host of its address: the rest of that may be a secret.
func (r EndpointRow) Name() string {
	if r.Description != "" {
		return r.Description
	}
	if u, err := url.Parse(r.URL); err == nil && u.Host != "" {
		return u.Host
	}
	return r.ID.String()
}

// Key makes the next page begin after this row.
func (r EndpointRow) Key() EndpointKey { return EndpointKey{CreatedAt: r.CreatedAt, ID: r.ID} }

// EndpointKey is a row's place in the list, newest first. The zero value starts at the newest row.
type EndpointKey struct {
	CreatedAt time.Time  `json:"c"`
	ID        id.Webhook `json:"i"`
}

// EndpointsQuery serves endpoints to their organization and to those who deliver.
type EndpointsQuery struct{ Views *runner.Views }

// endpointSelect fits EndpointRow and leaves removed endpoints out; a condition follows.
const endpointSelect = `select webhook_id, org_id, url, types, description, state, enabled_at, enabled_position,
	disabled_reason, failing_since, failed, state_at, secret_ref, former_ref, former_until, created_at, revision
	from {schema}.endpoints where state <> 'removed' and `

// Get returns one endpoint of an organization, nil when it has none with this id.
func (q EndpointsQuery) Get(ctx context.Context, org id.Organization, which id.Webhook) (row *EndpointRow, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[EndpointRow],
			q.Views.SQL(EndpointsName, endpointSelect+`org_id = $1 and webhook_id = $2`), org, which)
	})
	return row, err
}

// List returns up to max endpoints of an organization after a key, newest first.
func (q EndpointsQuery) List(
	ctx context.Context, org id.Organization, after EndpointKey, max int,
) (rows []EndpointRow, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[EndpointRow], q.Views.SQL(EndpointsName, endpointSelect+`
			org_id = $1 and ($2::timestamptz is null or (created_at, webhook_id) < ($2, $3))
			order by created_at desc, webhook_id desc limit $4`), org, null.Time(after.CreatedAt), after.ID, max)
	})
	return rows, err
}

// Failing lists the endpoints of an organization that were disabled because nothing could be delivered.
func (q EndpointsQuery) Failing(ctx context.Context, org id.Organization) (rows []EndpointRow, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[EndpointRow], q.Views.SQL(EndpointsName, endpointSelect+`
			org_id = $1 and disabled_reason = $2 order by created_at, webhook_id`), org, events.WebhookOffFailing)
	})
	return rows, err
}

// Term says which types an endpoint gets of what happened after one position of the log, up to another one.
type Term struct {
	Webhook id.Webhook      `db:"webhook_id"`
	OrgID   id.Organization `db:"org_id"`
	After   int64           `db:"after"`
	Until   *int64          `db:"until"` // nil = it still holds
	Types   []string        `db:"types"`
}

// Takes reports whether a message of a position and a type belongs to the term.
func (t Term) Takes(position int64, kind string) bool {
	return position > t.After && (t.Until == nil || position <= *t.Until) && slices.Contains(t.Types, kind)
}

// Terms lists those of all endpoints that exist and hold after a position.
func (q EndpointsQuery) Terms(ctx context.Context, after int64) (terms []Term, err error) {
	err = q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &terms, pgx.RowToStructByName[Term], q.Views.SQL(EndpointsName, `
			select t.webhook_id, t.org_id, t.after, t.until, t.types
			from {schema}.terms t join {schema}.endpoints e using (webhook_id)
			where e.state <> 'removed' and (t.until is null or t.until > $1) order by t.webhook_id, t.after`), after)
	})
	return terms, err
}

// Every lists the endpoints of all organizations.
func (q EndpointsQuery) Every(ctx context.Context) (rows []EndpointRow, err error) {
	err = q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[EndpointRow],
			q.Views.SQL(EndpointsName, endpointSelect+`true`))
	})
	return rows, err
}
