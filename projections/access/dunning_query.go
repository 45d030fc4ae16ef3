package accessviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// DunningRow is where one subscription stands.
type DunningRow struct {
	ID           id.Subscription      `db:"subscription_id"`
	SubscriberID id.Subscriber        `db:"subscriber_id"`
	State        events.DunningState  `db:"state"`
	Since        time.Time            `db:"since"`
	DueAt        *time.Time           `db:"due_at"`     // of the present course; nil = none
	PaidUntil    *time.Time           `db:"paid_until"` // nil = postpaid, or not in service
	Debts        []events.DunningDebt `db:"debts"`      // unpaid invoices, the oldest due date first
	NextState    events.DunningState  `db:"next_state"` // "" = nothing comes by itself
	NextAt       *time.Time           `db:"next_at"`
	HoldFrom     *time.Time           `db:"hold_from"` // nil = no hold
	HoldUntil    *time.Time           `db:"hold_until"`
	HoldReason   string               `db:"hold_reason"`
	StoppedCause string               `db:"stopped_cause"` // that stops the clock for longest; "" = none does
	StoppedFrom  *time.Time           `db:"stopped_from"`
	Revision     int64                `db:"revision"`
}

// Owed has the debts and the paid time that decide about the subscription.
func (r DunningRow) Owed() events.DunningOwed {
	return events.DunningOwed{PaidUntil: null.Zero(r.PaidUntil), Debts: r.Debts}
}

// DunningKey is a row's place on the board, newest state first. The zero value starts at the newest row.
type DunningKey struct {
	Since time.Time       `json:"s"`
	ID    id.Subscription `json:"i"`
}

// Key makes the next page begin after this row.
func (r DunningRow) Key() DunningKey { return DunningKey{Since: r.Since, ID: r.ID} }

// DunningQuery serves an organization's dunning.
type DunningQuery struct{ Views *runner.Views }

// dunningSelect fits DunningRow; the condition follows.
const dunningSelect = `select subscription_id, subscriber_id, state, since, due_at, paid_until, debts, next_state,
	next_at, hold_from, hold_until, hold_reason, revision, coalesce(stopped.cause, '') stopped_cause,
	stopped.from_at stopped_from
from {schema}.dunning d left join lateral (
	select cause, from_at from {schema}.pauses p
	where p.subscription_id = d.subscription_id and until_at is null order by from_at, cause limit 1) stopped on true
`

// Get returns one subscription; nil when it never owed anything and never had a hold.
func (q DunningQuery) Get(
	ctx context.Context, org id.Organization, subscription id.Subscription,
) (*DunningRow, error) {
	var row *DunningRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[DunningRow],
			q.Views.SQL(DunningName, dunningSelect+`where org_id = $1 and subscription_id = $2`), org, subscription)
	})
	return row, err
}

// DunningFilter limits the board. Zero fields limit nothing, except that without a state only those are given that are
// in dunning, or whose hold has not ended at the instant Now.
type DunningFilter struct {
	State      string
	Subscriber id.Subscriber
	Hold       *bool // nil = both, those with a hold and those without
	Now        time.Time
}

// List returns up to max subscriptions after a key, the newest state first.
func (q DunningQuery) List(
	ctx context.Context, org id.Organization, f DunningFilter, after DunningKey, max int,
) ([]DunningRow, error) {
	var rows []DunningRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[DunningRow], q.Views.SQL(DunningName, dunningSelect+`
			where org_id = @org and (state = @state or @state = '' and (state <> 'none' or hold_until > @now))
				and (@subscriber::uuid is null or subscriber_id = @subscriber)
				and (@hold::boolean is null or @hold = coalesce(hold_until > @now, false))
				and (@since::timestamptz is null or (since, subscription_id) < (@since, @id))
			order by since desc, subscription_id desc limit @max`), pgx.NamedArgs{
			"org": org, "state": f.State, "subscriber": f.Subscriber, "hold": f.Hold, "now": f.Now,
			"since": null.Time(after.Since), "id": after.ID, "max": max,
		})
	})
	return rows, err
}

// OfSubscriber gives all subscriptions of a customer that ever owed anything or had a hold.
func (q DunningQuery) OfSubscriber(
	ctx context.Context, org id.Organization, subscriber id.Subscriber,
) ([]DunningRow, error) {
	var rows []DunningRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[DunningRow], q.Views.SQL(DunningName, dunningSelect+`
			where org_id = $1 and subscriber_id = $2 order by subscription_id`), org, subscriber)
	})
	return rows, err
}

// Steps gives what entitlement needs to know about some subscriptions. One that is not in dunning, and for which
// nothing is expected, is left out.
func (q DunningQuery) Steps(
	ctx context.Context, org id.Organization, subscriptions []id.Subscription,
) (map[id.Subscription]*entitlement.Dunning, error) {
	type row struct {
		ID        id.Subscription     `db:"subscription_id"`
		State     events.DunningState `db:"state"`
		Since     time.Time           `db:"since"`
		EventID   *id.Event           `db:"event_id"`
		CutSince  *time.Time          `db:"cut_since"`
		CutEvent  *id.Event           `db:"cut_event"`
		NextState events.DunningState `db:"next_state"`
		NextAt    *time.Time          `db:"next_at"`
	}
	var rows []row
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[row], q.Views.SQL(DunningName, `
			select subscription_id, state, since, event_id, cut_since, cut_event, next_state, next_at
			from {schema}.dunning
			where org_id = $1 and subscription_id = any($2) and (state <> 'none' or next_state <> '')`), org,
			subscriptions)
	})
	out := map[id.Subscription]*entitlement.Dunning{}
	for _, r := range rows {
		step := entitlement.Dunning{NextState: r.NextState, Next: null.Zero(r.NextAt)}
		if r.State != events.DunningNone {
			step.State, step.Since, step.EventID = r.State, r.Since, null.Zero(r.EventID)
			step.Cut = entitlement.Cut{Since: null.Zero(r.CutSince), EventID: null.Zero(r.CutEvent)}
		}
		out[r.ID] = &step
	}
	return out, err
}

// Owing gives up to max subscriptions after an id, in the order of their ids, that owe something or are in dunning.
func (q DunningQuery) Owing(
	ctx context.Context, org id.Organization, after id.Subscription, max int,
) ([]events.DunningSubject, error) {
	var rows []events.DunningSubject
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, readSubject, q.Views.SQL(DunningName, `
			select subscription_id, org_id, subscriber_id from {schema}.dunning
			where org_id = $1 and ($2::uuid is null or subscription_id > $2)
				and (state <> 'none' or paid_until is not null or debts <> '[]')
			order by subscription_id limit $3`), org, after, max)
	})
	return rows, err
}

// Counts counts the subscriptions of an organization by state. A state that none has, and the state none, have no
// entry. Of those that are proposed to be written off only those count of which something is still asked for.
func (q DunningQuery) Counts(ctx context.Context, org id.Organization) (map[events.DunningState]int, error) {
	var out map[events.DunningState]int
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMap(r, &out, q.Views.SQL(DunningName, `
			select state, count(*)::int as count from {schema}.dunning
			where org_id = $1 and state <> 'none' and (state <> 'written_off' or exists (
				select from jsonb_array_elements(debts) d where (d -> 'amount' ->> 'minor')::bigint
					> coalesce((d -> 'givenUp' ->> 'minor')::bigint, 0)))
			group by state`), org)
	})
	return out, err
}
