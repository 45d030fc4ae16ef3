package telemetry

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// maxUnserved is the largest number of customers of one router that one question is answered with.
const maxUnserved = 1_000

// unservedSQL finds subscriptions whose last try was refused at a router: no session was there at that moment, none has
// begun since, and no later try was refused elsewhere. The rows of each are read twice, whatever days and codes there
// are. Sessions begin at whole seconds. Rows of refusals are by code and UTC day, so the beginning is that of all of
// them together; those that end before the last session did are of an earlier trouble. too_many_codes follows from
// another refusal, which is told where it is known. Rows without a router come from packets that prove nothing and that
// anybody can send in a customer's name, so they neither hide nor change what routers have told. What is later than $5,
// the present, is from when a clock was ahead.
const unservedSQL = `
with newest as (
	select distinct on (r.subscription_id) r.org_id, r.subscriber_id, r.subscription_id, r.device_id, r.at
	from {schema}.refusals r
	where r.device_id = $1 and r.at between $2 and $5 and r.subscription_id <> $3
	order by r.subscription_id, r.at desc),
offline as materialized (
	select n.*, (select max(x.updated_at) from {schema}.sessions x where x.org_id = n.org_id and x.updated_at <= $5
		and x.subscriber_id = n.subscriber_id and x.subscription_id = n.subscription_id) as until
	from newest n
	where not exists (select from {schema}.sessions x where x.org_id = n.org_id and x.subscriber_id = n.subscriber_id
		and x.subscription_id = n.subscription_id and (x.ended_at is null
			or x.started_at between date_trunc('second', n.at) and $5
			or x.updated_at > n.at and x.updated_at <= $5)))
select l.org_id, l.subscriber_id, l.subscription_id, l.device_id, told.code,
	greatest(told.began, l.until) as first_at, told.at, told.count
from offline l
cross join lateral (select r.code, r.at, r.count, r.device_id, min(r.first_at) over () as began,
		max(r.at) over () as newest
	from {schema}.refusals r
	where r.org_id = l.org_id and r.subscriber_id = l.subscriber_id and r.subscription_id = l.subscription_id
		and r.at >= greatest($2, l.until) and r.at <= $5 and r.device_id <> $3
	order by r.device_id = l.device_id desc, r.code = 'too_many_codes', r.at desc limit 1) told
where told.newest <= l.at
order by l.subscription_id limit $4`

// OpenAtRouter lists the open sessions of a router, also those that belong to nobody who is known.
func (s *Store) OpenAtRouter(ctx context.Context, device id.Device) ([]Session, error) {
	return s.open(ctx, `x.device_id = $1`, device.UUID())
}

// Unserved lists the subscriptions whose last try until now was refused, at a router and since an instant, and that
// have had no session since. FirstAt is when they began to be refused, on whatever day, with whatever code and at
// whatever router, but not before their last session ended. What they are entitled to is not asked.
func (s *Store) Unserved(ctx context.Context, device id.Device, since, now time.Time) ([]Refusal, error) {
	rows, err := s.db.Owner.Query(
		ctx, s.text(unservedSQL), device.UUID(), since, uuid.Nil, maxUnserved, now.Add(Slack))
	if err != nil {
		return nil, fmt.Errorf("look for refused customers: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[Refusal])
	if err != nil {
		return nil, fmt.Errorf("look for refused customers: %w", err)
	}
	return list, nil
}
