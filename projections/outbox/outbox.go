// Package outbox holds the integration events that the platform publishes, in the order of the log. A message is
// published through Watermill's Publisher into the table, in the transaction that moves the checkpoint: each message is
// stored exactly once, and never before an earlier one. Source: docs/rules/webhooks.md#outbox.
package outbox

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Name keys the projection's checkpoint and schemas, so it never changes.
const Name = "outbox"

// DriftDetected is the type of the message about a service whose router differs from the applied state.
const DriftDetected = "nas.service.drift_detected"

// SetupDriftDetected is the type of the message about a router whose setup differs from the desired one.
const SetupDriftDetected = "nas.device.setup_drift_detected"

// WalledGarden is the type of the message about a customer who reaches only the payment page from now on.
const WalledGarden = "dunning.walled_garden"

// Suspended is the type of the message about a customer who has no access from now on.
const Suspended = "subscription.suspended"

// Outbox turns events into messages for the outside.
type Outbox struct{}

// ddl is compiled in from outbox.sql.
//
//go:embed outbox.sql
var ddl string

// Name keys checkpoint and schemas.
func (Outbox) Name() string { return Name }

// Version must grow with every change to the tables or to Apply.
func (Outbox) Version() int { return 5 }

// DDL creates the tables of outbox.sql.
func (Outbox) DDL() string { return ddl }

// TenantTables are under row-level security.
func (Outbox) TenantTables() []string { return []string{"messages"} }

// Handles lists the events that change the tables.
func (Outbox) Handles() []string {
	return []string{
		events.ServiceDriftDetected{}.EventType(), events.DeviceSetupDrifted{}.EventType(),
		events.WalledGardenEntered{}.EventType(), events.ServiceSuspended{}.EventType(),
		events.WriteOffProposed{}.EventType(),
	}
}

// driftData is the JSON payload of DriftDetected, part of the public contract.
type driftData struct {
	ServiceID   id.Service               `json:"serviceId"`
	DeviceID    id.Device                `json:"deviceId"`
	FirstSeenAt time.Time                `json:"firstSeenAt"`
	Resources   []events.DriftedResource `json:"resources"`
	Hash        string                   `json:"hash"`
}

// setupDriftData is the JSON payload of SetupDriftDetected, part of the public contract. No secret is in it.
type setupDriftData struct {
	DeviceID    id.Device                `json:"deviceId"`
	FirstSeenAt time.Time                `json:"firstSeenAt"`
	Resources   []events.DriftedResource `json:"resources"`
	Hash        string                   `json:"hash"`
}

// dunningData is the JSON payload of WalledGarden and Suspended, part of the public contract
// (docs/rules/webhooks.md#data-of-types).
type dunningData struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	PlanID         id.Plan         `json:"planId"`
	Since          time.Time       `json:"since"`
	Due            json.Number     `json:"due"` // major units, overdue when the step was decided
	Currency       money.Currency  `json:"currency"`
	InvoiceIDs     []id.Invoice    `json:"invoiceIds"` // overdue ones, the oldest due date first
}

// dunningOf is the payload about a step.
func dunningOf(s events.DunningSubject, step events.DunningStep) dunningData {
	return dunningData{
		SubscriptionID: s.SubscriptionID, SubscriberID: s.SubscriberID, PlanID: step.PlanID, Since: step.At,
		Due: step.Due.Number(), Currency: step.Due.Currency, InvoiceIDs: append([]id.Invoice{}, step.InvoiceIDs...),
	}
}

// Apply publishes a message for an event that has a meaning outside the platform.
func (Outbox) Apply(w *runner.Writes, e events.Envelope) error {
	switch v := e.Event.(type) {
	case events.ServiceDriftDetected:
		return publish(w, e, v.OrgID, DriftDetected,
			driftData{v.ServiceID, v.DeviceID, v.FirstSeenAt, v.Resources, v.Hash})
	case events.DeviceSetupDrifted:
		return publish(w, e, v.OrgID, SetupDriftDetected,
			setupDriftData{v.DeviceID, v.FirstSeenAt, v.Resources, v.Hash})
	case events.WalledGardenEntered:
		return publish(w, e, v.OrgID, WalledGarden, dunningOf(v.DunningSubject, v.DunningStep))
	case events.ServiceSuspended:
		return suspended(w, e, v.DunningSubject, v.DunningStep)
	case events.WriteOffProposed:
		return suspended(w, e, v.DunningSubject, v.DunningStep)
	}
	return nil
}

// suspended publishes that a step has taken the access of a customer; nothing when he had none before.
func suspended(w *runner.Writes, e events.Envelope, s events.DunningSubject, step events.DunningStep) error {
	if step.Before.Off() {
		return nil
	}
	return publish(w, e, s.OrgID, Suspended, dunningOf(s, step))
}

// publish queues the message of an event for an organization.
func publish(w *runner.Writes, e events.Envelope, org id.Organization, topic string, data any) error {
	msg, err := newMessage(e, org, data)
	if err != nil {
		return err
	}
	return table{w}.Publish(topic, msg)
}

// Metadata of a message, from which Publish fills the columns.
const (
	keyOrg      = "org_id"
	keyPosition = "position"
	keyAt       = "at"
)

// newMessage makes a Watermill message about an event. Its id is derived from the event's id, so that it is the same
// after every rebuild.
func newMessage(e events.Envelope, org id.Organization, data any) (*message.Message, error) {
	payload, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("write message: %w", err)
	}
	msg := message.NewMessage(id.Derive[id.Any]("outbox", e.ID.String()).String(), payload)
	msg.Metadata.Set(keyOrg, org.String())
	msg.Metadata.Set(keyPosition, strconv.FormatUint(e.Position, 10))
	msg.Metadata.Set(keyAt, e.Meta.At.UTC().Format(time.RFC3339Nano))
	return msg, nil
}

// table is a Watermill publisher into the table messages. The topic is the type of the message.
type table struct{ w *runner.Writes }

// Compile-time proof that table fits Watermill's interface.
var _ message.Publisher = table{}

// publishSQL inserts a message; a message that is there already stays.
const publishSQL = `
insert into {schema}.messages (position, ordinal, message_id, org_id, type, at, payload)
values (@position, @ordinal, @message, @org, @type, @at, @payload)
on conflict do nothing`

// Publish queues the messages; the commit of the batch of events stores them.
func (t table) Publish(topic string, messages ...*message.Message) error {
	for i, msg := range messages {
		org, err := id.Parse[id.Organization](msg.Metadata.Get(keyOrg))
		if err != nil {
			return fmt.Errorf("publish %s: %w", topic, err)
		}
		name, err := id.Parse[id.Any](msg.UUID)
		if err != nil {
			return fmt.Errorf("publish %s: %w", topic, err)
		}
		position, err := strconv.ParseInt(msg.Metadata.Get(keyPosition), 10, 64)
		if err != nil {
			return fmt.Errorf("publish %s: %w", topic, err)
		}
		at, err := time.Parse(time.RFC3339Nano, msg.Metadata.Get(keyAt))
		if err != nil {
			return fmt.Errorf("publish %s: %w", topic, err)
		}
		t.w.Exec(publishSQL, pgx.NamedArgs{
			"position": position, "ordinal": i, "message": name, "org": org, "type": topic, "at": at,
			"payload": string(msg.Payload),
		})
	}
	return nil
}

// Close does nothing: the runner sends the queued statements.
func (table) Close() error { return nil }

// Row is one message, as delivered. At is the time of the event, UTC.
type Row struct {
	Position int64           `db:"position"`
	Ordinal  int             `db:"ordinal"`
	ID       id.Any          `db:"message_id"`
	OrgID    id.Organization `db:"org_id"`
	Type     string          `db:"type"`
	At       time.Time       `db:"at"`
	Payload  json.RawMessage `db:"payload"`
}

// Query serves an organization's messages to those who deliver them.
type Query struct{ Views *runner.Views }

// Key is a message's place in the order of the log. The zero value is before the first message.
type Key struct {
	Position int64 `json:"p"`
	Ordinal  int   `json:"o"`
}

// Key makes the next page begin after this message.
func (r Row) Key() Key { return Key{Position: r.Position, Ordinal: r.Ordinal} }

// After returns up to max messages of an organization after a place, oldest first.
func (q Query) After(ctx context.Context, org id.Organization, after Key, max int) ([]Row, error) {
	var rows []Row
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[Row],
			q.Views.SQL(Name, `
			select position, ordinal, message_id, org_id, type, at, payload from {schema}.messages
			where org_id = $1 and (position, ordinal) > ($2, $3) order by position, ordinal limit $4`),
			org, after.Position, after.Ordinal, max)
	})
	return rows, err
}
