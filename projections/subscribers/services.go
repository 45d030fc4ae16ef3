package subscribersviews

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// serviceEvents change the services of a subscriber.
func serviceEvents() []string {
	return []string{
		events.SubscriptionCreated{}.EventType(), events.SubscriptionActivated{}.EventType(),
		events.PaidTimeCarriedOver{}.EventType(),
		events.SubscriptionExtended{}.EventType(), events.PeriodWithdrawn{}.EventType(),
		events.PeriodCancelled{}.EventType(), events.SubscriptionPaused{}.EventType(),
		events.SubscriptionResumed{}.EventType(), events.SubscriptionEnded{}.EventType(),
		events.BillingResumed{}.EventType(),
		events.SubscriptionCompensated{}.EventType(), events.SubscriptionPlanChanged{}.EventType(),
		events.CompensationTakenBack{}.EventType(),
		events.SubscriptionCredentialsSet{}.EventType(),
		events.DunningBegan{}.EventType(), events.WalledGardenEntered{}.EventType(),
		events.ServiceSuspended{}.EventType(), events.WriteOffProposed{}.EventType(),
		events.DunningEnded{}.EventType(), events.DunningReviewed{}.EventType(),
		events.CapReached{}.EventType(), events.CapReset{}.EventType(), events.CapPeriodMoved{}.EventType(),
	}
}

// Statements on services. They keep what entitlement.History keeps of the same events.
const (
	serviceSQL = `
insert into {schema}.services
	(subscription_id, org_id, subscriber_id, plan_id, plan_name, mode, state, since, username, created_at, starts_at,
	cap_then)
values
	(@subscription, @org, @subscriber, @plan, @name, @mode, 'pending', @at, @username, @at, @starts_at, @then)
on conflict (subscription_id) do nothing`
	stoodSQL   = `update {schema}.services set state = $2, since = $3 where subscription_id = $1`
	coversSQL  = `update {schema}.services set paid_until = $2 where subscription_id = $1`
	stepSQL    = `update {schema}.services set step = $2, next_step = '' where subscription_id = $1`
	expectsSQL = `update {schema}.services set next_step = $2 where subscription_id = $1`
	usedSQL    = `update {schema}.services set cap_reached = true, cap_until = $2 where subscription_id = $1`
	unusedSQL  = `update {schema}.services set cap_reached = false, cap_until = null where subscription_id = $1`
	againSQL   = `update {schema}.services set cap_until = $2 where subscription_id = $1 and cap_reached`
	// Of services that have all ended, the one that ended last is shown.
	shownSQL = `
update {schema}.services x set shown = x.state <> 'ended' or x.subscription_id = (
		select y.subscription_id from {schema}.services y where y.subscriber_id = $1
		order by y.state = 'ended', y.since desc, y.created_at desc, y.subscription_id limit 1)
where x.subscriber_id = $1`
	// Access changes with time where a service begins, its paid time ends, and a cap is counted anew.
	sumSQL = `
update {schema}.subscribers s set
	paid_until = n.paid_until, access_from = n.access_from, access_level = n.access_level
from (
	select array_agg(t.at order by t.at) as access_from, array_agg(t.level order by t.at) as access_level,
		(select min(x.paid_until) from {schema}.services x
			where x.subscriber_id = $1 and x.state = 'active' and x.mode = 'prepaid') as paid_until
	from (
		select i.at, (select max(` + levelAt + `)::smallint from {schema}.services x
			join {schema}.subscribers s on s.subscriber_id = x.subscriber_id
			where x.subscriber_id = $1 and x.shown) as level
		from (
			select '-infinity'::timestamptz as at
			union select unnest(array[x.starts_at, x.paid_until, x.cap_until]) from {schema}.services x
			where x.subscriber_id = $1 and x.shown) i
		where i.at is not null) t) n
where s.subscriber_id = $1 and (s.paid_until, s.access_from, s.access_level)
	is distinct from (n.paid_until, n.access_from, n.access_level)`
)

// levelAt is the access of a service x of a subscriber s at an instant i.at: the place of a word in SubscriberAccesses.
// It says what entitlement.Of says, so that lists can be filtered by it (docs/rules/subscribers.md#lists).
const levelAt = `case
	when s.blocked or x.state <> 'active' or (x.starts_at > x.created_at and x.starts_at > i.at) then 0
	else least(
		case when x.cap_reached and (x.cap_until is null or x.cap_until > i.at)
			then case x.cap_then when 'stop' then 0 else 2 end else 3 end,
		case
			when x.mode = 'postpaid' then
				case x.step when 'walled_garden' then 1 when 'suspended' then 0 when 'written_off' then 0 else 3 end
			when x.paid_until > i.at then 3
			when x.paid_until is null then 0
			else case case x.step when 'none' then x.next_step else x.step end
				when 'reminding' then 3 when 'walled_garden' then 1 else 0 end
		end)
	end`

// serve queues the statements of an event about a service, and what follows for the subscriber; other events queue
// nothing.
func serve(w *runner.Writes, e events.Event) {
	switch v := e.(type) {
	case events.SubscriptionEvent:
		w.Exec(sumSQL, lives(w, v))
	case events.DunningEvent:
		takesStep(w, v)
		w.Exec(sumSQL, events.SubjectOf(v).SubscriberID)
	case events.UsageEvent:
		reaches(w, v)
		w.Exec(sumSQL, events.UsageSubjectOf(v).SubscriberID)
	}
}

// lives queues the statements of an event in the life of a subscription, and names its subscriber.
func lives(w *runner.Writes, e events.SubscriptionEvent) id.Subscriber {
	switch v := e.(type) {
	case events.SubscriptionCreated:
		w.Exec(serviceSQL, pgx.NamedArgs{
			"subscription": v.SubscriptionID, "org": v.OrgID, "subscriber": v.SubscriberID, "plan": v.PlanID,
			"name": v.Terms.Name, "mode": string(v.Terms.Mode), "at": v.CreatedAt, "username": v.Username.Reveal(),
			"starts_at": v.StartsAt, "then": string(v.Terms.Access.Cap.Then),
		})
		w.Exec(shownSQL, v.SubscriberID)
		return v.SubscriberID
	case events.SubscriptionPlanChanged:
		w.Exec(`update {schema}.services set plan_id = $2, plan_name = $3, cap_then = $4 where subscription_id = $1`,
			v.SubscriptionID, v.PlanID, v.Terms.Name, string(v.Terms.Access.Cap.Then))
		return v.SubscriberID
	case events.SubscriptionCredentialsSet:
		w.Exec(`update {schema}.services set username = $2 where subscription_id = $1`, v.SubscriptionID,
			v.Username.Reveal())
		return v.SubscriberID
	case events.SubscriptionActivated:
		return stands(w, v.SubscriberID, v.SubscriptionID, "active", v.At)
	case events.SubscriptionPaused:
		return stands(w, v.SubscriberID, v.SubscriptionID, "paused", v.At)
	case events.SubscriptionEnded:
		return stands(w, v.SubscriberID, v.SubscriptionID, "ended", v.At)
	case events.SubscriptionResumed:
		w.Exec(coversSQL, v.SubscriptionID, null.Time(v.PaidUntil))
		return stands(w, v.SubscriberID, v.SubscriptionID, "active", v.At)
	case events.BillingResumed:
		w.Exec(coversSQL, v.SubscriptionID, null.Time(v.PaidUntil))
		return v.SubscriberID
	case events.PaidTimeCarriedOver:
		w.Exec(coversSQL, v.SubscriptionID, null.Time(v.PaidUntil))
		return v.SubscriberID
	case events.SubscriptionCompensated:
		w.Exec(coversSQL, v.SubscriptionID, null.Time(v.PaidUntil))
		return v.SubscriberID
	case events.CompensationTakenBack:
		w.Exec(coversSQL, v.SubscriptionID, null.Time(v.PaidUntil))
		return v.SubscriberID
	case events.SubscriptionExtended:
		w.Exec(coversSQL, v.SubscriptionID, null.Time(v.PaidUntil))
		return v.SubscriberID
	case events.PeriodWithdrawn:
		w.Exec(coversSQL, v.SubscriptionID, null.Time(v.PaidUntil))
		return v.SubscriberID
	case events.PeriodCancelled:
		if v.Ordinal > 0 { // one that was recorded without tells no paid time
			w.Exec(coversSQL, v.SubscriptionID, null.Time(v.PaidUntil))
		}
		return v.SubscriberID
	default: // the other events change no service
		return id.Subscriber{}
	}
}

// stands queues a new state of a service, and names its subscriber.
func stands(
	w *runner.Writes, of id.Subscriber, s id.Subscription, state string, since time.Time,
) id.Subscriber {
	w.Exec(stoodSQL, s, state, since)
	w.Exec(shownSQL, of)
	return of
}

// takesStep queues a step of dunning, or the one that it expects. A step forgets what was expected before it: the
// review that took the step is recorded right after it.
func takesStep(w *runner.Writes, e events.DunningEvent) {
	of := events.SubjectOf(e).SubscriptionID
	switch v := e.(type) {
	case events.DunningBegan:
		w.Exec(stepSQL, of, string(events.DunningReminding))
	case events.WalledGardenEntered:
		w.Exec(stepSQL, of, string(events.DunningWalledGarden))
	case events.ServiceSuspended:
		w.Exec(stepSQL, of, string(events.DunningSuspended))
	case events.WriteOffProposed:
		w.Exec(stepSQL, of, string(events.DunningWrittenOff))
	case events.DunningEnded:
		w.Exec(stepSQL, of, string(events.DunningNone))
	case events.DunningReviewed:
		w.Exec(expectsSQL, of, string(v.NextState))
	default: // the other events take no step
	}
}

// reaches queues that the traffic of a plan is used up, or may be used again.
func reaches(w *runner.Writes, e events.UsageEvent) {
	of := events.UsageSubjectOf(e).SubscriptionID
	switch v := e.(type) {
	case events.CapReached:
		w.Exec(usedSQL, of, null.Time(v.ResetsAt))
	case events.CapReset:
		w.Exec(unusedSQL, of)
	case events.CapPeriodMoved:
		w.Exec(againSQL, of, null.Time(v.ResetsAt))
	default: // the other events change no access
	}
}
