package cpeviews

import (
	_ "embed"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// ProvisionsName keys the projection's checkpoint and schemas, so it never changes.
const ProvisionsName = "cpe_provisions"

// Provisions has the scripts of organizations, and whether the CPE server has them.
type Provisions struct{}

// provisionsDDL is compiled in from provisions.sql.
//
//go:embed provisions.sql
var provisionsDDL string

// Name keys checkpoint and schemas.
func (Provisions) Name() string { return ProvisionsName }

// Version must grow with every change to the tables or to Apply.
func (Provisions) Version() int { return 1 }

// DDL creates the table of provisions.sql.
func (Provisions) DDL() string { return provisionsDDL }

// TenantTables are under row-level security.
func (Provisions) TenantTables() []string { return []string{"provisions"} }

// Handles lists the events that change the table.
func (Provisions) Handles() []string {
	return []string{
		events.CpeProvisionWritten{}.EventType(), events.CpeProvisionInstalled{}.EventType(),
		events.CpeProvisionRefused{}.EventType(), events.CpeProvisionRemoved{}.EventType(),
		events.CpeProvisionUninstalled{}.EventType(), events.CpeProvisionPeriodClosed{}.EventType(),
	}
}

// Statements of Apply. An event that was applied before changes nothing.
const (
	writtenSQL = `
insert into {schema}.provisions as p (provision_id, org_id, name, stored_name, tag, version, script, state, written_at,
	actor_kind, actor_id, revision)
values (@provision, @org, @name, @stored, @tag, @version, @script, 'waiting', @at, @actor_kind, @actor_id, @revision)
on conflict (provision_id) do update set version = excluded.version, script = excluded.script, state = 'waiting',
	tag = excluded.tag, written_at = excluded.written_at, settled_at = null, error_code = null, error_message = null,
	actor_kind = excluded.actor_kind, actor_id = excluded.actor_id, revision = excluded.revision
where p.revision < excluded.revision`
	takenBackSQL = `
update {schema}.provisions set version = @version, script = '', state = 'removing', settled_at = null,
	error_code = null, error_message = null, written_at = @at, actor_kind = @actor_kind, actor_id = @actor_id,
	revision = @revision
where provision_id = @provision and revision < @revision`
	settledSQL = `
update {schema}.provisions set state = @state, error_code = @code, error_message = @message, settled_at = @at,
	revision = @revision
where provision_id = @provision and revision < @revision`
	passedOnSQL = `update {schema}.provisions set revision = $2 where provision_id = $1 and revision < $2`
)

// Apply queues the statements for one event.
func (Provisions) Apply(w *runner.Writes, e events.Envelope) error {
	args := pgx.NamedArgs{"revision": int64(e.Revision)} //nolint:gosec // fits
	settled := func(of events.CpeProvisionSubject, state string, at time.Time) {
		args["provision"], args["state"], args["at"] = of.ProvisionID, state, at
		args["code"], args["message"] = nil, nil
	}
	switch v := e.Event.(type) {
	case events.CpeProvisionWritten:
		args["provision"], args["org"], args["name"], args["stored"] = v.ProvisionID, v.OrgID, v.Name, v.StoredName
		args["tag"], args["version"], args["script"], args["at"] = v.Tag, v.Version, v.Script, v.At
		args["actor_kind"], args["actor_id"] = string(e.Meta.Actor.Kind), e.Meta.Actor.ID
		w.Exec(writtenSQL, args)
		return nil
	case events.CpeProvisionRemoved:
		args["provision"], args["version"], args["at"] = v.ProvisionID, v.Version, v.At
		args["actor_kind"], args["actor_id"] = string(e.Meta.Actor.Kind), e.Meta.Actor.ID
		w.Exec(takenBackSQL, args)
		return nil
	case events.CpeProvisionPeriodClosed:
		w.Exec(passedOnSQL, v.ProvisionID, args["revision"])
		return nil
	case events.CpeProvisionInstalled:
		settled(v.CpeProvisionSubject, ProvisionInstalled, v.At)
	case events.CpeProvisionUninstalled:
		settled(v.CpeProvisionSubject, ProvisionRemoved, v.At)
	case events.CpeProvisionRefused:
		settled(v.CpeProvisionSubject, ProvisionRefused, v.At)
		args["code"], args["message"] = v.Code, v.Message
	}
	w.Exec(settledSQL, args)
	return nil
}

// States of a provision.
const (
	ProvisionWaiting   = "waiting"   // for the CPE server
	ProvisionInstalled = "installed" // the CPE server has it
	ProvisionRefused   = "refused"   // the CPE server does not take it
	ProvisionRemoving  = "removing"  // the CPE server may still have it
	ProvisionRemoved   = "removed"
)

// ProvisionStates are the values of ProvisionRow.State that are shown.
func ProvisionStates() []string {
	return []string{ProvisionWaiting, ProvisionInstalled, ProvisionRefused, ProvisionRemoving}
}

// ProvisionKey is a row's place in a list, in the order of names. The zero value starts at the first.
type ProvisionKey struct {
	Name string `json:"n"`
}

// Key makes the next page begin after this row.
func (r ProvisionRow) Key() ProvisionKey { return ProvisionKey{Name: r.Name} }
