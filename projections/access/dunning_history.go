package accessviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// OwedRow says what a subscription owed from an instant on.
type OwedRow struct {
	ID        id.Subscription      `db:"subscription_id"`
	At        time.Time            `db:"at"`
	PaidUntil *time.Time           `db:"paid_until"` // nil = postpaid, or not in service
	Debts     []events.DunningDebt `db:"debts"`
}

// PauseRow is a time in which the clock of a subscription stood still.
type PauseRow struct {
	ID    id.Subscription `db:"subscription_id"`
	From  time.Time       `db:"from_at"`
	Until *time.Time      `db:"until_at"` // nil = it has not ended
}

// Histories gives everything that subscriptions of an organization owed before an instant, by subscription in the order
// of the log, and all times in which their clocks stood still. What is dated later than what came after it is from when
// a clock was ahead, and is of the instant of that.
func (q DunningQuery) Histories(
	ctx context.Context, org id.Organization, before time.Time,
) (owed []OwedRow, pauses []PauseRow, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &owed, pgx.RowToStructByName[OwedRow], q.Views.SQL(DunningName, `
			select subscription_id, at, paid_until, debts from {schema}.owed
			where org_id = $1 and at < $2 order by subscription_id, position`), org, before)
		postgres.Collect(r, &pauses, pgx.RowToStructByName[PauseRow], q.Views.SQL(DunningName, `
			select subscription_id, from_at, until_at from {schema}.pauses where org_id = $1`), org)
	})
	for i := len(owed) - 2; i >= 0; i-- {
		if next := owed[i+1]; next.ID == owed[i].ID && next.At.Before(owed[i].At) {
			owed[i].At = next.At
		}
	}
	return owed, pauses, err
}

// Subscribers gives whose some subscriptions are. One that dunning does not know has no entry.
func (q DunningQuery) Subscribers(
	ctx context.Context, org id.Organization, subscriptions []id.Subscription,
) (map[id.Subscription]id.Subscriber, error) {
	var out map[id.Subscription]id.Subscriber
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMap(r, &out, q.Views.SQL(DunningName, `
			select subscription_id, subscriber_id from {schema}.dunning
			where org_id = $1 and subscription_id = any($2)`), org, subscriptions)
	})
	return out, err
}
