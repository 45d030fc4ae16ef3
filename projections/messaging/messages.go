// Package messagingviews has the read model of messages to customers.
package messagingviews

import (
	_ "embed"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// MessagesName keys the projection's checkpoint and schemas, so it never changes.
const MessagesName = "messaging_messages"

// Messages has one row for each message that was asked for.
type Messages struct{}

// messagesDDL is compiled in from messages.sql.
//
//go:embed messages.sql
var messagesDDL string

// Name keys checkpoint and schemas.
func (Messages) Name() string { return MessagesName }

// Version must grow with every change to the tables or to Apply.
func (Messages) Version() int { return 5 }

// DDL creates the tables of messages.sql.
func (Messages) DDL() string { return messagesDDL }

// TenantTables are under row-level security.
func (Messages) TenantTables() []string { return []string{"messages"} }

// Handles lists the events that change the table.
func (Messages) Handles() []string {
	return []string{
		events.MessageQueued{}.EventType(), events.MessageAddressed{}.EventType(), events.MessageSent{}.EventType(),
		events.MessageFailed{}.EventType(), events.MessageDropped{}.EventType(), events.MessageDoubted{}.EventType(),
		events.MessageDelivered{}.EventType(), events.MessageUndelivered{}.EventType(),
		events.SubscriberForgotten{}.EventType(),
	}
}

// Statements of Apply.
const (
	queuedSQL = `
insert into {schema}.messages
	(message_id, org_id, subscriber_id, subscription_id, at, template, state, state_at, outage_id)
values (@message, @org, @subscriber, @subscription, @at, @template, 'queued', @at, @outage)
on conflict (message_id) do update set -- it was dropped
	subscription_id = @subscription, template = @template, channel = null, address = null, back = null,
	state = 'queued', code = '', state_at = @at`
	addressedSQL = `
update {schema}.messages set channel = $2, address = $3, state = 'sending', code = '', reference = null,
	back = $4::text, state_at = $5
where message_id = $1
	and (state in ('queued', 'sending') or $4::text is not null and state in ('sent', 'undelivered'))`
	sentSQL = `
update {schema}.messages set state = 'sent', code = '', reference = $2, cost = $3, state_at = $4
where message_id = $1`
	endedSQL  = `update {schema}.messages set state = $2, code = $3, state_at = $4 where message_id = $1`
	forgetSQL = `update {schema}.messages set address = null where subscriber_id = $1`
)

// Apply queues the statement for one event; the same event again changes nothing.
func (Messages) Apply(w *runner.Writes, e events.Envelope) error {
	switch v := e.Event.(type) {
	case events.MessageQueued:
		w.Exec(queuedSQL, pgx.NamedArgs{
			"message": v.MessageID, "org": v.OrgID, "subscriber": v.SubscriberID, "subscription": v.SubscriptionID,
			"at": v.At, "template": string(v.Template), "outage": v.OutageID,
		})
	case events.MessageAddressed:
		var to *string
		if !v.To.Erased() {
			text := v.To.Reveal()
			to = &text
		}
		w.Exec(addressedSQL, v.MessageID, string(v.Channel), to, null.Of(v.Back), v.At)
	case events.MessageSent:
		w.Exec(sentSQL, v.MessageID, null.Of(v.Reference), null.Of(v.Cost), v.At)
	case events.MessageDoubted:
		w.Exec(endedSQL, v.MessageID, "in_doubt", "", v.At)
	case events.MessageDelivered:
		w.Exec(endedSQL, v.MessageID, "delivered", "", v.At)
	case events.MessageUndelivered:
		w.Exec(endedSQL, v.MessageID, "undelivered", v.Reason, v.At)
	case events.MessageFailed:
		w.Exec(endedSQL, v.MessageID, "failed", v.Code, v.At)
	case events.MessageDropped:
		w.Exec(endedSQL, v.MessageID, "dropped", v.Code, v.At)
	case events.SubscriberForgotten:
		w.Exec(forgetSQL, v.SubscriberID)
	}
	return nil
}
