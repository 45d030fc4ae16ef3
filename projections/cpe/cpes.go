// Package cpeviews has the read models of the equipment in customers' homes.
package cpeviews

import (
	_ "embed"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// CPEsName keys the projection's checkpoint and schemas, so it never changes.
const CPEsName = "cpe_devices"

// CPEs lists the CPEs of organizations and those that wait to be claimed, and has what a CPE is told when it is
// identified: one read of one model answers it.
type CPEs struct{}

// cpesDDL is compiled in from cpes.sql.
//
//go:embed cpes.sql
var cpesDDL string

// Name keys checkpoint and schemas.
func (CPEs) Name() string { return CPEsName }

// Version must grow with every change to the tables or to Apply.
func (CPEs) Version() int { return 3 }

// DDL creates the tables of cpes.sql.
func (CPEs) DDL() string { return cpesDDL }

// TenantTables are under row-level security, which hides pending CPEs from all organizations.
func (CPEs) TenantTables() []string {
	return []string{"cpes", "firmware", "lines", "plans", "organizations"}
}

// Handles lists the events that change the tables.
func (CPEs) Handles() []string {
	return []string{
		events.CpeIdentified{}.EventType(), events.CpeDetailsLearned{}.EventType(), events.CpeClaimed{}.EventType(),
		events.CpeAssigned{}.EventType(), events.CpeDescribed{}.EventType(),
		events.CpeSubscriberAssigned{}.EventType(), events.CpeSubscriberRemoved{}.EventType(),
		events.CpeReleased{}.EventType(), events.CpeSignInProven{}.EventType(), events.CpeSignInEnded{}.EventType(),
		events.SubscriptionCreated{}.EventType(), events.SubscriptionCredentialsSet{}.EventType(),
		events.SubscriptionPlanChanged{}.EventType(), events.SubscriptionEnded{}.EventType(),
		events.SubscriberForgotten{}.EventType(), events.PlanCreated{}.EventType(),
		events.OrganizationCreated{}.EventType(),
	}
}

// Statements about CPEs. Each is guarded by the revision, so that an event which was applied before changes nothing,
// and no count twice.
const (
	identifiedSQL = `
insert into {schema}.cpes (cpe_id, serial_number, serial_upper, oui, product_class, first_seen, revision)
values (@cpe, @serial, @upper, @oui, @class, @at, @revision) on conflict (cpe_id) do nothing`
	// A version that nobody has any more stays with a count of none, and is not shown.
	detailsSQL = `
with former as (
	select org_id, firmware from {schema}.cpes where cpe_id = @cpe and revision < @revision
), present as (
	update {schema}.cpes set manufacturer = @manufacturer, model = @model, firmware = @firmware, revision = @revision
	where cpe_id = @cpe and revision < @revision
)
insert into {schema}.firmware as f (org_id, version, cpes)
select org_id, version, sum(n) from (
	select org_id, firmware as version, -1 as n from former union all select org_id, @firmware, 1 from former
) changed where org_id is not null group by org_id, version
on conflict (org_id, version) do update set cpes = f.cpes + excluded.cpes`
	claimedSQL = `
with taken as (
	update {schema}.cpes set org_id = @org, subscriber_id = @subscriber, subscription_id = @subscription,
		claimed_at = @at, revision = @revision
	where cpe_id = @cpe and revision < @revision returning firmware
)
insert into {schema}.firmware as f (org_id, version, cpes) select @org, firmware, 1 from taken
on conflict (org_id, version) do update set cpes = f.cpes + 1`
	releasedSQL = `
with given as (
	update {schema}.cpes set org_id = null, subscriber_id = null, subscription_id = null, claimed_at = null,
		label = null, location = null, sign_in = sign_in + 1, sign_in_proven = false, revision = @revision
	where cpe_id = @cpe and revision < @revision returning firmware
)
insert into {schema}.firmware as f (org_id, version, cpes) select @org, firmware, -1 from given
on conflict (org_id, version) do update set cpes = f.cpes - 1`
	describedSQL = `
update {schema}.cpes set label = $3, location = $4, revision = $2 where cpe_id = $1 and revision < $2`
	assignedSQL = `
update {schema}.cpes set subscriber_id = $3, subscription_id = $4, revision = $2
where cpe_id = $1 and revision < $2`
	removedSQL = `
update {schema}.cpes set subscriber_id = null, subscription_id = null, label = null, location = null, revision = $2
where cpe_id = $1 and revision < $2`
	provenSQL = `
update {schema}.cpes set sign_in_proven = true, revision = $2 where cpe_id = $1 and revision < $2`
	signInEndedSQL = `
update {schema}.cpes set sign_in = sign_in + 1, sign_in_proven = false, revision = $2
where cpe_id = $1 and revision < $2`
	forgetSQL = `update {schema}.cpes set label = null, location = null where subscriber_id = $1`
)

// Statements about logins, plans and organizations. Applied again in their order they end alike.
const (
	lineSQL = `
insert into {schema}.lines (subscription_id, org_id, subscriber_id, plan_id, username, password_ref)
values (@subscription, @org, @subscriber, @plan, @username, @ref) on conflict (subscription_id) do nothing`
	loginSQL       = `update {schema}.lines set username = $2, password_ref = $3 where subscription_id = $1`
	linePlanSQL    = `update {schema}.lines set plan_id = $2 where subscription_id = $1`
	lineEndedSQL   = `update {schema}.lines set ended = true where subscription_id = $1`
	forgetLinesSQL = `update {schema}.lines set username = null where subscriber_id = $1`
	planSQL        = `
insert into {schema}.plans (plan_id, org_id, code) values ($1, $2, $3) on conflict (plan_id) do nothing`
	organizationSQL = `
insert into {schema}.organizations (org_id, slug) values ($1, $2) on conflict (org_id) do nothing`
)

// Apply queues the statements for one event.
func (CPEs) Apply(w *runner.Writes, e events.Envelope) error {
	revision := int64(e.Revision) //nolint:gosec // fits
	switch v := e.Event.(type) {
	case events.CpeIdentified:
		w.Exec(identifiedSQL, pgx.NamedArgs{
			"cpe": v.CpeID, "serial": v.Identity.SerialNumber, "upper": strings.ToUpper(v.Identity.SerialNumber),
			"oui": v.Identity.OUI, "class": v.Identity.ProductClass, "at": v.At, "revision": revision,
		})
	case events.CpeDetailsLearned:
		w.Exec(detailsSQL, pgx.NamedArgs{
			"cpe": v.CpeID, "manufacturer": v.Details.Manufacturer, "model": v.Details.Model,
			"firmware": v.Details.FirmwareVersion, "revision": revision,
		})
	case events.CpeClaimed:
		w.Exec(claimedSQL, taken(v, revision))
	case events.CpeAssigned:
		w.Exec(claimedSQL, taken(events.CpeClaimed(v), revision))
	case events.CpeDescribed:
		w.Exec(describedSQL, v.CpeID, revision, known(v.Label), known(v.Location))
	case events.CpeSubscriberAssigned:
		w.Exec(assignedSQL, v.CpeID, revision, v.SubscriberID, v.SubscriptionID)
	case events.CpeSubscriberRemoved:
		w.Exec(removedSQL, v.CpeID, revision)
	case events.CpeReleased:
		w.Exec(releasedSQL, pgx.NamedArgs{"cpe": v.CpeID, "org": v.OrgID, "revision": revision})
	case events.CpeSignInProven:
		w.Exec(provenSQL, v.CpeID, revision)
	case events.CpeSignInEnded:
		w.Exec(signInEndedSQL, v.CpeID, revision)
	default:
		applyLine(w, e.Event)
	}
	return nil
}

// taken has the arguments of a claim, and of an assignment, which says the same.
func taken(v events.CpeClaimed, revision int64) pgx.NamedArgs {
	return pgx.NamedArgs{
		"cpe": v.CpeID, "org": v.OrgID, "subscriber": v.SubscriberID, "subscription": v.SubscriptionID, "at": v.At,
		"revision": revision,
	}
}

// applyLine queues the statements for an event that says what CPEs are told.
func applyLine(w *runner.Writes, e events.Event) {
	switch v := e.(type) {
	case events.SubscriptionCreated:
		w.Exec(lineSQL, pgx.NamedArgs{
			"subscription": v.SubscriptionID, "org": v.OrgID, "subscriber": v.SubscriberID, "plan": v.PlanID,
			"username": known(v.Username), "ref": v.PasswordRef,
		})
	case events.SubscriptionCredentialsSet:
		w.Exec(loginSQL, v.SubscriptionID, known(v.Username), v.PasswordRef)
	case events.SubscriptionPlanChanged:
		w.Exec(linePlanSQL, v.SubscriptionID, v.PlanID)
	case events.SubscriptionEnded:
		w.Exec(lineEndedSQL, v.SubscriptionID)
	case events.SubscriberForgotten:
		w.Exec(forgetSQL, v.SubscriberID)
		w.Exec(forgetLinesSQL, v.SubscriberID)
	case events.PlanCreated:
		w.Exec(planSQL, v.PlanID, v.OrgID, v.Code)
	case events.OrganizationCreated:
		w.Exec(organizationSQL, v.OrgID, v.Slug)
	}
}

// known is nil for an empty text, and for one of somebody who was forgotten.
func known(t personal.Text) *string {
	text := t.Reveal()
	if t.Erased() || text == "" {
		return nil
	}
	return &text
}
