// Package outbox holds the integration events that the platform publishes, in the order of the log. A message is
// published through Watermill's Publisher into the table, in the transaction that moves the checkpoint: each message is
// stored exactly once, and never before an earlier one. Source: docs/rules/webhooks.md#outbox.
package outbox

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Name keys the projection's checkpoint and schemas, so it never changes.
const Name = "outbox"

// Outbox turns events into messages for the outside.
type Outbox struct{}

// ddl is compiled in from outbox.sql.
//
//go:embed outbox.sql
var ddl string

// Name keys checkpoint and schemas.
func (Outbox) Name() string { return Name }

// Version must grow with every change to the tables or to Apply.
func (Outbox) Version() int { return 8 }

// DDL creates the tables of outbox.sql.
func (Outbox) DDL() string { return ddl }

// TenantTables are under row-level security.
func (Outbox) TenantTables() []string { return []string{"messages", "attempts", "services"} }

// Handles lists the events that change the tables.
func (Outbox) Handles() []string {
	return []string{
		events.ServiceDriftDetected{}.EventType(), events.DeviceSetupDrifted{}.EventType(),
		events.DunningBegan{}.EventType(), events.WalledGardenEntered{}.EventType(),
		events.ServiceSuspended{}.EventType(), events.WriteOffProposed{}.EventType(), events.DunningEnded{}.EventType(),
		events.InvoiceIssued{}.EventType(),
		events.PaymentInitiated{}.EventType(), events.PaymentSucceeded{}.EventType(),
		events.PaymentCancelled{}.EventType(), events.PaymentFailed{}.EventType(), events.PaymentExpired{}.EventType(),
		events.ReceiptMatched{}.EventType(),
		events.SubscriptionCreated{}.EventType(), events.SubscriptionPlanChanged{}.EventType(),
		events.SubscriptionActivated{}.EventType(), events.SubscriptionExtended{}.EventType(),
		events.PeriodDue{}.EventType(), events.PeriodWithdrawn{}.EventType(), events.PeriodCancelled{}.EventType(),
		events.PaidTimeCarriedOver{}.EventType(), events.SubscriptionCompensated{}.EventType(),
		events.CompensationTakenBack{}.EventType(), events.BillingResumed{}.EventType(),
		events.SubscriptionPaused{}.EventType(), events.SubscriptionResumed{}.EventType(),
		events.SubscriptionEnded{}.EventType(),
		events.CpeClaimed{}.EventType(), events.CpeAssigned{}.EventType(),
	}
}

// driftData is the JSON payload of events.OutboxServiceDrifted, part of the public contract.
type driftData struct {
	ServiceID   id.Service               `json:"serviceId"`
	DeviceID    id.Device                `json:"deviceId"`
	FirstSeenAt time.Time                `json:"firstSeenAt"`
	Resources   []events.DriftedResource `json:"resources"`
	Hash        string                   `json:"hash"`
}

// setupDriftData is the JSON payload of events.OutboxSetupDrifted, part of the public contract. No secret is in it.
type setupDriftData struct {
	DeviceID    id.Device                `json:"deviceId"`
	FirstSeenAt time.Time                `json:"firstSeenAt"`
	Resources   []events.DriftedResource `json:"resources"`
	Hash        string                   `json:"hash"`
}

// dunningData is the JSON payload of events.OutboxWalledGarden and events.OutboxSubscriptionSuspended, part of the
// public contract (docs/rules/webhooks.md#data-of-types).
type dunningData struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	PlanID         id.Plan         `json:"planId"`
	Since          time.Time       `json:"since"`
	Due            json.Number     `json:"due"` // major units, overdue when the step was decided
	Currency       money.Currency  `json:"currency"`
	InvoiceIDs     []id.Invoice    `json:"invoiceIds"` // overdue ones, the oldest due date first
}

// invoiceData is the JSON payload of events.OutboxInvoiceCreated, part of the public contract.
type invoiceData struct {
	InvoiceID    id.Invoice     `json:"invoiceId"`
	Number       string         `json:"number"`
	SubscriberID id.Subscriber  `json:"subscriberId"`
	Total        json.Number    `json:"total"` // major units, tax included
	Currency     money.Currency `json:"currency"`
	DueDate      calendar.Date  `json:"dueDate"` // the organization's local date
}

// cpeData is the JSON payload of events.OutboxCpeClaimed and events.OutboxCpeAssigned, part of the public contract
// (docs/rules/webhooks.md#data-of-types).
type cpeData struct {
	DeviceID     id.CPE          `json:"deviceId"`
	OrgID        id.Organization `json:"orgId"`
	SubscriberID id.Subscriber   `json:"subscriberId"` // null = only the organization is known
	Actor        cpeActor        `json:"actor"`
}

// cpeActor is who claimed or assigned a CPE.
type cpeActor struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
	Role string `json:"role"`
}

// cpeOf is the payload about a claim, and about an assignment, which says the same.
func cpeOf(v events.CpeClaimed, by events.Actor) cpeData {
	return cpeData{v.CpeID, v.OrgID, v.SubscriberID, cpeActor{string(by.Kind), by.ID, by.Role}}
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
		return publish(w, e, v.OrgID, events.OutboxServiceDrifted,
			driftData{v.ServiceID, v.DeviceID, v.FirstSeenAt, v.Resources, v.Hash})
	case events.DeviceSetupDrifted:
		return publish(w, e, v.OrgID, events.OutboxSetupDrifted,
			setupDriftData{v.DeviceID, v.FirstSeenAt, v.Resources, v.Hash})
	case events.DunningBegan:
		restore(w, e, v.SubscriptionID, v.Before)
	case events.DunningEnded:
		restore(w, e, v.SubscriptionID, v.Before)
	case events.WalledGardenEntered:
		restrict(w, v.SubscriptionID)
		return publish(w, e, v.OrgID, events.OutboxWalledGarden, dunningOf(v.DunningSubject, v.DunningStep))
	case events.ServiceSuspended:
		return suspended(w, e, v.DunningSubject, v.DunningStep)
	case events.WriteOffProposed:
		return suspended(w, e, v.DunningSubject, v.DunningStep)
	case events.InvoiceIssued:
		return publish(w, e, v.OrgID, events.OutboxInvoiceCreated, invoiceData{
			v.InvoiceID, v.Number, v.SubscriberID, v.Total.Number(), v.Total.Currency, v.DueOn,
		})
	case events.CpeClaimed:
		return publish(w, e, v.OrgID, events.OutboxCpeClaimed, cpeOf(v, e.Meta.Actor))
	case events.CpeAssigned:
		return publish(w, e, v.OrgID, events.OutboxCpeAssigned, cpeOf(events.CpeClaimed(v), e.Meta.Actor))
	}
	if err := applyPayment(w, e); err != nil {
		return err
	}
	applyService(w, e)
	return nil
}

// suspended publishes that a step has taken the access of a customer; nothing when he had none before.
func suspended(w *runner.Writes, e events.Envelope, s events.DunningSubject, step events.DunningStep) error {
	restrict(w, s.SubscriptionID)
	if step.Before.Off() {
		return nil
	}
	return publish(w, e, s.OrgID, events.OutboxSubscriptionSuspended, dunningOf(s, step))
}

// publish queues the message of an event for an organization.
func publish(w *runner.Writes, e events.Envelope, org id.Organization, topic string, data any) error {
	return publishOf(w, e, subject{org, id.Derive[id.Any]("outbox", e.ID.String())}, topic, data)
}

// subject says whose message it is, and its id: a second one with that id is not stored.
type subject struct {
	org id.Organization
	id  id.Any
}

// publishOf queues a message about an event.
func publishOf(w *runner.Writes, e events.Envelope, of subject, topic string, data any) error {
	msg, err := newMessage(e, of, data)
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

// newMessage makes a Watermill message about an event. Its id follows from the event, so that it is the same after
// every rebuild.
func newMessage(e events.Envelope, of subject, data any) (*message.Message, error) {
	payload, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("write message: %w", err)
	}
	msg := message.NewMessage(of.id.String(), payload)
	msg.Metadata.Set(keyOrg, of.org.String())
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
