// Package identityviews has the read models of organizations, users and members, and the directory that every request
// asks.
package identityviews

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// OrganizationsName keys the projection's checkpoint and schemas, so it never changes.
const OrganizationsName = "identity_organizations"

// Organizations lists the organizations with their settings.
type Organizations struct{}

// organizationsDDL is compiled in from organizations.sql.
//
//go:embed organizations.sql
var organizationsDDL string

// Name keys checkpoint and schemas.
func (Organizations) Name() string { return OrganizationsName }

// Version must grow with every change to the tables or to Apply.
func (Organizations) Version() int { return 5 }

// DDL creates the tables of organizations.sql.
func (Organizations) DDL() string { return organizationsDDL }

// TenantTables are under row-level security.
func (Organizations) TenantTables() []string { return []string{"organizations"} }

// Handles lists the events that change the tables.
func (Organizations) Handles() []string {
	return []string{
		events.OrganizationCreated{}.EventType(), events.OrganizationRenamed{}.EventType(),
		events.BillingSettingsAdopted{}.EventType(), events.OrganizationSuspended{}.EventType(),
		events.OrganizationResumed{}.EventType(), events.InvoicePrefixReleased{}.EventType(),
		events.AdministratorSeated{}.EventType(), events.AdministratorReleased{}.EventType(),
		events.OrganizationLogoChosen{}.EventType(), events.OrganizationLogoRemoved{}.EventType(),
		events.SecondFactorRequired{}.EventType(), events.SecondFactorMadeOptional{}.EventType(),
	}
}

// createSQL inserts a new organization.
const createSQL = `
insert into {schema}.organizations (org_id, slug, name, billing, prefixes, created_at, revision)
values (@org, @slug, @name, @billing, array[@prefix::text], @at, @revision)
on conflict (org_id) do nothing`

// adoptedSQL has the new settings and adds their prefix to those that the organization holds.
const adoptedSQL = `
update {schema}.organizations set billing = $2, revision = $3,
	prefixes = case when $4::text = any(prefixes) then prefixes else prefixes || $4::text end
where org_id = $1`

// revisedSQL is for events that change only the revision, which If-Match is compared with.
const revisedSQL = `update {schema}.organizations set revision = $2 where org_id = $1`

// logoSQL has the hash of the picture on the documents.
const logoSQL = `update {schema}.organizations set logo = $2, revision = $3 where org_id = $1`

// requireFactorSQL says whether the staff needs a second factor.
const requireFactorSQL = `
update {schema}.organizations set second_factor_required = $2, revision = $3 where org_id = $1`

// Apply queues the statements for one event; the same event again changes nothing.
func (Organizations) Apply(w *runner.Writes, e events.Envelope) error {
	switch v := e.Event.(type) {
	case events.OrganizationCreated:
		billing, err := json.Marshal(v.Billing)
		if err != nil {
			return fmt.Errorf("marshal billing settings: %w", err)
		}
		w.Exec(createSQL, pgx.NamedArgs{
			"org": v.OrgID, "slug": v.Slug, "name": v.Name, "billing": string(billing), "at": v.CreatedAt,
			"prefix": v.Billing.InvoicePrefix, "revision": int64(e.Revision),
		})
	case events.OrganizationRenamed:
		w.Exec(`update {schema}.organizations set name = $2, revision = $3 where org_id = $1`, v.OrgID, v.Name,
			int64(e.Revision))
	case events.BillingSettingsAdopted:
		billing, err := json.Marshal(v.Billing)
		if err != nil {
			return fmt.Errorf("marshal billing settings: %w", err)
		}
		w.Exec(adoptedSQL, v.OrgID, string(billing), int64(e.Revision), v.Billing.InvoicePrefix)
	case events.InvoicePrefixReleased:
		w.Exec(`update {schema}.organizations set prefixes = array_remove(prefixes, $2), revision = $3
			where org_id = $1`, v.OrgID, v.Prefix, int64(e.Revision))
	case events.OrganizationLogoChosen:
		w.Exec(logoSQL, v.OrgID, v.Digest, int64(e.Revision))
	case events.OrganizationLogoRemoved:
		w.Exec(logoSQL, v.OrgID, "", int64(e.Revision))
	case events.SecondFactorRequired:
		w.Exec(requireFactorSQL, v.OrgID, true, int64(e.Revision))
	case events.SecondFactorMadeOptional:
		w.Exec(requireFactorSQL, v.OrgID, false, int64(e.Revision))
	case events.AdministratorSeated:
		w.Exec(revisedSQL, v.OrgID, int64(e.Revision))
	case events.AdministratorReleased:
		w.Exec(revisedSQL, v.OrgID, int64(e.Revision))
	case events.OrganizationSuspended:
		w.Exec(`update {schema}.organizations set suspended = true, revision = $2 where org_id = $1`, v.OrgID,
			int64(e.Revision))
	case events.OrganizationResumed:
		w.Exec(`update {schema}.organizations set suspended = false, revision = $2 where org_id = $1`, v.OrgID,
			int64(e.Revision))
	}
	return nil
}
