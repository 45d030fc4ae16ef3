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
// begun since, and no later try was refused elsewhere. Sessions begin at whole seconds.
const unservedSQL = `
select distinct on (r.subscription_id) r.org_id, r.subscriber_id, r.subscription_id, r.device_id, r.code, r.first_at,
	r.at, r.count
from {schema}.refusals r
where r.device_id = $1 and r.at >= $2 and r.subscription_id <> $3
	and not exists (select from {schema}.sessions x where x.org_id = r.org_id and x.subscriber_id = r.subscriber_id
		and x.subscription_id = r.subscription_id and (x.ended_at is null
			or x.started_at >= date_trunc('second', r.at) or x.updated_at > r.at))
	and not exists (select from {schema}.refusals o where o.org_id = r.org_id and o.subscriber_id = r.subscriber_id
		and o.subscription_id = r.subscription_id and o.at > r.at)
order by r.subscription_id, r.at desc limit $4`

// OpenAtRouter lists the open sessions of a router, also those that belong to nobody who is known.
func (s *Store) OpenAtRouter(ctx context.Context, device id.Device) ([]Session, error) {
	return s.open(ctx, `x.device_id = $1`, device.UUID())
}

// Unserved lists the subscriptions whose last try was refused, at a router and since an instant, and that have had no
// session since. What they are entitled to is not asked.
func (s *Store) Unserved(ctx context.Context, device id.Device, since time.Time) ([]Refusal, error) {
	rows, err := s.db.Owner.Query(ctx, s.text(unservedSQL), device.UUID(), since, uuid.Nil, maxUnserved)
	if err != nil {
		return nil, fmt.Errorf("look for refused customers: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[Refusal])
	if err != nil {
		return nil, fmt.Errorf("look for refused customers: %w", err)
	}
	return list, nil
}
