package subscribersviews

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// AreaQuery finds customers by tag and their subscriptions: an area is a tag.
type AreaQuery struct {
	Subscribers   SubscribersQuery
	Subscriptions SubscriptionsQuery
}

// Tagged lists up to max customers of an organization with a tag, after one. Forgotten ones are left out.
func (q AreaQuery) Tagged(
	ctx context.Context, org id.Organization, tag string, after id.Subscriber, max int,
) (list []id.Subscriber, err error) {
	views := q.Subscribers.Views
	err = views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &list, pgx.RowTo[id.Subscriber], views.SQL(SubscribersName, `
			select g.subscriber_id from {schema}.tags g where g.org_id = $1 and g.tag = $2
			and ($3::uuid is null or g.subscriber_id > $3) order by g.subscriber_id limit $4`), org, tag, after,
			max)
	})
	return list, err
}

// CountTagged counts the customers of an organization with a tag.
func (q AreaQuery) CountTagged(ctx context.Context, org id.Organization, tag string) (n int, err error) {
	views := q.Subscribers.Views
	err = views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectOne(r, &n, pgx.RowTo[int], views.SQL(SubscribersName, `
			select count(distinct g.subscriber_id)::int from {schema}.tags g where g.org_id = $1 and g.tag = $2`), org,
			tag)
	})
	return n, err
}

// AreaSubscription is a subscription of a customer.
type AreaSubscription struct {
	SubscriptionID id.Subscription `db:"subscription_id"`
	SubscriberID   id.Subscriber   `db:"subscriber_id"`
}

// Of lists the subscriptions of some customers, by customer, those that have ended too.
func (q AreaQuery) Of(
	ctx context.Context, org id.Organization, of []id.Subscriber,
) (list []AreaSubscription, err error) {
	views := q.Subscriptions.Views
	err = views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &list, pgx.RowToStructByName[AreaSubscription], views.SQL(SubscriptionsName, `
			select subscription_id, subscriber_id from {schema}.subscriptions
			where org_id = $1 and subscriber_id = any($2) order by subscriber_id, subscription_id`), org, of)
	})
	return list, err
}
