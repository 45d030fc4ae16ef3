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

// OnlineCounts counts the open sessions of an organization, and the customers who have them. Sessions of vouchers have
// no customer.
type OnlineCounts struct {
	Sessions     int `db:"sessions"`
	Customers    int `db:"customers"`
	WalledGarden int `db:"walled_garden"` // sessions that were let in to the payment page alone
}

// SQL of counts. A customer with several sessions counts once. Those of a whole organization are told apart by a hash
// of 64 bits, which is sorted in a third of the time of an id: two of a million share one in one of 40 million counts.
const (
	onlineSQL = `select count(*)::int as sessions,
		count(distinct uuid_hash_extended(x.subscriber_id, 0))::int as customers,
		count(*) filter (where x.access = 'walled_garden')::int as walled_garden
	from {schema}.sessions x where x.org_id = $1 and x.ended_at is null and not x.address_only`
	customersAtSQL = `select x.device_id, count(distinct x.subscriber_id)::int as customers
	from {schema}.sessions x where x.org_id = $1 and x.device_id = any($2) and x.ended_at is null
		and not x.address_only group by x.device_id`
	sessionsAtSQL = `select x.device_id, x.called, count(*)::int as sessions
	from {schema}.sessions x where x.org_id = $1 and x.device_id = any($2) and x.called = any($3)
		and x.ended_at is null and not x.address_only group by x.device_id, x.called`
)

// Place is where customers are served: a router, and the name that a server of customers has there.
type Place struct {
	Device id.Device `db:"device_id"`
	Server string    `db:"called"`
}

// offSQL has the sessions of customers of routers of whom nothing was heard since an instant of each router, and of
// whose subscription no other session went on later: one is open there without a report, or was lost there, and a
// second one that began later had ended before the last report of the first.
const offSQL = `
	from unnest($2::uuid[], $3::timestamptz[]) d (device, since)
	cross join lateral (
		select s.subscriber_id, s.subscription_id, s.started_at, s.updated_at from {schema}.sessions s
		where s.device_id = d.device and s.ended_at is null and s.updated_at <= d.since
		union all
		select s.subscriber_id, s.subscription_id, s.started_at, s.updated_at from {schema}.sessions s
		where s.device_id = d.device and s.end_reason = '` + ReasonLost + `'
			and s.ended_at > d.since - $4::interval and s.ended_at <= d.since
	) x
	where x.subscriber_id is not null and not exists (
		select from {schema}.sessions y where y.org_id = $1 and y.subscriber_id = x.subscriber_id
			and y.subscription_id = x.subscription_id and y.started_at > x.started_at
			and (y.ended_at is null or y.ended_at > x.updated_at)
	)`

// What is read of the customers who are off.
const (
	countOffSQL = `select d.device as device_id, count(distinct x.subscriber_id)::int as customers` + offSQL + `
	group by d.device`
	listOffSQL  = `select distinct x.subscriber_id` + offSQL
	amongOffSQL = `select distinct on (x.subscriber_id) x.subscriber_id, d.device as device_id, d.since` + offSQL + `
		and x.subscriber_id = any($5) order by x.subscriber_id, d.since`
	openOffSQL = `select count(distinct x.subscriber_id)::int` + offSQL + `
		and exists (select from {schema}.sessions o where o.org_id = $1 and o.subscriber_id = x.subscriber_id
			and o.device_id = d.device and o.ended_at is null and o.updated_at <= d.since and not o.address_only)`
)

// Online asks the tables, so that sessions count whose reports another program got.
func (s *Store) Online(ctx context.Context, org id.Organization) (out OnlineCounts, err error) {
	err = s.db.TenantRead(ctx, org.UUID(), func(r *postgres.Reads) {
		postgres.CollectOne(r, &out, pgx.RowToStructByName[OnlineCounts], s.text(onlineSQL), org.UUID())
	})
	if err != nil {
		return OnlineCounts{}, fmt.Errorf("count sessions: %w", err)
	}
	return out, nil
}

// CustomersAt counts the customers with an open session at each of some routers. One without any has no entry.
func (s *Store) CustomersAt(
	ctx context.Context, org id.Organization, devices []id.Device,
) (map[id.Device]int, error) {
	return s.byDevice(ctx, org, customersAtSQL, uuids(devices))
}

// SessionsAt counts the open sessions at each of some places. One without any has no entry.
func (s *Store) SessionsAt(ctx context.Context, org id.Organization, places []Place) (map[Place]int, error) {
	type counted struct {
		Place
		Sessions int `db:"sessions"`
	}
	devices, servers := make([]id.Device, 0, len(places)), make([]string, 0, len(places))
	for _, p := range places {
		devices, servers = append(devices, p.Device), append(servers, p.Server)
	}
	var rows []counted
	err := s.db.TenantRead(ctx, org.UUID(), func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[counted], s.text(sessionsAtSQL), org.UUID(), uuids(devices),
			servers)
	})
	if err != nil {
		return nil, fmt.Errorf("count sessions of servers: %w", err)
	}
	out := make(map[Place]int, len(rows))
	for _, row := range rows {
		out[row.Place] = row.Sessions
	}
	return out, nil
}

// Unheard counts the customers of each of some routers of whom nothing was heard since an instant, when the router was
// still online: they were online there last with a subscription, and have begun no session of it anywhere since. A
// router where everybody is heard again, or without customers, has no entry.
func (s *Store) Unheard(
	ctx context.Context, org id.Organization, since map[id.Device]time.Time,
) (map[id.Device]int, error) {
	devices, instants := pairs(since)
	return s.byDevice(ctx, org, countOffSQL, uuids(devices), instants, 3*ReportEvery)
}

// UnheardAt lists the customers whom Unheard counts at one router.
func (s *Store) UnheardAt(
	ctx context.Context, org id.Organization, device id.Device, since time.Time,
) (list []id.Subscriber, err error) {
	err = s.db.TenantRead(ctx, org.UUID(), func(r *postgres.Reads) {
		postgres.Collect(r, &list, pgx.RowTo[id.Subscriber], s.text(listOffSQL), org.UUID(), uuids([]id.Device{device}),
			[]time.Time{since}, 3*ReportEvery)
	})
	if err != nil {
		return nil, fmt.Errorf("customers of a router: %w", err)
	}
	return list, nil
}

// OffBehind is a customer whom Unheard counts, with the router.
type OffBehind struct {
	SubscriberID id.Subscriber `db:"subscriber_id"`
	DeviceID     id.Device     `db:"device_id"`
	Since        time.Time     `db:"since"`
}

// UnheardAmong finds those of some customers whom Unheard counts, each with the router that went away first.
func (s *Store) UnheardAmong(
	ctx context.Context, org id.Organization, among []id.Subscriber, since map[id.Device]time.Time,
) (list []OffBehind, err error) {
	devices, instants := pairs(since)
	err = s.db.TenantRead(ctx, org.UUID(), func(r *postgres.Reads) {
		postgres.Collect(r, &list, pgx.RowToStructByName[OffBehind], s.text(amongOffSQL), org.UUID(), uuids(devices),
			instants, 3*ReportEvery, uuids(among))
	})
	if err != nil {
		return nil, fmt.Errorf("customers of silent routers: %w", err)
	}
	return list, nil
}

// OnlineUnheard counts those of Online's customers whom Unheard counts: their sessions are open until they are lost.
func (s *Store) OnlineUnheard(
	ctx context.Context, org id.Organization, since map[id.Device]time.Time,
) (n int, err error) {
	devices, instants := pairs(since)
	err = s.db.TenantRead(ctx, org.UUID(), func(r *postgres.Reads) {
		postgres.CollectOne(r, &n, pgx.RowTo[int], s.text(openOffSQL), org.UUID(), uuids(devices), instants,
			3*ReportEvery)
	})
	if err != nil {
		return 0, fmt.Errorf("count customers of silent routers: %w", err)
	}
	return n, nil
}

// pairs splits instants of routers into two lists of the same order.
func pairs(since map[id.Device]time.Time) (devices []id.Device, instants []time.Time) {
	for device, at := range since {
		devices, instants = append(devices, device), append(instants, at)
	}
	return devices, instants
}

// uuids turns ids into the form that the driver takes as uuid[].
func uuids[I interface{ UUID() uuid.UUID }](ids []I) []uuid.UUID {
	out := make([]uuid.UUID, len(ids))
	for i, one := range ids {
		out[i] = one.UUID()
	}
	return out
}

// byDevice reads a number for each router.
func (s *Store) byDevice(
	ctx context.Context, org id.Organization, sql string, args ...any,
) (map[id.Device]int, error) {
	var out map[id.Device]int
	err := s.db.TenantRead(ctx, org.UUID(), func(r *postgres.Reads) {
		postgres.CollectMap(r, &out, s.text(sql), append([]any{org.UUID()}, args...)...)
	})
	if err != nil {
		return nil, fmt.Errorf("count customers of routers: %w", err)
	}
	return out, nil
}
