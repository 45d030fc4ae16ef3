package subscribersviews

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// OfPlan lists up to max subscriptions of a plan that have not ended, in the order of their ids and after one of them;
// the zero id begins with the first.
func (q SubscriptionsQuery) OfPlan(
	ctx context.Context, org id.Organization, plan id.Plan, after id.Subscription, max int,
) (list []id.Subscription, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &list, pgx.RowTo[id.Subscription], q.Views.SQL(SubscriptionsName, `
			select subscription_id from {schema}.subscriptions
			where org_id = $1 and plan_id = $2 and state <> 'ended' and ($3::uuid is null or subscription_id > $3)
			order by subscription_id limit $4`), org, plan, after, max)
	})
	return list, err
}
