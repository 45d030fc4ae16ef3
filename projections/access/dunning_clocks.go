package accessviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// readSubject reads a row of subscription, organization and subscriber.
func readSubject(row pgx.CollectableRow) (s events.DunningSubject, err error) {
	err = row.Scan(&s.SubscriptionID, &s.OrgID, &s.SubscriberID)
	return s, err
}

// Running gives up to max subscriptions after an id, in the order of their ids, whose days are counted at an instant or
// come to be counted by then, and whose clock a cause never stopped. Those that end with their paid time have no days
// to count.
func (q DunningQuery) Running(
	ctx context.Context, org id.Organization, by time.Time, cause string, after id.Subscription, max int,
) ([]events.DunningSubject, error) {
	var rows []events.DunningSubject
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, readSubject, q.Views.SQL(DunningName, `
			select subscription_id, org_id, subscriber_id from {schema}.dunning d
			where org_id = @org and (@after::uuid is null or subscription_id > @after)
				and (state in ('reminding', 'walled_garden', 'suspended') and due_at <= @by
					or state = 'none' and next_at <= @by
						and (next_state not in ('', 'reminding') or paid_until <= @by))
				and not exists (select from {schema}.short s where s.subscription_id = d.subscription_id)
				and not exists (select from {schema}.pauses p
					where p.subscription_id = d.subscription_id and p.cause = @cause)
			order by subscription_id limit @max`), pgx.NamedArgs{
			"org": org, "after": after, "by": by, "cause": cause, "max": max,
		})
	})
	return rows, err
}

// Stopped gives up to max subscriptions after an id, in the order of their ids, whose clock a cause stops at present.
func (q DunningQuery) Stopped(
	ctx context.Context, org id.Organization, cause string, after id.Subscription, max int,
) ([]events.DunningSubject, error) {
	var rows []events.DunningSubject
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, readSubject, q.Views.SQL(DunningName, `
			select d.subscription_id, d.org_id, d.subscriber_id from {schema}.pauses p
			join {schema}.dunning d on d.subscription_id = p.subscription_id
			where p.org_id = $1 and ($2::uuid is null or p.subscription_id > $2) and p.cause = $3
				and p.until_at is null
			order by p.subscription_id limit $4`), org, after, cause, max)
	})
	return rows, err
}

// StoppedRow is a clock that a cause stops at present.
type StoppedRow struct {
	events.DunningSubject
	Cause string
	From  time.Time
}

// Misplaced gives up to max clocks that a cause stops from an instant after now on, or that a fault has stopped since
// before an instant.
func (q DunningQuery) Misplaced(
	ctx context.Context, org id.Organization, now, before time.Time, max int,
) ([]StoppedRow, error) {
	var rows []StoppedRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, func(row pgx.CollectableRow) (s StoppedRow, err error) {
			err = row.Scan(&s.SubscriptionID, &s.OrgID, &s.SubscriberID, &s.Cause, &s.From)
			return s, err
		}, q.Views.SQL(DunningName, `
			select d.subscription_id, d.org_id, d.subscriber_id, p.cause, p.from_at from {schema}.pauses p
			join {schema}.dunning d on d.subscription_id = p.subscription_id
			where p.org_id = @org and p.until_at is null
				and (p.from_at > @now or p.from_at < @before and p.cause like any(@faults))
			order by p.subscription_id limit @max`), pgx.NamedArgs{
			"org": org, "now": now, "before": before, "max": max,
			"faults": []string{events.ClockNoPayment + ":%", events.ClockNoLine + ":%"},
		})
	})
	return rows, err
}
