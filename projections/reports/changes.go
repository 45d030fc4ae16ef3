// Package reportsviews has the read model of what changed in an organization while somebody was away.
package reportsviews

import (
	_ "embed"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// ChangesName keys the projection's checkpoint and schemas, so it never changes.
const ChangesName = "reports_changes"

// Changes has one row for each event that a person who was away wants to know about (docs/rules/reports.md#changes).
type Changes struct{}

// changesDDL is compiled in from changes.sql.
//
//go:embed changes.sql
var changesDDL string

// Name keys checkpoint and schemas.
func (Changes) Name() string { return ChangesName }

// Version must grow with every change to the tables or to Apply.
func (Changes) Version() int { return 1 }

// DDL creates the tables of changes.sql.
func (Changes) DDL() string { return changesDDL }

// TenantTables are under row-level security.
func (Changes) TenantTables() []string { return []string{"changes"} }

// Handles lists the events that give a row.
func (Changes) Handles() []string {
	return []string{
		events.SubscriberRegistered{}.EventType(), events.WalledGardenEntered{}.EventType(),
		events.ServiceSuspended{}.EventType(), events.WriteOffProposed{}.EventType(),
		events.DunningBegan{}.EventType(), events.DunningEnded{}.EventType(),
		events.PaymentFailed{}.EventType(), events.PaymentExpired{}.EventType(), events.MessageFailed{}.EventType(),
		events.DeviceUnreachable{}.EventType(), events.DeviceRecovered{}.EventType(),
		events.ServiceDriftDetected{}.EventType(), events.DeviceSetupDrifted{}.EventType(),
		events.ServiceApplyFailed{}.EventType(),
	}
}

// Kinds of changes, in the words of the API.
const (
	NewCustomer   = "new_customer"
	WalledGarden  = "walled_garden" // somebody who did not pay reaches the payment page alone
	Suspended     = "suspended"     // somebody who did not pay has no access
	Restored      = "restored"      // somebody who was cut has access again
	PaymentFailed = "payment_failed"
	MessageFailed = "message_failed"
	RouterDown    = "router_down"
	RouterUp      = "router_up"
	DriftFound    = "drift_found"
	ServiceFailed = "service_failed"
)

// Kinds of changes, by what they are about.
var (
	CustomerKinds = []string{NewCustomer, WalledGarden, Suspended, Restored, PaymentFailed, MessageFailed}
	NetworkKinds  = []string{RouterDown, RouterUp, DriftFound, ServiceFailed}
)

// changedSQL adds a row. An event applied again adds none, because its position is the key.
const changedSQL = `
insert into {schema}.changes
	(position, org_id, at, kind, subscriber_id, subscription_id, payment_id, message_id, device_id, service_id)
values
	(@position, @org, @at, @kind, @subscriber, @subscription, @payment, @message, @device, @service)
on conflict (position) do nothing`

// change has the columns of a row; zero ids are null in the table.
type change struct {
	kind         string
	at           time.Time
	subscriber   id.Subscriber
	subscription id.Subscription
	payment      id.Payment
	message      id.Message
	device       id.Device
	service      id.Service
}

// Apply queues the row of one event. Reminders, and failures that are tried again by themselves, have none.
func (Changes) Apply(w *runner.Writes, e events.Envelope) error {
	c := changeOf(e.Event)
	if c.kind == "" {
		return nil
	}
	w.Exec(changedSQL, pgx.NamedArgs{
		"position": int64(e.Position), //nolint:gosec // positions fit
		"org":      e.Meta.OrgID, "at": c.at, "kind": c.kind, "subscriber": c.subscriber,
		"subscription": c.subscription, "payment": c.payment, "message": c.message, "device": c.device,
		"service": c.service,
	})
	return nil
}

// changeOf gives the row of an event; one without a kind is none.
func changeOf(e events.Event) change {
	switch v := e.(type) {
	case events.SubscriberRegistered:
		return change{kind: NewCustomer, at: v.RegisteredAt, subscriber: v.SubscriberID}
	case events.DunningEvent:
		return dunned(v)
	case events.PaymentFailed:
		return change{kind: PaymentFailed, at: v.At, subscriber: v.SubscriberID, payment: v.PaymentID}
	case events.PaymentExpired:
		return change{kind: PaymentFailed, at: v.At, subscriber: v.SubscriberID, payment: v.PaymentID}
	case events.MessageFailed:
		return change{kind: MessageFailed, at: v.At, subscriber: v.SubscriberID, message: v.MessageID}
	case events.DeviceUnreachable:
		return change{kind: RouterDown, at: v.At, device: v.DeviceID}
	case events.DeviceRecovered:
		return change{kind: RouterUp, at: v.At, device: v.DeviceID}
	case events.DeviceSetupDrifted:
		return change{kind: DriftFound, at: v.At, device: v.DeviceID}
	case events.ServiceDriftDetected:
		return change{kind: DriftFound, at: v.At, device: v.DeviceID, service: v.ServiceID}
	case events.ServiceApplyFailed:
		if v.Refused { // else it is tried again by itself
			return change{kind: ServiceFailed, at: v.At, device: v.DeviceID, service: v.ServiceID}
		}
	}
	return change{}
}

// dunned gives the row of a step of dunning that cuts somebody or gives access back. Reminders do neither.
func dunned(e events.DunningEvent) change {
	var to events.DunningState
	var before events.DunningState
	var at time.Time
	switch v := e.(type) {
	case events.DunningBegan:
		to, before, at = events.DunningReminding, v.Before, v.At
	case events.WalledGardenEntered:
		to, before, at = events.DunningWalledGarden, v.Before, v.At
	case events.ServiceSuspended:
		to, before, at = events.DunningSuspended, v.Before, v.At
	case events.WriteOffProposed:
		to, before, at = events.DunningWrittenOff, v.Before, v.At
	case events.DunningEnded:
		to, before, at = events.DunningNone, v.Before, v.At
	default:
		return change{}
	}
	s := events.SubjectOf(e)
	out := change{at: at, subscriber: s.SubscriberID, subscription: s.SubscriptionID}
	switch {
	case to.Off() && !before.Off():
		out.kind = Suspended
	case to == events.DunningWalledGarden && before != to:
		out.kind = WalledGarden
	case before.Cut() && !to.Cut():
		out.kind = Restored
	}
	return out
}
