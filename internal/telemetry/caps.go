package telemetry

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// SQL of what caps need.
const (
	totalsSQL = `select subscription_id, ` + bothSQL + ` from {schema}.usage x
		where step = @step and starts = @starts and org_id = @org`
	firstSQL = `select started_at from {schema}.sessions where org_id = @org and subscriber_id = @subscriber
		and subscription_id = @subscription order by started_at limit 1`
)

// Totals gives the use of all subscriptions of an organization in the rollup that begins on a day.
func (s *Store) Totals(ctx context.Context, org id.Organization, step Step, starts calendar.Date) ([]Used, error) {
	var list []Used
	err := s.db.TenantRead(ctx, org.UUID(), func(r *postgres.Reads) {
		postgres.Collect(r, &list, func(row pgx.CollectableRow) (Used, error) {
			u := Used{Org: org, Step: step, Starts: starts}
			return u, row.Scan(&u.Subscription, &u.Bytes)
		}, s.text(totalsSQL), pgx.NamedArgs{
			"org": org.UUID(), "step": string(step), "starts": starts.Start(time.UTC), "most": maxUsed,
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read totals of usage: %w", err)
	}
	return list, nil
}

// FirstSession is when the oldest session of a subscription began that is still kept; zero = there is none.
func (s *Store) FirstSession(
	ctx context.Context, org id.Organization, subscriber id.Subscriber, subscription id.Subscription,
) (time.Time, error) {
	var list []time.Time
	err := s.db.TenantRead(ctx, org.UUID(), func(r *postgres.Reads) {
		postgres.Collect(r, &list, pgx.RowTo[time.Time], s.text(firstSQL), pgx.NamedArgs{
			"org": org.UUID(), "subscriber": subscriber.UUID(), "subscription": subscription.UUID(),
		})
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("read first session: %w", err)
	}
	if len(list) == 0 {
		return time.Time{}, nil
	}
	return list[0].UTC(), nil
}
