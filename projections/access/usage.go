package accessviews

import (
	_ "embed"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// UsageName keys the projection's checkpoint and schemas, so it never changes.
const UsageName = "access_usage"

// Usage has one row for each subscription that was ever used or topped up, and one for each top-up.
type Usage struct{}

// usageDDL is compiled in from usage.sql.
//
//go:embed usage.sql
var usageDDL string

// Name keys checkpoint and schemas.
func (Usage) Name() string { return UsageName }

// Version must grow with every change to the tables or to Apply.
func (Usage) Version() int { return 2 }

// DDL creates the tables of usage.sql.
func (Usage) DDL() string { return usageDDL }

// TenantTables are under row-level security.
func (Usage) TenantTables() []string { return []string{"usage", "top_ups"} }

// Handles lists the events that change the tables.
func (Usage) Handles() []string {
	return []string{
		events.FirstSessionBegan{}.EventType(), events.CapWarned{}.EventType(), events.CapReached{}.EventType(),
		events.CapReset{}.EventType(), events.CapPeriodMoved{}.EventType(), events.TopUpOrdered{}.EventType(),
		events.TopUpAdded{}.EventType(), events.InvoiceVoided{}.EventType(), events.InvoiceCancelled{}.EventType(),
		events.InvoiceWrittenOff{}.EventType(), events.SubscriberForgotten{}.EventType(),
	}
}

// Statements of Apply.
const (
	usageKnownSQL = `
insert into {schema}.usage (subscription_id, org_id, subscriber_id) values ($1, $2, $3)
on conflict (subscription_id) do nothing`
	usageRevisionSQL = `update {schema}.usage set revision = $2 where subscription_id = $1`
	firstSessionSQL  = `update {schema}.usage set first_session_at = $2 where subscription_id = $1`
	// Another period begins without what was told in the one before.
	enterPeriodSQL = `
update {schema}.usage set period = $2, starts = $3, resets_at = $4, warned_at = null, reached_at = null,
	reached_event = null, reached_then = ''
where subscription_id = $1 and (period <> $2 or starts is distinct from $3)`
	movePeriodSQL = `
update {schema}.usage set resets_at = $4 where subscription_id = $1 and period = $2 and starts = $3`
	moveTopUpsSQL = `
update {schema}.top_ups set resets_at = $4 where subscription_id = $1 and period = $2 and starts = $3`
	warnedSQL  = `update {schema}.usage set warned_at = $2 where subscription_id = $1`
	reachedSQL = `
update {schema}.usage set reached_at = $2, reached_event = $3, reached_then = $4 where subscription_id = $1`
	resetSQL = `
update {schema}.usage set reached_at = null, reached_event = null, reached_then = '' where subscription_id = $1`
	topUpSQL = `
insert into {schema}.top_ups as x (top_up_id, org_id, subscription_id, subscriber_id, bytes, period, starts, resets_at,
	reason, price_minor, currency, invoice_id, actor_kind, actor_id, at, added_at)
values (@id, @org, @subscription, @subscriber, @bytes, @period, @starts, @resets, @reason, @price, @currency, @invoice,
	@actor_kind, @actor, @at, @added)
on conflict (top_up_id) do update set added_at = coalesce(x.added_at, excluded.added_at),
	period = excluded.period, starts = excluded.starts, resets_at = excluded.resets_at`
	dropTopUpSQL = `
update {schema}.top_ups set dropped_at = $2 where invoice_id = $1 and added_at is null and dropped_at is null`
	forgetTopUpsSQL = `update {schema}.top_ups set reason = '' where subscriber_id = $1`
)

// Apply queues the statements for one event; the same event again changes nothing.
func (Usage) Apply(w *runner.Writes, e events.Envelope) error {
	switch v := e.Event.(type) {
	case events.SubscriberForgotten:
		w.Exec(forgetTopUpsSQL, v.SubscriberID)
	case events.InvoiceVoided:
		w.Exec(dropTopUpSQL, v.InvoiceID, v.At)
	case events.InvoiceCancelled:
		w.Exec(dropTopUpSQL, v.InvoiceID, v.At)
	case events.InvoiceWrittenOff:
		w.Exec(dropTopUpSQL, v.InvoiceID, v.At)
	}
	u, ok := e.Event.(events.UsageEvent)
	if !ok {
		return nil
	}
	s := events.UsageSubjectOf(u)
	w.Exec(usageKnownSQL, s.SubscriptionID, s.OrgID, s.SubscriberID)
	w.Exec(usageRevisionSQL, s.SubscriptionID, int64(e.Revision)) //nolint:gosec // revisions fit
	switch v := e.Event.(type) {
	case events.FirstSessionBegan:
		w.Exec(firstSessionSQL, s.SubscriptionID, v.BeganAt)
	case events.CapWarned:
		inPeriod(w, enterPeriodSQL, s, v.CapPeriod)
		w.Exec(warnedSQL, s.SubscriptionID, v.At)
	case events.CapReached:
		inPeriod(w, enterPeriodSQL, s, v.CapPeriod)
		w.Exec(reachedSQL, s.SubscriptionID, v.At, e.ID, string(v.Then))
	case events.CapReset:
		w.Exec(resetSQL, s.SubscriptionID)
	case events.CapPeriodMoved:
		inPeriod(w, movePeriodSQL, s, v.CapPeriod)
		inPeriod(w, moveTopUpsSQL, s, v.CapPeriod)
	case events.TopUpOrdered:
		topUp(w, e, events.TopUpAdded{
			UsageSubject: s, TopUpID: v.TopUpID, Bytes: v.Bytes, CapPeriod: v.CapPeriod, Reason: v.Reason,
			Price: v.Price, InvoiceID: v.InvoiceID, At: v.At,
		}, time.Time{})
	case events.TopUpAdded:
		inPeriod(w, enterPeriodSQL, s, v.CapPeriod)
		topUp(w, e, v, v.At)
	}
	return nil
}

// topUp queues the row of traffic that was ordered or added. A zero added says that it waits for the payment.
func topUp(w *runner.Writes, e events.Envelope, v events.TopUpAdded, added time.Time) {
	w.Exec(topUpSQL, pgx.NamedArgs{
		"id": v.TopUpID, "org": v.OrgID, "subscription": v.SubscriptionID, "subscriber": v.SubscriberID,
		"bytes": v.Bytes, "period": v.Period, "starts": v.Starts.Start(time.UTC), "resets": v.ResetsAt,
		"price": v.Price.Minor, "currency": string(v.Price.Currency), "invoice": v.InvoiceID,
		"reason": v.Reason.Reveal(), "actor_kind": string(e.Meta.Actor.Kind), "actor": e.Meta.Actor.ID, "at": v.At,
		"added": null.Time(added),
	})
}

// inPeriod queues a statement about a period of a subscription.
func inPeriod(w *runner.Writes, sql string, s events.UsageSubject, p events.CapPeriod) {
	w.Exec(sql, s.SubscriptionID, p.Period, p.Starts.Start(time.UTC), p.ResetsAt)
}
