package outbox

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// startData is the JSON payload of events.OutboxSubscriptionActivated, but for paidUntil, which a later event has
// (docs/rules/webhooks.md#data-of-types).
type startData struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	SubscriberID   id.Subscriber   `json:"subscriberId"`
	PlanID         id.Plan         `json:"planId"`
}

// Statements about subscriptions whose service has not begun. The message has the place of the event that completes
// it: no message comes before an earlier one.
const (
	startingSQL = `
insert into {schema}.starting (subscription_id, org_id, payload) values ($1, $2, $3) on conflict do nothing`
	startPlanSQL = `
update {schema}.starting set payload = payload || jsonb_build_object('planId', $2::uuid) where subscription_id = $1`
	begunSQL = `
update {schema}.starting set begun = true where subscription_id = $1`
	startedSQL = `
with gone as (
	delete from {schema}.starting where subscription_id = @subscription and begun returning org_id, payload
)
insert into {schema}.messages (position, ordinal, message_id, org_id, type, at, payload)
select @position, 0, @message, org_id, @type, @at, payload || jsonb_build_object('paidUntil', @until::text) from gone
on conflict do nothing`
	startOverSQL = `delete from {schema}.starting where subscription_id = $1`
)

// applyStart publishes that service of a subscription begins. One that was taken over from another system had service
// before: it is no news.
func applyStart(w *runner.Writes, e events.Envelope) error {
	switch v := e.Event.(type) {
	case events.SubscriptionCreated:
		payload, err := json.Marshal(startData{v.SubscriptionID, v.SubscriberID, v.PlanID})
		if err != nil {
			return fmt.Errorf("note subscription: %w", err)
		}
		w.Exec(startingSQL, v.SubscriptionID, v.OrgID, string(payload))
	case events.SubscriptionPlanChanged:
		w.Exec(startPlanSQL, v.SubscriptionID, v.PlanID)
	case events.SubscriptionActivated:
		if v.Carried {
			w.Exec(startOverSQL, v.SubscriptionID)
			return nil
		}
		w.Exec(begunSQL, v.SubscriptionID)
	case events.SubscriptionExtended: // a prepaid one begins with its payment
		started(w, e, v.SubscriptionID, v.PaidUntil)
	case events.PeriodDue: // a postpaid one with its invoice
		started(w, e, v.SubscriptionID, time.Time{})
	case events.SubscriptionEnded:
		w.Exec(startOverSQL, v.SubscriptionID)
	}
	return nil
}

// started publishes the beginning of a subscription that has just begun; zero = nothing is paid ahead.
func started(w *runner.Writes, e events.Envelope, which id.Subscription, until time.Time) {
	var paid *string
	if !until.IsZero() {
		text := until.UTC().Format(time.RFC3339Nano)
		paid = &text
	}
	w.Exec(startedSQL, pgx.NamedArgs{
		"position": int64(e.Position), //nolint:gosec // positions fit
		"message":  id.Derive[id.Any]("outbox", e.ID.String()), "type": events.OutboxSubscriptionActivated,
		"at": e.Meta.At, "until": paid, "subscription": which,
	})
}
