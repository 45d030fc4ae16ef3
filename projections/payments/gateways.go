package paymentsviews

import (
	"context"
	_ "embed"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// GatewaysName keys the projection's checkpoint and schemas, so it never changes.
const GatewaysName = "payments_gateways"

// Gateways has each organization's settings for mobile money, and the organization of each direct shortcode.
type Gateways struct{}

// gatewaysDDL is compiled in from gateways.sql.
//
//go:embed gateways.sql
var gatewaysDDL string

// Name keys checkpoint and schemas.
func (Gateways) Name() string { return GatewaysName }

// Version must grow with every change to the tables or to Apply.
func (Gateways) Version() int { return 4 }

// DDL creates the tables of gateways.sql.
func (Gateways) DDL() string { return gatewaysDDL }

// TenantTables are under row-level security.
func (Gateways) TenantTables() []string { return []string{"gateways", "shortcodes"} }

// Handles lists the events that change the tables.
func (Gateways) Handles() []string {
	return []string{
		events.GatewayConfigured{}.EventType(), events.GatewayRegistered{}.EventType(),
		events.GatewayRegistrationFailed{}.EventType(),
	}
}

// Statements of Apply on settings. An event applied again changes nothing: each compares the revision of the gateway's
// stream.
const (
	configureSQL = `
insert into {schema}.gateways as g
	(org_id, direct, environment, shortcode, credentials_ref, reject_unknown_accounts, nominated_ref, registered,
	revision)
values
	(@org, @direct, @environment, @shortcode, @credentials, @reject_unknown, @nominated, false, @revision)
on conflict (org_id) do update set
	direct = excluded.direct, environment = excluded.environment, shortcode = excluded.shortcode,
	credentials_ref = excluded.credentials_ref, reject_unknown_accounts = excluded.reject_unknown_accounts, error = '',
	nominated_ref = excluded.nominated_ref,
	registered = g.registered and g.direct = excluded.direct and g.environment = excluded.environment
		and g.shortcode = excluded.shortcode and g.credentials_ref is not distinct from excluded.credentials_ref,
	revision = excluded.revision
where g.revision < excluded.revision`
	registeredSQL = `
update {schema}.gateways set registered = true, error = '', refusal = '', refusal_code = '', refused_at = null,
	tried_at = $3, revision = $2
where org_id = $1 and revision < $2`
	unregisteredSQL = `
update {schema}.gateways set registered = false, error = @error, refusal = @error, refusal_code = @code,
	refused_at = @at, tried_at = @at, revision = @revision
where org_id = @org and revision < @revision`
	forgetTriesSQL = `
update {schema}.gateways set refusal = '', refusal_code = '', refused_at = null, tried_at = null
where org_id = @org and revision < @revision and (direct, environment, shortcode, credentials_ref)
	is distinct from (@direct, @environment, @shortcode, @credentials)`
)

// Apply queues the statements for one event. New settings with the same shortcode, environment and credentials stay
// registered with the provider, and what is known of tries stays with them.
func (Gateways) Apply(w *runner.Writes, e events.Envelope) error {
	revision := int64(e.Revision) //nolint:gosec // revisions fit
	switch v := e.Event.(type) {
	case events.GatewayConfigured:
		settings := pgx.NamedArgs{
			"org": v.OrgID, "direct": v.Direct, "environment": v.Environment, "shortcode": v.Shortcode,
			"credentials": v.CredentialsRef, "revision": revision,
		}
		w.Exec(forgetTriesSQL, maps.Clone(settings))
		settings["reject_unknown"], settings["nominated"] = v.RejectUnknownAccounts, v.NominatedRef
		w.Exec(configureSQL, settings)
		w.Exec(`update {schema}.shortcodes set active = exists (select from {schema}.gateways g
			where g.org_id = $1 and g.registered and g.shortcode = shortcodes.shortcode
				and g.environment = shortcodes.environment) where org_id = $1`, v.OrgID)
	case events.GatewayRegistered:
		w.Exec(registeredSQL, v.OrgID, revision, v.At)
		w.Exec(`insert into {schema}.shortcodes (shortcode, environment, org_id, active)
			select $1, environment, $2, true from {schema}.gateways where org_id = $2
			on conflict (shortcode, environment) do update set org_id = excluded.org_id, active = true`, v.Shortcode,
			v.OrgID)
	case events.GatewayRegistrationFailed:
		w.Exec(unregisteredSQL, pgx.NamedArgs{
			"org": v.OrgID, "error": v.Error, "code": v.Code, "at": v.At, "revision": revision,
		})
	}
	return nil
}

// GatewayRow has the settings by which one organization takes mobile money. Error is the provider's text of the last
// failed registration, "" after a success or while another try was asked for. Refusal, with its code and its instant,
// is the same text until a success or other settings: what was said last while the next try is under way.
type GatewayRow struct {
	OrgID                 id.Organization `db:"org_id"`
	Direct                bool            `db:"direct"`
	Environment           string          `db:"environment"`
	Shortcode             string          `db:"shortcode"`
	CredentialsRef        id.Secret       `db:"credentials_ref"`
	RejectUnknownAccounts bool            `db:"reject_unknown_accounts"`
	NominatedRef          id.Secret       `db:"nominated_ref"` // zero = the organization has named no phone
	Registered            bool            `db:"registered"`
	Error                 string          `db:"error"`
	Refusal               string          `db:"refusal"`
	RefusalCode           string          `db:"refusal_code"` // "" = not known
	RefusedAt             *time.Time      `db:"refused_at"`
	TriedAt               *time.Time      `db:"tried_at"` // last report of a try with these settings
	Revision              int64           `db:"revision"`
}

// Active reports whether the organization takes money on its own shortcode: it asked for that and the provider has
// registered the shortcode.
func (r GatewayRow) Active() bool { return r.Direct && r.Registered }

// ShortcodeRow names the organization of a direct shortcode. Active is false once the organization has given it up.
type ShortcodeRow struct {
	Shortcode   string          `db:"shortcode"`
	Environment string          `db:"environment"`
	OrgID       id.Organization `db:"org_id"`
	Active      bool            `db:"active"`
}

// GatewaysQuery serves settings to the organization, and owners of shortcodes to callbacks.
type GatewaysQuery struct{ Views *runner.Views }

// selectGatewaySQL reads a GatewayRow; a condition follows.
const selectGatewaySQL = `
select org_id, direct, environment, shortcode, credentials_ref, reject_unknown_accounts, nominated_ref, registered,
	error, refusal, refusal_code, refused_at, tried_at, revision
from {schema}.gateways `

// Get returns an organization's settings, nil when it never made any.
func (q GatewaysQuery) Get(ctx context.Context, org id.Organization) (*GatewayRow, error) {
	var row *GatewayRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[GatewayRow],
			q.Views.SQL(GatewaysName, selectGatewaySQL+`where org_id = $1`), org)
	})
	return row, err
}

// Active lists the settings of all organizations that take money on a shortcode of their own.
func (q GatewaysQuery) Active(ctx context.Context) ([]GatewayRow, error) {
	var rows []GatewayRow
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[GatewayRow],
			q.Views.SQL(GatewaysName, selectGatewaySQL+`where direct and registered order by org_id`))
	})
	return rows, err
}

// Shortcodes lists the owners of a direct shortcode: one for each environment, production first; none when no
// organization ever registered it.
func (q GatewaysQuery) Shortcodes(ctx context.Context, shortcode string) ([]ShortcodeRow, error) {
	var rows []ShortcodeRow
	err := q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[ShortcodeRow], q.Views.SQL(GatewaysName,
			`select shortcode, environment, org_id, active from {schema}.shortcodes where shortcode = $1
			order by environment`), shortcode)
	})
	return rows, err
}
