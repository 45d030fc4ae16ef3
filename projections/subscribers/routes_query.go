package subscribersviews

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// overlappingSQL reports whether routes $3 overlap addresses or routes of other customers than $2, or addresses $4 lie
// in routes of theirs. A subscription that has ended has no addresses any more.
const overlappingSQL = `
select exists (
	select from {schema}.subscriptions s, unnest(s.routes || array[s.static_ip, s.static_ipv6_prefix]) o (network)
	where s.org_id = $1 and s.subscriber_id <> $2 and s.state <> 'ended' and o.network <> '' and (
		exists (select from unnest($3::text[]) r (network) where r.network::inet && o.network::inet)
		or o.network = any(s.routes)
			and exists (select from unnest($4::text[]) a (network) where a.network::inet && o.network::inet)))`

// Overlapping reports whether routes and addresses of a customer overlap those of other customers. Two addresses that
// are no routes may overlap: each belongs to one subscription by itself.
func (q SubscriptionsQuery) Overlapping(
	ctx context.Context, org id.Organization, customer id.Subscriber, routes, addresses []string,
) (bool, error) {
	var found []bool
	routes, addresses = append([]string{}, routes...), append([]string{}, addresses...) // null would match nothing
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		sql := q.Views.SQL(SubscriptionsName, overlappingSQL)
		postgres.Collect(r, &found, pgx.RowTo[bool], sql, org, customer, routes, addresses)
	})
	return len(found) > 0 && found[0], err
}
