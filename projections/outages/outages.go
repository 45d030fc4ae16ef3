// Package outagesviews has the read models of outages of the network and of what customers get for them.
package outagesviews

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// OutagesName keys the projection's checkpoint and schemas, so it never changes.
const OutagesName = "outages_outages"

// Outages lists the outages of an organization, and what it wants about them.
type Outages struct{}

// outagesDDL is compiled in from outages.sql.
//
//go:embed outages.sql
var outagesDDL string

// Name keys checkpoint and schemas.
func (Outages) Name() string { return OutagesName }

// Version must grow with every change to the tables or to Apply.
func (Outages) Version() int { return 4 }

// DDL creates the tables of outages.sql.
func (Outages) DDL() string { return outagesDDL }

// TenantTables are under row-level security.
func (Outages) TenantTables() []string { return []string{"outages", "rules"} }

// Handles lists the events that change the tables.
func (Outages) Handles() []string {
	return []string{
		events.OutageBegan{}.EventType(), events.OutageExtended{}.EventType(), events.OutageNarrowed{}.EventType(),
		events.OutageAnnounced{}.EventType(), events.OutageDescribed{}.EventType(), events.OutageEnded{}.EventType(),
		events.OutageRulesAdopted{}.EventType(),
	}
}

// SQL of Apply. Each sets what the event holds, so that an event applied again changes nothing.
const (
	outageBeganSQL = `
insert into {schema}.outages
	(outage_id, org_id, device_id, service_id, tag, devices, downs, title, message, detected, started_at, expected_end,
	tell_after, begun_by, revision)
values
	(@outage, @org, @device, @service, @tag, @devices, @downs, @title, @message, @detected, @started, @expected,
	@tell, @by, @revision)
on conflict (outage_id) do nothing`
	outageExtendedSQL = `
update {schema}.outages
set devices = @devices, downs = @downs, device_id = coalesce(@root::uuid, device_id), revision = @revision
where outage_id = @outage and revision < @revision`
	outageAnnouncedSQL = `
update {schema}.outages set tell_after = @at, revision = @revision where outage_id = @outage and revision < @revision`
	outageNarrowedSQL = `
update {schema}.outages set downs = @downs, revision = @revision where outage_id = @outage and revision < @revision`
	outageDescribedSQL = `
update {schema}.outages set title = @title, message = @message, expected_end = @expected, revision = @revision
where outage_id = @outage and revision < @revision`
	outageEndedSQL = `
update {schema}.outages set ended_at = @ended, merged_into = @into, revision = @revision
where outage_id = @outage and revision < @revision`
	rulesAdoptedSQL = `
insert into {schema}.rules (org_id, rules, revision) values (@org, @rules, @revision)
on conflict (org_id) do update set rules = excluded.rules, revision = excluded.revision`
)

// Apply queues the statements for one event.
func (Outages) Apply(w *runner.Writes, e events.Envelope) error {
	revision := int64(e.Revision) //nolint:gosec // fits
	switch v := e.Event.(type) {
	case events.OutageBegan:
		w.Exec(outageBeganSQL, pgx.NamedArgs{
			"outage": v.OutageID, "org": v.OrgID, "device": v.Place.DeviceID, "service": v.Place.ServiceID,
			"tag": v.Place.Tag, "devices": deviceList(v.Devices), "downs": downList(v.Downs), "title": v.Title,
			"message": v.Message, "detected": v.Detected, "started": v.StartedAt,
			"expected": null.Time(v.ExpectedEnd), "tell": null.Time(v.TellAfter), "by": userOf(e.Meta.Actor),
			"revision": revision,
		})
	case events.OutageExtended:
		w.Exec(outageExtendedSQL, pgx.NamedArgs{
			"outage": v.OutageID, "devices": deviceList(v.Devices), "downs": downList(v.Downs), "root": v.Root,
			"revision": revision,
		})
	case events.OutageNarrowed:
		w.Exec(outageNarrowedSQL, pgx.NamedArgs{
			"outage": v.OutageID, "downs": downList(v.Downs), "revision": revision,
		})
	case events.OutageAnnounced:
		w.Exec(outageAnnouncedSQL, pgx.NamedArgs{"outage": v.OutageID, "at": v.At, "revision": revision})
	case events.OutageDescribed:
		w.Exec(outageDescribedSQL, pgx.NamedArgs{
			"outage": v.OutageID, "title": v.Title, "message": v.Message, "expected": null.Time(v.ExpectedEnd),
			"revision": revision,
		})
	case events.OutageEnded:
		w.Exec(outageEndedSQL, pgx.NamedArgs{
			"outage": v.OutageID, "ended": v.EndedAt, "into": v.MergedInto, "revision": revision,
		})
	case events.OutageRulesAdopted:
		rules, err := json.Marshal(v.Rules)
		if err != nil {
			return fmt.Errorf("marshal rules: %w", err)
		}
		w.Exec(rulesAdoptedSQL, pgx.NamedArgs{"org": v.OrgID, "rules": string(rules), "revision": revision})
	}
	return nil
}

// deviceList is never null.
func deviceList(devices []id.Device) []id.Device {
	if devices == nil {
		return []id.Device{}
	}
	return devices
}

// downList is never null.
func downList(downs events.RouterDowns) events.RouterDowns {
	if downs == nil {
		return events.RouterDowns{}
	}
	return downs
}

// userOf is the user who acted; zero when it was no user.
func userOf(a events.Actor) id.User {
	if a.Kind != events.ActorUser {
		return id.User{}
	}
	user, err := id.Parse[id.User](a.ID)
	if err != nil {
		return id.User{}
	}
	return user
}
