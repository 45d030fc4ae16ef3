package accessviews

import (
	_ "embed"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// DifferencesName keys the projection's checkpoint and schemas, so it never changes.
const DifferencesName = "access_differences"

// Differences has one row for each open difference between what routers show and what customers are entitled to.
type Differences struct{}

// differencesDDL is compiled in from differences.sql.
//
//go:embed differences.sql
var differencesDDL string

// Name keys checkpoint and schemas.
func (Differences) Name() string { return DifferencesName }

// Version must grow with every change to the tables or to Apply.
func (Differences) Version() int { return 3 }

// DDL creates the tables of differences.sql.
func (Differences) DDL() string { return differencesDDL }

// TenantTables are under row-level security.
func (Differences) TenantTables() []string { return []string{"differences"} }

// Handles lists the events that change the tables. A router that has gone shows nothing any more, also when a look that
// began before is recorded after it.
func (Differences) Handles() []string {
	return []string{
		events.AccessDifferenceOpened{}.EventType(), events.AccessDifferenceClosed{}.EventType(),
		events.DeviceDecommissioned{}.EventType(), events.SubscriberForgotten{}.EventType(),
	}
}

// Statements of Apply.
const (
	openedSQL = `
insert into {schema}.differences as d
	(difference_id, org_id, device_id, subscriber_id, subscription_id, kind, expected, actual, walled, since)
values (@id, @org, @device, @subscriber, @subscription, @kind, @expected, @actual, @walled, @since)
on conflict (difference_id) do update set subscriber_id = excluded.subscriber_id,
	subscription_id = excluded.subscription_id, expected = excluded.expected, actual = excluded.actual,
	walled = excluded.walled`
	openedGoneSQL = `
delete from {schema}.differences
where difference_id = $1 and device_id in (select device_id from {schema}.gone_routers)`
	closedSQL           = `delete from {schema}.differences where difference_id = $1`
	deviceGoneSQL       = `delete from {schema}.differences where device_id = $1`
	goneSQL             = `insert into {schema}.gone_routers (device_id) values ($1) on conflict do nothing`
	subscriberErasedSQL = `delete from {schema}.differences where subscriber_id = $1`
)

// Apply queues the statements for one event; the same event again changes nothing.
func (Differences) Apply(w *runner.Writes, e events.Envelope) error {
	switch v := e.Event.(type) {
	case events.AccessDifferenceOpened:
		w.Exec(openedSQL, pgx.NamedArgs{
			"id": v.DifferenceID, "org": v.OrgID, "device": v.DeviceID, "subscriber": v.SubscriberID,
			"subscription": v.SubscriptionID, "kind": string(v.Kind), "expected": v.Expected,
			"actual": v.Actual.Reveal(), "walled": v.Walled, "since": v.Since,
		})
		w.Exec(openedGoneSQL, v.DifferenceID)
	case events.AccessDifferenceClosed:
		w.Exec(closedSQL, v.DifferenceID)
	case events.DeviceDecommissioned:
		w.Exec(deviceGoneSQL, v.DeviceID)
		w.Exec(goneSQL, v.DeviceID)
	case events.SubscriberForgotten:
		w.Exec(subscriberErasedSQL, v.SubscriberID)
	}
	return nil
}
