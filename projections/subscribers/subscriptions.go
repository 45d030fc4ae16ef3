package subscribersviews

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loginname"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// SubscriptionsName keys the projection's checkpoint and schemas, so it never changes.
const SubscriptionsName = "subscribers_subscriptions"

// Subscriptions lists the subscriptions with their paid time, their periods and open invoices, and the administrative
// blocks of subscribers.
type Subscriptions struct{}

// subscriptionsDDL is compiled in from subscriptions.sql.
//
//go:embed subscriptions.sql
var subscriptionsDDL string

// Name keys checkpoint and schemas.
func (Subscriptions) Name() string { return SubscriptionsName }

// Version must grow with every change to the tables or to Apply.
func (Subscriptions) Version() int { return 19 }

// DDL creates the tables of subscriptions.sql.
func (Subscriptions) DDL() string { return subscriptionsDDL }

// TenantTables are under row-level security.
func (Subscriptions) TenantTables() []string {
	return []string{"subscriptions", "terms", "subscription_periods", "extras", "blocks"}
}

// Handles lists the events that change the tables.
func (Subscriptions) Handles() []string {
	return append(events.MovingTypes(),
		events.SubscriptionCreated{}.EventType(), events.PeriodDue{}.EventType(),
		events.SubscriptionActivated{}.EventType(), events.SubscriptionPaused{}.EventType(),
		events.SubscriptionEnded{}.EventType(), events.BillingSuspended{}.EventType(),
		events.SubscriptionPlanChanged{}.EventType(),
		events.PlanChangePlanned{}.EventType(), events.PlanChangeMoved{}.EventType(),
		events.PlanChangeDropped{}.EventType(), events.ExtraAdded{}.EventType(), events.ExtraRemoved{}.EventType(),
		events.ChargesDue{}.EventType(), events.PeriodReissued{}.EventType(),
		events.SubscriptionAddressesAssigned{}.EventType(), events.SubscriptionCredentialsSet{}.EventType(),
		events.SubscriptionCredentialsShown{}.EventType(), events.PaidTimeCarriedOver{}.EventType(),
		events.SubscriberBlocked{}.EventType(), events.SubscriberUnblocked{}.EventType(),
		events.SubscriberForgotten{}.EventType(),
	)
}

// Statements of Apply on subscriptions. An invoice is at most once among the open ones, also when its event is applied
// twice.
const (
	createSubscriptionSQL = `
insert into {schema}.subscriptions
	(subscription_id, org_id, subscriber_id, plan_id, plan_version, terms, state, starts_at, username,
	username_key, username_term, password_ref, created_at, state_since, revision)
values
	(@subscription, @org, @subscriber, @plan, @version, @terms, 'pending', @starts_at, @username,
	@key, @term, @password, @at, @at, @revision)
on conflict (subscription_id) do nothing`
	activatedSQL = `
update {schema}.subscriptions set state = 'active', activated_at = $2, state_since = $2, revision = $3, carried = $4
where subscription_id = $1`
	pausedSQL = `
update {schema}.subscriptions set state = 'paused', reason = $2, state_since = $3, revision = $4, state_event = $5
where subscription_id = $1`
	resumedSQL = `
update {schema}.subscriptions
set state = 'active', reason = $2, state_since = $3, paid_until = $4, revision = $5, state_event = null
where subscription_id = $1`
	compensatedSQL = `
update {schema}.subscriptions set paid_until = $2, revision = $3 where subscription_id = $1`
	billingSuspendedSQL = `
update {schema}.subscriptions set unbilled_since = $2, revision = $3 where subscription_id = $1`
	billingResumedSQL = `
update {schema}.subscriptions set unbilled_since = null, paid_until = $2, revision = $3 where subscription_id = $1`
	endedSQL = `
update {schema}.subscriptions set state = 'ended', reason = $2, state_since = $3, revision = $4, state_event = $5,
	unbilled_since = null
where subscription_id = $1`
	assignedSQL = `
update {schema}.subscriptions
set static_ip = nullif(@ip, ''), static_ipv6_prefix = nullif(@prefix, ''), mac_addresses = @macs, routes = @routes,
	revision = @revision
where subscription_id = @subscription`
	credentialsSQL = `
update {schema}.subscriptions set username = @username, username_key = @key, username_term = @term,
	password_ref = @password, revision = @revision where subscription_id = @subscription`
	forgetSubscriptionsSQL = `
update {schema}.subscriptions
set username = null, username_key = null, username_term = null,
	static_ip = null, static_ipv6_prefix = null, mac_addresses = '{}', routes = '{}', reason = '',
	undone = undone or $2
where subscriber_id = $1`
	forgetTermsSQL = `
delete from {schema}.terms t using {schema}.subscriptions s
where t.subscription_id = s.subscription_id and s.subscriber_id = $1`
	clearTermsSQL = `delete from {schema}.terms where subscription_id = $1`
	writeTermsSQL = `
insert into {schema}.terms (org_id, term, subscription_id)
select s.org_id, t.term, s.subscription_id
from {schema}.subscriptions s,
	unnest(s.mac_addresses || s.routes || array[s.username_term, s.static_ip, s.static_ipv6_prefix]) as t (term)
where s.subscription_id = $1 and t.term <> '' on conflict do nothing`
)

// writeTerms replaces the terms that find a subscription by those of its row.
func writeTerms(w *runner.Writes, subscription id.Subscription) {
	w.Exec(clearTermsSQL, subscription)
	w.Exec(writeTermsSQL, subscription)
}

// Apply queues the statements for one event; the same event again changes nothing.
func (Subscriptions) Apply(w *runner.Writes, e events.Envelope) error {
	revision := int64(e.Revision)
	tellPaid(w, e)
	if err := applyExtras(w, e.Event, revision); err != nil {
		return err
	}
	if err := tellNext(w, e.Event); err != nil {
		return err
	}
	switch v := e.Event.(type) {
	case events.SubscriptionCreated:
		return applyCreated(w, v, revision)
	case events.PeriodDue, events.PeriodCancelled, events.PeriodReissued, events.SubscriptionExtended,
		events.PeriodWithdrawn, events.PaidTimeCarriedOver:
		applyPeriod(w, v, revision)
	case events.SubscriptionPlanChanged, events.PlanChangePlanned, events.PlanChangeMoved, events.PlanChangeDropped:
		return applyPlan(w, v, revision)
	case events.SubscriptionActivated:
		w.Exec(activatedSQL, v.SubscriptionID, v.At, revision, v.Carried)
	case events.SubscriptionPaused:
		w.Exec(pausedSQL, v.SubscriptionID, v.Reason.Reveal(), v.At, revision, e.ID)
	case events.SubscriptionResumed:
		w.Exec(resumedSQL, v.SubscriptionID, v.Reason.Reveal(), v.At, null.Time(v.PaidUntil), revision)
	case events.BillingSuspended:
		w.Exec(billingSuspendedSQL, v.SubscriptionID, v.At, revision)
	case events.BillingResumed:
		w.Exec(billingResumedSQL, v.SubscriptionID, null.Time(v.PaidUntil), revision)
	case events.SubscriptionCompensated:
		w.Exec(compensatedSQL, v.SubscriptionID, null.Time(v.PaidUntil), revision)
	case events.CompensationTakenBack:
		w.Exec(compensatedSQL, v.SubscriptionID, null.Time(v.PaidUntil), revision)
	case events.SubscriptionEnded:
		w.Exec(endedSQL, v.SubscriptionID, v.Reason.Reveal(), v.At, revision, e.ID)
	case events.SubscriptionAddressesAssigned:
		applyAddresses(w, v, revision)
	case events.SubscriptionCredentialsSet:
		applyCredentials(w, v, revision)
	case events.SubscriptionCredentialsShown:
		w.Exec(`update {schema}.subscriptions set revision = $2 where subscription_id = $1`, v.SubscriptionID, revision)
	case events.SubscriberBlocked:
		w.Exec(`insert into {schema}.blocks (subscriber_id, org_id, reason, event_id, since) values ($1, $2, $3, $4, $5)
			on conflict (subscriber_id) do nothing`, v.SubscriberID, e.Meta.OrgID, v.Reason.Reveal(), e.ID, e.Meta.At)
	case events.SubscriberUnblocked:
		w.Exec(`delete from {schema}.blocks where subscriber_id = $1`, v.SubscriberID)
	case events.SubscriberForgotten:
		w.Exec(forgetSubscriptionsSQL, v.SubscriberID, v.Undone)
		w.Exec(forgetTermsSQL, v.SubscriberID)
		w.Exec(forgetExtrasSQL, v.SubscriberID)
		w.Exec(`update {schema}.blocks set reason = '' where subscriber_id = $1`, v.SubscriberID)
	}
	place(w, e.Event)
	return nil
}

// applyAddresses queues the addresses of a subscription, and the terms that find it.
func applyAddresses(w *runner.Writes, v events.SubscriptionAddressesAssigned, revision int64) {
	w.Exec(assignedSQL, pgx.NamedArgs{
		"subscription": v.SubscriptionID, "ip": v.StaticIP.Reveal(), "prefix": v.StaticIPv6Prefix.Reveal(),
		"macs":   append([]string{}, personal.RevealAll(v.MACAddresses)...),
		"routes": append([]string{}, personal.RevealAll(v.Routes)...), "revision": revision,
	})
	writeTerms(w, v.SubscriptionID)
}

// applyCredentials queues the login of a subscription, and the terms that find it.
func applyCredentials(w *runner.Writes, v events.SubscriptionCredentialsSet, revision int64) {
	w.Exec(credentialsSQL, pgx.NamedArgs{
		"subscription": v.SubscriptionID, "username": v.Username.Reveal(), "password": v.PasswordRef,
		"key": loginname.Fold(v.Username.Reveal()), "term": usernameTerm(v.Username.Reveal()), "revision": revision,
	})
	writeTerms(w, v.SubscriptionID)
}

// applyCreated queues the row of a new subscription.
func applyCreated(w *runner.Writes, v events.SubscriptionCreated, revision int64) error {
	terms, err := json.Marshal(v.Terms)
	if err != nil {
		return fmt.Errorf("marshal terms: %w", err)
	}
	w.Exec(createSubscriptionSQL, pgx.NamedArgs{
		"subscription": v.SubscriptionID, "org": v.OrgID, "subscriber": v.SubscriberID, "plan": v.PlanID,
		"version": v.PlanVersion, "terms": string(terms), "starts_at": v.StartsAt, "username": v.Username.Reveal(),
		"password": v.PasswordRef, "at": v.CreatedAt, "revision": revision,
		"key": loginname.Fold(v.Username.Reveal()), "term": usernameTerm(v.Username.Reveal()),
	})
	writeTerms(w, v.SubscriptionID)
	return nil
}
