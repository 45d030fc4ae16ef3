package outbox

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// Reasons of events.OutboxSubscriptionActivated, part of the public contract (docs/rules/webhooks.md#activation).
const (
	reasonNew      = "new"      // service begins for the first time
	reasonRestored = "restored" // access is whole again after the walled garden or a suspension
	reasonResumed  = "resumed"  // a pause ended
)

// Statements about the services of subscriptions. A message has the position of the event that makes the service
// active: no message comes before an earlier one.
const (
	createServiceSQL = `
insert into {schema}.services (subscription_id, org_id, subscriber_id, plan_id) values ($1, $2, $3, $4)
on conflict do nothing`
	deleteServiceSQL     = `delete from {schema}.services where subscription_id = $1`
	changePlanSQL        = `update {schema}.services set plan_id = $2 where subscription_id = $1`
	setPaidUntilSQL      = `update {schema}.services set paid_until = $2 where subscription_id = $1`
	beginServiceSQL      = `update {schema}.services set begun = true where subscription_id = $1`
	carryServiceSQL      = `update {schema}.services set begun = true, announced = true where subscription_id = $1`
	restrictServiceSQL   = `update {schema}.services set restricted = true where subscription_id = $1`
	unrestrictServiceSQL = `update {schema}.services set restricted = false where subscription_id = $1`
	pauseServiceSQL      = `update {schema}.services set paused = true where subscription_id = $1`
	resumeServiceSQL     = `update {schema}.services set paused = false where subscription_id = $1`
	announceServiceSQL   = `update {schema}.services set announced = true where subscription_id = $1 and begun`

	// activatedSQL publishes that a service is active; nothing while something else still stops it. A first activation
	// is published once, the others only after it.
	activatedSQL = `
insert into {schema}.messages (position, ordinal, message_id, org_id, type, at, payload)
select @position, 0, @message, org_id, @type, @at, jsonb_build_object('subscriptionId', subscription_id,
	'subscriberId', subscriber_id, 'planId', plan_id, 'paidUntil', paid_until, 'reason', @reason::text)
from {schema}.services
where subscription_id = @subscription and begun and not restricted and not paused and announced <> (@reason = 'new')
on conflict do nothing`
)

// applyService publishes that the service of a subscription becomes active: for the first time, after dunning
// restricted it, or after a pause. A subscription that was taken over from another system had service before, so that
// its first activation is no news.
func applyService(w *runner.Writes, e events.Envelope) {
	setPaidUntil(w, e.Event)
	switch v := e.Event.(type) {
	case events.SubscriptionCreated:
		w.Exec(createServiceSQL, v.SubscriptionID, v.OrgID, v.SubscriberID, v.PlanID)
	case events.SubscriptionPlanChanged:
		w.Exec(changePlanSQL, v.SubscriptionID, v.PlanID)
	case events.SubscriptionActivated:
		if v.Carried {
			w.Exec(carryServiceSQL, v.SubscriptionID)
			return
		}
		w.Exec(beginServiceSQL, v.SubscriptionID)
	case events.SubscriptionExtended: // a prepaid service begins with its payment
		activated(w, e, v.SubscriptionID, reasonNew)
		w.Exec(announceServiceSQL, v.SubscriptionID)
	case events.PeriodDue: // a postpaid service begins with its invoice
		activated(w, e, v.SubscriptionID, reasonNew)
		w.Exec(announceServiceSQL, v.SubscriptionID)
	case events.SubscriptionPaused:
		w.Exec(pauseServiceSQL, v.SubscriptionID)
	case events.SubscriptionResumed:
		w.Exec(resumeServiceSQL, v.SubscriptionID)
		activated(w, e, v.SubscriptionID, reasonResumed)
	case events.SubscriptionEnded:
		w.Exec(deleteServiceSQL, v.SubscriptionID)
	}
}

// restrict notes that dunning has taken access, whole or but for the payment page.
func restrict(w *runner.Writes, which id.Subscription) { w.Exec(restrictServiceSQL, which) }

// restore publishes that access is whole again when the state before had taken some of it.
func restore(w *runner.Writes, e events.Envelope, which id.Subscription, before events.DunningState) {
	w.Exec(unrestrictServiceSQL, which)
	if before.Cut() {
		activated(w, e, which, reasonRestored)
	}
}

// activated publishes that a subscription's service is active.
func activated(w *runner.Writes, e events.Envelope, which id.Subscription, reason string) {
	w.Exec(activatedSQL, pgx.NamedArgs{
		"position": int64(e.Position), //nolint:gosec // positions fit
		"message":  id.Derive[id.Any]("outbox", e.ID.String()), "type": events.OutboxSubscriptionActivated,
		"at": e.Meta.At, "reason": reason, "subscription": which,
	})
}

// setPaidUntil stores until when a subscription is paid after an event that changes it.
func setPaidUntil(w *runner.Writes, e events.Event) {
	var which id.Subscription
	var until time.Time
	switch v := e.(type) {
	case events.SubscriptionExtended:
		which, until = v.SubscriptionID, v.PaidUntil
	case events.PeriodWithdrawn:
		which, until = v.SubscriptionID, v.PaidUntil
	case events.PeriodCancelled:
		which, until = v.SubscriptionID, v.PaidUntil
	case events.SubscriptionResumed:
		which, until = v.SubscriptionID, v.PaidUntil
	case events.BillingResumed:
		which, until = v.SubscriptionID, v.PaidUntil
	case events.SubscriptionCompensated:
		which, until = v.SubscriptionID, v.PaidUntil
	case events.CompensationTakenBack:
		which, until = v.SubscriptionID, v.PaidUntil
	case events.PaidTimeCarriedOver:
		which, until = v.SubscriptionID, v.PaidUntil
	default:
		return
	}
	var text *string
	if !until.IsZero() {
		at := until.UTC().Format(time.RFC3339Nano)
		text = &at
	}
	w.Exec(setPaidUntilSQL, which, text)
}
