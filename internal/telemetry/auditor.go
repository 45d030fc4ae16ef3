package telemetry

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
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

// Look tells when the auditor saw a router last. Instants are UTC.
type Look struct {
	DeviceID    id.Device
	LookedAt    *time.Time // of the latest look that compared; nil = there was none
	UnseenSince *time.Time // from when on nothing could be compared; nil = the latest look compared
	Why         string     // the latest look did not compare; "" = it did
}

// SQL of looks. One that is newer by more than a look takes is from before the clock was put back. Of what it leaves
// nothing is later than the next one.
const (
	keepLookSQL = `
insert into {schema}.looks as l (device_id, org_id, tried_at, looked_at, unseen_since, why)
values (@device, @org, @at, case when @why = '' then @at::timestamptz end,
	case when @why <> '' then @at::timestamptz end, @why)
on conflict (device_id) do update set tried_at = excluded.tried_at, why = excluded.why,
	looked_at = coalesce(excluded.looked_at,
		case when l.looked_at is not null then least(l.looked_at, excluded.tried_at) end),
	unseen_since = case when excluded.why <> '' then least(l.unseen_since, excluded.unseen_since) end
where l.tried_at <= excluded.tried_at or l.tried_at > excluded.tried_at + @slack::interval`
	looksSQL      = `select device_id, looked_at, unseen_since, why from {schema}.looks where org_id = $1`
	purgeLooksSQL = `delete from {schema}.looks where device_id in
		(select device_id from {schema}.looks where tried_at < @before order by tried_at limit @max)`
)

// KeepLook records that a router was looked at. why is "" when what it shows was compared, and otherwise says why not.
func (s *Store) KeepLook(ctx context.Context, org id.Organization, device id.Device, at time.Time, why string) error {
	_, err := s.db.Owner.Exec(ctx, s.text(keepLookSQL), pgx.NamedArgs{
		"device": device.UUID(), "org": org.UUID(), "at": at, "why": why, "slack": lookSlack,
	})
	if err != nil {
		return fmt.Errorf("keep look at a router: %w", err)
	}
	return nil
}

// Looks gives the looks at an organization's routers; one that was never tried is not in the map. Routers that were
// decommissioned stay for the retention of sessions.
func (s *Store) Looks(ctx context.Context, org id.Organization) (map[id.Device]Look, error) {
	var rows []Look
	if err := s.db.TenantRead(ctx, org.UUID(), func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[Look], s.text(looksSQL), org.UUID())
	}); err != nil {
		return nil, fmt.Errorf("read looks at routers: %w", err)
	}
	looks := make(map[id.Device]Look, len(rows))
	for _, row := range rows {
		looks[row.DeviceID] = row
	}
	return looks, nil
}

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
