package subscribersviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// SubscriptionRow is a plan that a subscriber has.
type SubscriptionRow struct {
	ID           id.Subscription  `db:"subscription_id"`
	OrgID        id.Organization  `db:"org_id"`
	SubscriberID id.Subscriber    `db:"subscriber_id"`
	PlanID       id.Plan          `db:"plan_id"`
	PlanVersion  int              `db:"plan_version"`
	Terms        events.PlanTerms `db:"terms"`
	State        string           `db:"state"` // "pending", "active", "paused", "ended"
	Reason       string           `db:"reason"`
	StartsAt     time.Time        `db:"starts_at"`
	ActivatedAt  *time.Time       `db:"activated_at"`
	PaidUntil    *time.Time       `db:"paid_until"` // exclusive; nil before the first paid period
	Username     *string          `db:"username"`
	OpenInvoice  *id.Invoice      `db:"open_invoice_id"`
	CreatedAt    time.Time        `db:"created_at"`
	StateSince   time.Time        `db:"state_since"`
	Revision     int64            `db:"revision"` // of the subscription's stream
	Blocked      bool             `db:"blocked"`  // the subscriber is, by hand
}

// BlockRow is an administrative block.
type BlockRow struct {
	Reason  string    `db:"reason"`
	EventID id.Event  `db:"event_id"`
	Since   time.Time `db:"since"`
}

// SubscriptionKey is the place of a row in the list, newest first. The zero value is before all.
type SubscriptionKey struct {
	CreatedAt time.Time       `json:"c"`
	ID        id.Subscription `json:"i"`
}

// Key is where the row stands in the list.
func (r SubscriptionRow) Key() SubscriptionKey {
	return SubscriptionKey{CreatedAt: r.CreatedAt, ID: r.ID}
}

// SubscriptionsQuery reads subscriptions.
type SubscriptionsQuery struct{ Views *runner.Views }

// subscriptionSelect reads subscriptions with what their rows show.
const subscriptionSelect = `select s.subscription_id, s.org_id, s.subscriber_id, s.plan_id, s.plan_version, s.terms,
	s.state, s.reason, s.starts_at, s.activated_at, s.paid_until, s.username, s.open_invoices[1] as open_invoice_id,
	s.created_at, s.state_since, s.revision,
	exists (select from {schema}.blocks b where b.subscriber_id = s.subscriber_id) as blocked
	from {schema}.subscriptions s `

// Get is one subscription of an organization, nil without one.
func (q SubscriptionsQuery) Get(
	ctx context.Context, org id.Organization, subscription id.Subscription,
) (*SubscriptionRow, error) {
	var row *SubscriptionRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[SubscriptionRow],
			q.Views.SQL(SubscriptionsName, subscriptionSelect+`where s.subscription_id = $1`), subscription)
	})
	return row, err
}

// List gives up to max subscriptions after a key, newest first; of one subscriber unless that is zero.
func (q SubscriptionsQuery) List(
	ctx context.Context, org id.Organization, subscriber id.Subscriber, state string, after SubscriptionKey, max int,
) ([]SubscriptionRow, error) {
	var rows []SubscriptionRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		sql := subscriptionSelect + `
			where s.org_id = @org and (@subscriber::uuid is null or s.subscriber_id = @subscriber)
				and (@state = '' or s.state = @state)
				and (@created::timestamptz is null or (s.created_at, s.subscription_id) < (@created, @id))
			order by s.created_at desc, s.subscription_id desc limit @max`
		postgres.Collect(r, &rows, pgx.RowToStructByName[SubscriptionRow], q.Views.SQL(SubscriptionsName, sql),
			pgx.NamedArgs{
				"org": org, "subscriber": subscriber, "state": state, "created": postgres.NullTime(after.CreatedAt),
				"id": after.ID, "max": max,
			})
	})
	return rows, err
}

// OfSubscriber is every subscription of a subscriber that has not ended, and the subscriber's block if there is one.
func (q SubscriptionsQuery) OfSubscriber(
	ctx context.Context, org id.Organization, subscriber id.Subscriber,
) ([]SubscriptionRow, *BlockRow, error) {
	var rows []SubscriptionRow
	var block *BlockRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[SubscriptionRow], q.Views.SQL(SubscriptionsName,
			subscriptionSelect+
				`where s.org_id = $1 and s.subscriber_id = $2 and s.state <> 'ended' order by s.created_at`), org,
			subscriber)
		postgres.CollectMaybe(r, &block, pgx.RowToStructByName[BlockRow], q.Views.SQL(SubscriptionsName,
			`select reason, event_id, since from {schema}.blocks where subscriber_id = $1`), subscriber)
	})
	return rows, block, err
}
