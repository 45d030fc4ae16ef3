package telemetry

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// Served is a subscription that had a session somewhere.
type Served struct {
	SubscriberID   id.Subscriber   `db:"subscriber_id"`
	SubscriptionID id.Subscription `db:"subscription_id"`
	Times          []int           `db:"times"` // places in the list of times that were asked for
}

// CutWithin is how long before a router is seen to be down its sessions may have been heard last.
const CutWithin = 3 * ReportEvery

// TimeAt is a time at a router.
type TimeAt struct {
	Device   id.Device
	From, To time.Time
	// CutFrom is how early a session may have been cut off that counts; zero = a while before From.
	CutFrom time.Time
}

// During is one time at some routers.
func During(devices []id.Device, from, to time.Time) []TimeAt {
	list := make([]TimeAt, len(devices))
	for i, d := range devices {
		list[i] = TimeAt{Device: d, From: from, To: to}
	}
	return list
}

// ServedAt chooses sessions by place and time.
type ServedAt struct {
	Times   []TimeAt
	Servers []string // names of servers of customers on the routers; nil = all
	// Unheard leaves out sessions of which a report came after the beginning of the time: they go on.
	Unheard bool
}

// SQL of who was served at some routers, at each in its own times. A session whose end no router told counts when it
// was cut off late enough: it ended because the router went away, whatever was concluded from that later: that it was
// lost, or, when the customer had dialled in again, that it was replaced. So does one that the router ended itself,
// because of a restart or a fault of its own: the breaker opens minutes later. Neither such a one nor one that seems to
// be open counts where the customer was on again before the time began: the same device by another session, or any
// device at another router since the last report; when that is more than a while ago, at any router.
const (
	cutSQL = `(x.` + concludedSQL + ` or x.end_reason in ('nas_reboot', 'admin_reboot', 'nas_error'))`

	placeFromSQL = `
	from unnest(@devices::uuid[], @froms::timestamptz[], @tos::timestamptz[], @cuts::timestamptz[])
		with ordinality d (device, since, until, cut, n)
	join {schema}.sessions x on x.device_id = d.device
	where x.org_id = @org and (@servers::text[] is null or x.called = any(@servers))
		and x.started_at < d.until and not x.address_only and x.subscriber_id is not null
		and x.subscription_id is not null and (not @unheard::boolean or x.updated_at <= d.since)
		and (x.ended_at > d.since
			or (x.ended_at is null or ` + cutSQL + ` and x.ended_at > d.cut)
			and not exists (
				select from {schema}.sessions y where y.org_id = x.org_id and y.subscriber_id = x.subscriber_id
					and y.subscription_id = x.subscription_id and y.started_at <= d.since
					and (y.calling = x.calling and y.started_at > x.started_at
						or (y.device_id <> x.device_id or x.ended_at <= d.since - @slack::interval)
							and y.started_at > x.updated_at)
					and (y.ended_at is null or y.ended_at > x.updated_at)))`
	placeServedSQL = `select subscriber_id, subscription_id, array_agg(n - 1 order by n)::int[] as times from (
		select distinct x.subscriber_id, x.subscription_id, d.n ` + placeFromSQL + `
			and (@after::uuid is null or x.subscriber_id > @after)) s
		group by subscriber_id, subscription_id order by subscriber_id, subscription_id limit @max`
	// heardSinceSQL asks open and closed sessions one after the other: each kind has an index of its own. Sessions end
	// with their last report, so of the closed ones the newest is enough, however many there were.
	heardSinceSQL = `select d.device, max(x.updated_at) from unnest($2::uuid[], $3::timestamptz[]) d (device, since)
		cross join lateral (
			select x.updated_at from {schema}.sessions x where x.org_id = $1 and x.device_id = d.device
				and x.ended_at is null and x.updated_at > d.since and x.updated_at <= $4 and not x.address_only
			union all (
			select x.updated_at from {schema}.sessions x where x.org_id = $1 and x.device_id = d.device
				and x.ended_at > d.since and x.updated_at > d.since and x.updated_at <= $4 and not x.address_only
			order by x.ended_at desc limit 1)) x
		group by d.device`
	placeCountSQL = `select count(distinct x.subscriber_id)::int ` + placeFromSQL
)

// args are those of both questions.
func (at ServedAt) args(org id.Organization) pgx.NamedArgs {
	devices, froms, tos, cuts := make([]id.Device, 0, len(at.Times)), []time.Time{}, []time.Time{}, []time.Time{}
	for _, t := range at.Times {
		cut := t.From.Add(-CutWithin)
		if !t.CutFrom.IsZero() && t.CutFrom.Before(cut) {
			cut = t.CutFrom
		}
		devices, froms = append(devices, t.Device), append(froms, t.From)
		tos, cuts = append(tos, t.To), append(cuts, cut)
	}
	return pgx.NamedArgs{
		"org": org.UUID(), "devices": uuids(devices), "servers": at.Servers, "froms": froms, "tos": tos, "cuts": cuts,
		"slack": CutWithin, "unheard": at.Unheard,
	}
}

// Served lists the subscriptions that had a session somewhere in a time, by customer, after one; max = at most so many
// rows. Sessions of vouchers have no subscription.
func (s *Store) Served(
	ctx context.Context, org id.Organization, at ServedAt, after id.Subscriber, max int,
) (list []Served, err error) {
	var behind any
	if !after.IsZero() {
		behind = after.UUID()
	}
	args := at.args(org)
	args["after"], args["max"] = behind, max
	err = s.db.TenantRead(ctx, org.UUID(), func(r *postgres.Reads) {
		postgres.Collect(r, &list, pgx.RowToStructByName[Served], s.text(placeServedSQL), args)
	})
	if err != nil {
		return nil, fmt.Errorf("customers of a place: %w", err)
	}
	return list, nil
}

// CountServed counts the customers of Served.
func (s *Store) CountServed(ctx context.Context, org id.Organization, at ServedAt) (n int, err error) {
	err = s.db.TenantRead(ctx, org.UUID(), func(r *postgres.Reads) {
		postgres.CollectOne(r, &n, pgx.RowTo[int], s.text(placeCountSQL), at.args(org))
	})
	if err != nil {
		return 0, fmt.Errorf("count customers of a place: %w", err)
	}
	return n, nil
}

// HeardSince tells when routers reported last about a session until now, each after an instant, whether that is still
// open or was closed since. One that has not reported since has no entry. What a clock that was ahead has left counts
// when that time has come.
func (s *Store) HeardSince(
	ctx context.Context, org id.Organization, since map[id.Device]time.Time, now time.Time,
) (heard map[id.Device]time.Time, err error) {
	devices, instants := pairs(since)
	err = s.db.TenantRead(ctx, org.UUID(), func(r *postgres.Reads) {
		postgres.CollectMap(r, &heard, s.text(heardSinceSQL), org.UUID(), uuids(devices), instants, now)
	})
	if err != nil {
		return nil, fmt.Errorf("look when routers reported: %w", err)
	}
	return heard, nil
}
