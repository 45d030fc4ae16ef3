package identityviews

import (
	"context"
	_ "embed"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// LetterheadsName keys the projection's checkpoint and schemas, so it never changes.
const LetterheadsName = "identity_letterheads"

// Letterheads keeps the names and tax PINs that organizations have had, each from an instant on, for their documents
// (docs/rules/billing.md#documents).
type Letterheads struct{}

// letterheadsDDL is compiled in from letterheads.sql.
//
//go:embed letterheads.sql
var letterheadsDDL string

// Name keys checkpoint and schemas.
func (Letterheads) Name() string { return LetterheadsName }

// Version must grow with every change to the tables or to Apply.
func (Letterheads) Version() int { return 1 }

// DDL creates the tables of letterheads.sql.
func (Letterheads) DDL() string { return letterheadsDDL }

// TenantTables are under row-level security.
func (Letterheads) TenantTables() []string { return []string{"letterheads"} }

// Handles lists the events that change the tables.
func (Letterheads) Handles() []string {
	return []string{
		events.OrganizationCreated{}.EventType(), events.OrganizationRenamed{}.EventType(),
		events.BillingSettingsAdopted{}.EventType(),
	}
}

// Statements of Apply. A change takes over what it does not say from the row before it.
const (
	firstLetterheadSQL = `
insert into {schema}.letterheads (org_id, position, at, name, timezone, tax_pin)
values (@org, @position, @at, @name, @timezone, @pin)
on conflict do nothing`
	nextLetterheadSQL = `
insert into {schema}.letterheads (org_id, position, at, name, timezone, tax_pin)
select org_id, @position, @at, coalesce(@name, name), coalesce(@timezone, timezone), coalesce(@pin, tax_pin)
from {schema}.letterheads
where org_id = @org and position < @position order by position desc limit 1
on conflict do nothing`
)

// Apply queues the row of one event; the same event again changes nothing.
func (Letterheads) Apply(w *runner.Writes, e events.Envelope) error {
	args := pgx.NamedArgs{
		"position": int64(e.Position), "at": e.Meta.At, "name": nil, "timezone": nil, "pin": nil,
	}
	switch v := e.Event.(type) {
	case events.OrganizationCreated:
		args["org"], args["name"], args["timezone"], args["pin"] = v.OrgID, v.Name, v.Billing.Timezone, v.Billing.TaxPIN
		w.Exec(firstLetterheadSQL, args)
	case events.OrganizationRenamed:
		args["org"], args["name"] = v.OrgID, v.Name
		w.Exec(nextLetterheadSQL, args)
	case events.BillingSettingsAdopted:
		args["org"], args["timezone"], args["pin"] = v.OrgID, v.Billing.Timezone, v.Billing.TaxPIN
		w.Exec(nextLetterheadSQL, args)
	}
	return nil
}

// Letterhead names an organization on its documents from an instant on.
type Letterhead struct {
	Name     string `db:"name"`
	Timezone string `db:"timezone"` // of the dates on documents
	TaxPIN   string `db:"tax_pin"`  // "" = none
}

// LetterheadsQuery reads the letterheads of an organization.
type LetterheadsQuery struct{ Views *runner.Views }

// At gives the letterhead that an organization had at an instant; of an instant before it existed, by the clock of
// another machine, its first one. It is nil for an organization that is not shown yet.
func (q LetterheadsQuery) At(ctx context.Context, org id.Organization, at time.Time) (*Letterhead, error) {
	var row *Letterhead
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[Letterhead], q.Views.SQL(LetterheadsName, `
			select name, timezone, tax_pin from {schema}.letterheads
			where org_id = $1 and (at <= $2 or position = (
				select min(position) from {schema}.letterheads where org_id = $1
			)) order by position desc limit 1`), org, at)
	})
	return row, err
}
