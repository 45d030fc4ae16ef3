package accessviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// TopUpRow is traffic that was added to one period of a cap.
type TopUpRow struct {
	ID             id.TopUp
	SubscriptionID id.Subscription
	Bytes          int64
	Period         events.CapPeriod
	Reason         string       // "" = none, or the subscriber was forgotten
	Price          money.Amount // zero = it cost nothing
	InvoiceID      *id.Invoice  // that was drafted for the price; nil = none
	ActorKind      string
	ActorID        string
	At             time.Time  // when it was ordered, or added without an order
	AddedAt        *time.Time // nil = it was ordered and is not paid
	DroppedAt      *time.Time // of an order that nobody has to pay any more; nil = none
}

// TopUpKey is a row's place in the list of a subscription, newest first. The zero value starts at the newest row.
type TopUpKey struct {
	At time.Time `json:"a"`
	ID id.TopUp  `json:"i"`
}

// Key makes the next page begin after this row.
func (r TopUpRow) Key() TopUpKey { return TopUpKey{At: r.At, ID: r.ID} }

// UsageQuery serves what was recorded about the caps of an organization's subscriptions.
type UsageQuery struct{ Views *runner.Views }

// topUpSelect fits scanTopUp; the condition follows.
const topUpSelect = `select top_up_id, subscription_id, bytes, period, starts, resets_at, reason, price_minor,
	currency, invoice_id, actor_kind, actor_id, at, added_at, dropped_at from {schema}.top_ups `

// scanTopUp reads a row of topUpSelect.
func scanTopUp(row pgx.CollectableRow) (r TopUpRow, err error) {
	var starts time.Time
	err = row.Scan(&r.ID, &r.SubscriptionID, &r.Bytes, &r.Period.Period, &starts, &r.Period.ResetsAt, &r.Reason,
		&r.Price.Minor, &r.Price.Currency, &r.InvoiceID, &r.ActorKind, &r.ActorID, &r.At,
		&r.AddedAt, &r.DroppedAt)
	r.Period.Starts = calendar.On(starts, time.UTC)
	return r, err
}

// TopUps returns up to max top-ups of a subscription after a key.
func (q UsageQuery) TopUps(
	ctx context.Context, org id.Organization, subscription id.Subscription, after TopUpKey, max int,
) ([]TopUpRow, error) {
	var rows []TopUpRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, scanTopUp, q.Views.SQL(UsageName, topUpSelect+`
			where org_id = @org and subscription_id = @subscription
				and (@at::timestamptz is null or (at, top_up_id) < (@at, @id))
			order by at desc, top_up_id desc limit @max`), pgx.NamedArgs{
			"org": org, "subscription": subscription, "at": null.Time(after.At), "id": after.ID, "max": max,
		})
	})
	return rows, err
}

// TopUp returns one top-up; nil when the organization has none of this id.
func (q UsageQuery) TopUp(ctx context.Context, org id.Organization, topUp id.TopUp) (*TopUpRow, error) {
	var row *TopUpRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, scanTopUp,
			q.Views.SQL(UsageName, topUpSelect+`where org_id = $1 and top_up_id = $2`), org, topUp)
	})
	return row, err
}

// Topped names the cap that top-ups were added to: of a subscription, and of its present day or month.
type Topped struct {
	Subscription id.Subscription
	Period       string // "day" or "month"
}

// Added gives what the top-ups of periods that have not ended at an instant come to, in bytes.
func (q UsageQuery) Added(
	ctx context.Context, org id.Organization, subscriptions []id.Subscription, at time.Time,
) (map[Topped]int64, error) {
	out := map[Topped]int64{}
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, new([]struct{}), func(row pgx.CollectableRow) (none struct{}, err error) {
			var to Topped
			var bytes int64
			err = row.Scan(&to.Subscription, &to.Period, &bytes)
			out[to] = bytes
			return none, err
		}, q.Views.SQL(UsageName, `select subscription_id, period, sum(bytes)::bigint from {schema}.top_ups
			where org_id = $1 and subscription_id = any($2) and resets_at > $3 and added_at is not null
			group by subscription_id, period`), org,
			subscriptions, at)
	})
	return out, err
}

// Reached gives the caps of some subscriptions that act, as entitlement takes them.
func (q UsageQuery) Reached(
	ctx context.Context, org id.Organization, subscriptions []id.Subscription,
) (map[id.Subscription]*entitlement.CapUse, error) {
	out := map[id.Subscription]*entitlement.CapUse{}
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, new([]struct{}), func(row pgx.CollectableRow) (none struct{}, err error) {
			var s id.Subscription
			var use entitlement.CapUse
			err = row.Scan(&s, &use.Since, &use.EventID, &use.Until)
			out[s] = &use
			return none, err
		}, q.Views.SQL(UsageName, `select subscription_id, reached_at, reached_event, resets_at from {schema}.usage
			where org_id = $1 and subscription_id = any($2) and reached_at is not null`), org, subscriptions)
	})
	return out, err
}
