package subscribersviews

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// VersionCustomers counts the customers who have one version of a plan.
type VersionCustomers struct {
	PlanID    id.Plan `db:"plan_id"`
	Version   int     `db:"plan_version"`
	Customers int     `db:"customers"` // above zero; a customer with several such subscriptions counts once
}

// CustomersByVersion counts the customers of some plans of an organization by plan and version, the newest version
// first. A subscription that has ended does not count, and a version that nobody has is left out.
func (q SubscriptionsQuery) CustomersByVersion(
	ctx context.Context, org id.Organization, plans []id.Plan,
) (map[id.Plan][]VersionCustomers, error) {
	if len(plans) == 0 {
		return nil, nil
	}
	var rows []VersionCustomers
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[VersionCustomers],
			q.Views.SQL(SubscriptionsName, customersByVersionSQL), org, plans)
	})
	out := make(map[id.Plan][]VersionCustomers, len(plans))
	for _, row := range slices.Backward(rows) { // the statement follows the order of the index
		out[row.PlanID] = append(out[row.PlanID], row)
	}
	return out, err
}

// customersByVersionSQL reads the index of the plans alone.
const customersByVersionSQL = `
select plan_id, plan_version, count(distinct subscriber_id)::int as customers from {schema}.subscriptions
where org_id = $1 and plan_id = any($2) and state <> 'ended'
group by plan_id, plan_version order by plan_id, plan_version`
