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
}

// ServedAt chooses sessions by place and time.
type ServedAt struct {
	Devices []id.Device
	Servers []string // names of servers of customers on the routers; nil = all
	From    time.Time
	To      time.Time
}

// SQL of who was served at some routers in a time. A session whose end no router told counts up to a while after its
// last report: it ended because the router went away, whatever was concluded from that later: that it was lost, or,
// when the customer had dialled in again, that it was replaced. Neither such a one nor one that seems to be open counts
// where the customer was on elsewhere before the time began: the same device by another session, or any device at
// another router since the last report.
const (
	placeFromSQL = `
	from {schema}.sessions x
	where x.org_id = @org and x.device_id = any(@devices)
		and (@servers::text[] is null or x.called = any(@servers))
		and x.started_at < @to and not x.address_only and x.subscriber_id is not null and x.subscription_id is not null
		and (x.ended_at > @from
			or (x.ended_at is null or x.` + concludedSQL + ` and x.ended_at > @from::timestamptz - @slack::interval)
			and not exists (
				select from {schema}.sessions y where y.org_id = x.org_id and y.subscriber_id = x.subscriber_id
					and y.subscription_id = x.subscription_id and y.started_at <= @from
					and (y.calling = x.calling and y.started_at > x.started_at
						or y.device_id <> x.device_id and y.started_at > x.updated_at)
					and (y.ended_at is null or y.ended_at > x.updated_at)))`
	placeServedSQL = `select distinct x.subscriber_id, x.subscription_id ` + placeFromSQL + `
		and (@after::uuid is null or x.subscriber_id > @after) order by x.subscriber_id, x.subscription_id limit @max`
	placeCountSQL = `select count(distinct x.subscriber_id)::int ` + placeFromSQL
)

// args are those of both questions.
func (at ServedAt) args(org id.Organization) pgx.NamedArgs {
	return pgx.NamedArgs{
		"org": org.UUID(), "devices": uuids(at.Devices), "servers": at.Servers, "from": at.From, "to": at.To,
		"slack": 3 * ReportEvery,
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
