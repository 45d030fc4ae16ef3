// Package accessviews has the read models of dunning (where each subscription stands, what it owes, and what comes
// next) and of vouchers.
package accessviews

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// DunningName keys the projection's checkpoint and schemas, so it never changes.
const DunningName = "access_dunning"

// Dunning has one row for each subscription that ever owed anything or had a hold.
type Dunning struct{}

// dunningDDL is compiled in from dunning.sql.
//
//go:embed dunning.sql
var dunningDDL string

// Name keys checkpoint and schemas.
func (Dunning) Name() string { return DunningName }

// Version must grow with every change to the tables or to Apply.
func (Dunning) Version() int { return 10 }

// DDL creates the tables of dunning.sql.
func (Dunning) DDL() string { return dunningDDL }

// TenantTables are under row-level security.
func (Dunning) TenantTables() []string { return []string{"dunning", "owed", "pauses", "short"} }

// Handles lists the events that change the table.
func (Dunning) Handles() []string {
	return []string{
		events.DunningBegan{}.EventType(), events.WalledGardenEntered{}.EventType(),
		events.ServiceSuspended{}.EventType(), events.WriteOffProposed{}.EventType(),
		events.DunningEnded{}.EventType(), events.DunningReminded{}.EventType(), events.HoldPlaced{}.EventType(),
		events.HoldLifted{}.EventType(), events.DunningClockStopped{}.EventType(),
		events.DunningClockStarted{}.EventType(), events.DunningReviewAsked{}.EventType(),
		events.DunningReviewed{}.EventType(), events.SubscriberForgotten{}.EventType(),
		events.SubscriptionCreated{}.EventType(), events.SubscriptionEnded{}.EventType(),
		events.SubscriptionPlanChanged{}.EventType(),
	}
}

// historyKept is how far back the preview of a policy can look, from the latest change of a subscription.
const historyKept = 400 * 24 * time.Hour

// Statements of Apply.
const (
	knownSQL = `
insert into {schema}.dunning (subscription_id, org_id, subscriber_id, since) values ($1, $2, $3, $4)
on conflict (subscription_id) do nothing`
	revisionSQL = `update {schema}.dunning set revision = $2 where subscription_id = $1`
	// A step forgets what was expected before it: the review that took the step is recorded right after it.
	// A proposed write-off remembers when the suspension began, which goes on when it is not proposed any more: with
	// the step before it, or with itself.
	stateSQL = `
update {schema}.dunning set
	cut_since = case when $2 = 'written_off' then
		case state when 'suspended' then since when 'written_off' then cut_since else $3 end end,
	cut_event = case when $2 = 'written_off' then
		case state when 'suspended' then event_id when 'written_off' then cut_event else $5 end end,
	since = case when $2 <> 'suspended' then $3 when state = $2 then since else coalesce(cut_since, $3) end,
	event_id = case when $2 <> 'suspended' then $5 when state = $2 then event_id else coalesce(cut_event, $5) end,
	state = $2, due_at = $4, next_state = '', next_at = null
where subscription_id = $1`
	holdSQL = `
update {schema}.dunning set hold_from = $2, hold_until = $3, hold_reason = $4 where subscription_id = $1`
	owedSQL = `
insert into {schema}.owed (subscription_id, at, org_id, paid_until, debts, position)
values (@subscription, @at, @org, @paid, @debts, @position)
on conflict (subscription_id, at) do update set
	paid_until = excluded.paid_until, debts = excluded.debts, position = excluded.position`
	// One that begins later, and that the log ends or replaces by one that began earlier, is of a clock that was ahead.
	laterPausesSQL = `delete from {schema}.pauses where subscription_id = $1 and cause = $2 and from_at > $3`
	pauseSQL       = `
insert into {schema}.pauses (subscription_id, cause, from_at, org_id, until_at) values ($1, $2, $3, $4, $5)
on conflict (subscription_id, cause, from_at) do update set until_at = excluded.until_at`
	// The row that held at the given instant stays: it says what was owed from there on.
	oldOwedSQL = `
delete from {schema}.owed where subscription_id = $1
	and at < (select max(at) from {schema}.owed where subscription_id = $1 and at <= $2)`
	shortSQL     = `insert into {schema}.short (subscription_id, org_id) values ($1, $2) on conflict do nothing`
	notShortSQL  = `delete from {schema}.short where subscription_id = $1`
	oldPausesSQL = `delete from {schema}.pauses where subscription_id = $1 and until_at < $2`
	reviewedSQL  = `
update {schema}.dunning set paid_until = $2, debts = $3, next_state = $4, next_at = $5 where subscription_id = $1`
)

// Apply queues the statements for one event; the same event again changes nothing.
func (Dunning) Apply(w *runner.Writes, e events.Envelope) error {
	switch v := e.Event.(type) {
	case events.SubscriberForgotten:
		w.Exec(`update {schema}.dunning set hold_reason = '' where subscriber_id = $1`, v.SubscriberID)
	case events.SubscriptionCreated:
		if v.Terms.EndsWithPaidTime() {
			w.Exec(shortSQL, v.SubscriptionID, v.OrgID)
		}
	case events.SubscriptionPlanChanged:
		if v.Terms.EndsWithPaidTime() {
			w.Exec(shortSQL, v.SubscriptionID, v.OrgID)
		} else {
			w.Exec(notShortSQL, v.SubscriptionID)
		}
	case events.SubscriptionEnded: // nothing can be on hold, moved or lifted there any more
		w.Exec(holdSQL, v.SubscriptionID, nil, nil, "")
	case events.DunningEvent:
		return followed(w, v, e)
	}
	return nil
}

// followed queues the statements for an event of dunning.
func followed(w *runner.Writes, d events.DunningEvent, e events.Envelope) error {
	s := events.SubjectOf(d)
	w.Exec(knownSQL, s.SubscriptionID, s.OrgID, s.SubscriberID, e.Meta.At)
	w.Exec(revisionSQL, s.SubscriptionID, int64(e.Revision)) //nolint:gosec // revisions fit
	switch v := d.(type) {
	case events.DunningBegan:
		step(w, s, events.DunningReminding, v.DunningStep, e.ID)
	case events.WalledGardenEntered:
		step(w, s, events.DunningWalledGarden, v.DunningStep, e.ID)
	case events.ServiceSuspended:
		step(w, s, events.DunningSuspended, v.DunningStep, e.ID)
	case events.WriteOffProposed:
		step(w, s, events.DunningWrittenOff, v.DunningStep, e.ID)
	case events.DunningEnded:
		step(w, s, events.DunningNone, events.DunningStep{At: v.At}, id.Event{})
	case events.HoldPlaced:
		w.Exec(holdSQL, s.SubscriptionID, v.From, v.Until, v.Reason.Reveal())
		pause(w, s, "", v.From, v.Until)
	case events.HoldLifted:
		w.Exec(holdSQL, s.SubscriptionID, nil, nil, "")
		pause(w, s, "", v.From, v.At)
	case events.DunningClockStopped:
		pause(w, s, v.Cause, v.From, time.Time{})
	case events.DunningClockStarted:
		pause(w, s, v.Cause, v.From, v.Until)
	case events.DunningReviewed:
		return reviewed(w, v, e.Position)
	case events.DunningReminded, events.DunningReviewAsked, events.DunningPeriodClosed: // no rows of their own
	}
	return nil
}

// pause queues a time in which the clock stood still; a zero until = it has not ended.
func pause(w *runner.Writes, s events.DunningSubject, cause string, from, until time.Time) {
	w.Exec(laterPausesSQL, s.SubscriptionID, cause, from)
	w.Exec(pauseSQL, s.SubscriptionID, cause, from, s.OrgID, null.Time(until))
}

// step queues a new state and the event that recorded it, a zero one for the state none.
func step(
	w *runner.Writes, s events.DunningSubject, to events.DunningState, at events.DunningStep, recorded id.Event,
) {
	w.Exec(stateSQL, s.SubscriptionID, string(to), at.At, null.Time(at.DueAt), recorded)
}

// reviewed queues what is owed and what comes next, by the event at a position of the log.
func reviewed(w *runner.Writes, v events.DunningReviewed, position uint64) error {
	debts, err := json.Marshal(append([]events.DunningDebt{}, v.Owed.Debts...))
	if err != nil {
		return fmt.Errorf("write debts: %w", err)
	}
	w.Exec(owedSQL, pgx.NamedArgs{
		"subscription": v.SubscriptionID, "at": v.Owed.At, "org": v.OrgID, "paid": null.Time(v.Owed.PaidUntil),
		"debts": string(debts), "position": int64(position), //nolint:gosec // positions fit
	})
	w.Exec(oldOwedSQL, v.SubscriptionID, v.At.Add(-historyKept))
	w.Exec(oldPausesSQL, v.SubscriptionID, v.At.Add(-historyKept))
	w.Exec(reviewedSQL, v.SubscriptionID, null.Time(v.Owed.PaidUntil), string(debts), string(v.NextState),
		null.Time(v.NextAt))
	return nil
}
