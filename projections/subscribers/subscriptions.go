package subscribersviews

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// SubscriptionsName is the projection's durable name.
const SubscriptionsName = "subscribers_subscriptions"

// Subscriptions lists who has which plan, paid until when, and who is blocked.
type Subscriptions struct{}

//go:embed subscriptions.sql
var subscriptionsDDL string

// Name is the durable name.
func (Subscriptions) Name() string { return SubscriptionsName }

// Version is raised when tables or Apply change.
func (Subscriptions) Version() int { return 2 }

// DDL creates the tables.
func (Subscriptions) DDL() string { return subscriptionsDDL }

// TenantTables are under row-level security.
func (Subscriptions) TenantTables() []string { return []string{"subscriptions", "blocks"} }

// Handles lists the events.
func (Subscriptions) Handles() []string {
	return []string{
		events.SubscriptionCreated{}.EventType(), events.PeriodDue{}.EventType(), events.PeriodCancelled{}.EventType(),
		events.SubscriptionActivated{}.EventType(), events.SubscriptionExtended{}.EventType(),
		events.PeriodWithdrawn{}.EventType(), events.SubscriptionPaused{}.EventType(),
		events.SubscriptionResumed{}.EventType(), events.SubscriptionEnded{}.EventType(),
		events.SubscriberBlocked{}.EventType(), events.SubscriberUnblocked{}.EventType(),
		events.SubscriberForgotten{}.EventType(),
	}
}

// Apply queues the statements for one event.
func (Subscriptions) Apply(w *runner.Writes, e events.Envelope) error {
	revision := int64(e.Revision)
	switch v := e.Event.(type) {
	case events.SubscriptionCreated:
		terms, err := json.Marshal(v.Terms)
		if err != nil {
			return fmt.Errorf("marshal terms: %w", err)
		}
		w.Exec(`insert into {schema}.subscriptions (subscription_id, org_id, subscriber_id, plan_id, plan_version, terms, state, starts_at,
				username, created_at, state_since, revision)
			values ($1, $2, $3, $4, $5, $6, 'pending', $7, $8, $9, $9, $10) on conflict (subscription_id) do nothing`,
			v.SubscriptionID, v.OrgID, v.SubscriberID, v.PlanID, v.PlanVersion, string(terms), v.StartsAt,
			v.Username.Reveal(), v.CreatedAt, revision)
	case events.PeriodDue:
		w.Exec(`update {schema}.subscriptions set open_invoices = array_append(array_remove(open_invoices, $2::uuid), $2), revision = $3 where subscription_id = $1`, v.SubscriptionID, v.InvoiceID, revision)
	case events.PeriodCancelled:
		w.Exec(`update {schema}.subscriptions set open_invoices = array_remove(open_invoices, $2::uuid), revision = $3 where subscription_id = $1`,
			v.SubscriptionID, v.InvoiceID, revision)
	case events.SubscriptionActivated:
		w.Exec(`update {schema}.subscriptions set state = 'active', activated_at = $2, state_since = $2, revision = $3 where subscription_id = $1`,
			v.SubscriptionID, v.At, revision)
	case events.SubscriptionExtended:
		w.Exec(`update {schema}.subscriptions set paid_until = $2, revision = $4,
				open_invoices = array_remove(open_invoices, $3::uuid) where subscription_id = $1`,
			v.SubscriptionID, v.PaidUntil, v.InvoiceID, revision)
	case events.PeriodWithdrawn:
		w.Exec(`update {schema}.subscriptions set paid_until = $2, revision = $4,
				open_invoices = array_append(array_remove(open_invoices, $3::uuid), $3) where subscription_id = $1`,
			v.SubscriptionID, postgres.NullTime(v.PaidUntil), v.InvoiceID, revision)
	case events.SubscriptionPaused:
		w.Exec(`update {schema}.subscriptions set state = 'paused', reason = $2, state_since = $3, revision = $4 where subscription_id = $1`,
			v.SubscriptionID, v.Reason, v.At, revision)
	case events.SubscriptionResumed:
		w.Exec(`update {schema}.subscriptions set state = 'active', reason = $2, state_since = $3, paid_until = $4, revision = $5 where subscription_id = $1`,
			v.SubscriptionID, v.Reason, v.At, postgres.NullTime(v.PaidUntil), revision)
	case events.SubscriptionEnded:
		w.Exec(`update {schema}.subscriptions set state = 'ended', reason = $2, state_since = $3, revision = $4 where subscription_id = $1`,
			v.SubscriptionID, v.Reason, v.At, revision)
	case events.SubscriberBlocked:
		w.Exec(`insert into {schema}.blocks (subscriber_id, org_id, reason, event_id, since) values ($1, $2, $3, $4, $5)
			on conflict (subscriber_id) do nothing`, v.SubscriberID, e.Meta.OrgID, v.Reason, e.ID, e.Meta.At)
	case events.SubscriberUnblocked:
		w.Exec(`delete from {schema}.blocks where subscriber_id = $1`, v.SubscriberID)
	case events.SubscriberForgotten:
		w.Exec(`update {schema}.subscriptions set username = null where subscriber_id = $1`, v.SubscriberID)
	}
	return nil
}
