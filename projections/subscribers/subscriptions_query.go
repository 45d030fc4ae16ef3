package subscribersviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/access/entitlement"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// SubscriptionRow is one subscription with the terms of the plan's version that was sold.
type SubscriptionRow struct {
	ID           id.Subscription  `db:"subscription_id"`
	OrgID        id.Organization  `db:"org_id"`
	SubscriberID id.Subscriber    `db:"subscriber_id"`
	PlanID       id.Plan          `db:"plan_id"`
	PlanVersion  int              `db:"plan_version"`
	Terms        events.PlanTerms `db:"terms"`
	Planned      *PlannedPlan     `db:"planned"` // nil = no change is planned
	// Next are the terms of the next period where they are neither the planned ones nor Terms; nil = they are.
	Next        *events.PlanTerms `db:"next_terms"`
	State       string            `db:"state"` // "pending", "active", "paused", "ended"
	Reason      string            `db:"reason"`
	StartsAt    time.Time         `db:"starts_at"`
	ActivatedAt *time.Time        `db:"activated_at"`
	PaidUntil   *time.Time        `db:"paid_until"` // exclusive; nil before the first paid period
	// RetakesFrom is where the next period begins in the place of one that an undo took back; nil = no such place.
	RetakesFrom *time.Time `db:"retakes_from"`
	// PaidTold is when the event was recorded that told PaidUntil; nil before the first.
	PaidTold      *time.Time  `db:"paid_told_at"`
	PaidEvent     *id.Event   `db:"paid_told_event"`
	PaidLost      *time.Time  `db:"paid_lost_at"` // as LostAt of an entitlement.Subscription; nil = never
	Username      *string     `db:"username"`
	PasswordRef   *id.Secret  `db:"password_ref"`
	StaticIP      *string     `db:"static_ip"`
	StaticIPv6    *string     `db:"static_ipv6_prefix"`
	Routes        []string    `db:"routes"`
	MACAddresses  []string    `db:"mac_addresses"` // the only equipment that may sign in; empty = any
	OpenInvoice   *id.Invoice `db:"open_invoice_id"`
	CreatedAt     time.Time   `db:"created_at"`
	StateSince    time.Time   `db:"state_since"`
	StateEvent    *id.Event   `db:"state_event"`    // that told the state paused or ended; nil in the others
	UnbilledSince *time.Time  `db:"unbilled_since"` // cut off since then and not billed for that; nil = billed as usual
	Revision      int64       `db:"revision"`       // of the subscription's stream
	Blocked       bool        `db:"blocked"`        // the subscriber is blocked by hand
	Periods       []PeriodRow `db:"-"`              // the newest periods, newest first; only Get fills it
	Extras        []ExtraRow  `db:"-"`              // in the order in which they were added; only Get fills it
	// Dunning is the step of dunning, nil = none. Another read model has it: who reads the row fills it in, because
	// access depends on it.
	Dunning *entitlement.Dunning `db:"-"`
	// Used is the cap that acts, nil = none. Who shows it fills it in, as Dunning.
	Used *entitlement.CapUse `db:"-"`
}

// NextLines are the prices of the next period and its extras, without taxes on top, when nothing is paid before an
// instant, in a zone. The first one is that of the plan. With a fixed billing day a period that begins between two is
// a part. One in the place of an undone period has its plan, and its place.
func (r SubscriptionRow) NextLines(now time.Time, zone *time.Location) []money.Amount {
	terms, begins := r.Terms, now
	switch {
	case r.Next != nil:
		terms = *r.Next
	case r.Planned != nil && r.RetakesFrom == nil:
		terms = r.Planned.Terms
	}
	for _, known := range []*time.Time{r.PaidUntil, &r.StartsAt} {
		if known != nil && known.After(begins) {
			begins = *known
		}
	}
	var held events.Extras
	for _, x := range r.Extras {
		held = append(held, x.Held())
	}
	place := begins
	if r.RetakesFrom != nil {
		place = *r.RetakesFrom
	}
	return terms.NextPeriodAt(held, begins, place, zone).Prices()
}

// PeriodRow is one period of a subscription.
type PeriodRow struct {
	Ordinal   int        `db:"ordinal"`
	InvoiceID id.Invoice `db:"invoice_id"`
	State     string     `db:"state"`   // "due", "paid", "withdrawn", "cancelled"
	DueAt     *time.Time `db:"due_at"`  // of the invoice
	PaidAt    *time.Time `db:"paid_at"` // of the latest payment; nil before the first, or when it was not recorded
	From      *time.Time `db:"from_at"` // nil while the period takes no time
	To        *time.Time `db:"to_at"`   // exclusive
}

// maxPeriods is the largest number of periods that Get gives.
const maxPeriods = 24

// BlockRow is the administrative block of a subscriber. EventID is the event that recorded it.
type BlockRow struct {
	Reason  string    `db:"reason"`
	EventID id.Event  `db:"event_id"`
	Since   time.Time `db:"since"`
}

// SubscriptionKey is a row's place in the list, newest first. The zero value starts at the newest row.
type SubscriptionKey struct {
	CreatedAt time.Time       `json:"c"`
	ID        id.Subscription `json:"i"`
}

// Key makes the next page begin after this row.
func (r SubscriptionRow) Key() SubscriptionKey {
	return SubscriptionKey{CreatedAt: r.CreatedAt, ID: r.ID}
}

// SubscriptionsQuery serves an organization's subscriptions.
type SubscriptionsQuery struct{ Views *runner.Views }

// subscriptionSelect fits SubscriptionRow; the condition follows. The table subscriptions has the alias s.
const subscriptionSelect = `select s.subscription_id, s.org_id, s.subscriber_id, s.plan_id, s.plan_version, s.terms,
	s.planned, s.next_terms, s.state, s.reason, s.starts_at, s.activated_at, s.paid_until, s.retakes_from,
	s.paid_told_at, s.paid_told_event, s.paid_lost_at, s.username, s.password_ref, s.static_ip, s.static_ipv6_prefix,
	s.routes, s.mac_addresses, s.open_invoices[1] as open_invoice_id, s.created_at, s.state_since, s.state_event,
	s.revision,	s.unbilled_since,
	exists (select from {schema}.blocks b where b.subscriber_id = s.subscriber_id) as blocked
	from {schema}.subscriptions s `

// Get returns one subscription of an organization with its newest periods, ended or not; nil when it has none with this
// id.
func (q SubscriptionsQuery) Get(
	ctx context.Context, org id.Organization, subscription id.Subscription,
) (*SubscriptionRow, error) {
	var row *SubscriptionRow
	var periods []PeriodRow
	var extras []ExtraRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[SubscriptionRow],
			q.Views.SQL(SubscriptionsName, subscriptionSelect+`where s.subscription_id = $1`), subscription)
		postgres.Collect(r, &periods, pgx.RowToStructByName[PeriodRow], q.Views.SQL(SubscriptionsName, `
			select ordinal, invoice_id, state, due_at, paid_at, from_at, to_at from {schema}.subscription_periods
			where org_id = $1 and subscription_id = $2 order by ordinal desc limit $3`), org, subscription, maxPeriods)
		postgres.Collect(r, &extras, pgx.RowToStructByName[ExtraRow], q.Views.SQL(SubscriptionsName, `
			select subscription_id, extra, description, ordinals, before, final, added_at, removed_at
			from {schema}.extras
			where org_id = $1 and subscription_id = $2 order by added_at, extra_id`), org, subscription)
	})
	if err != nil || row == nil {
		return nil, err
	}
	row.Periods, row.Extras = periods, extras
	return row, nil
}

// SubscriptionFilter narrows a list. A zero field does not restrict it, but Among finds nothing when it is empty and
// not nil.
type SubscriptionFilter struct {
	Subscriber id.Subscriber
	Among      []id.Subscriber
	State      string
}

// List returns up to max subscriptions after a key, newest first.
func (q SubscriptionsQuery) List(
	ctx context.Context, org id.Organization, f SubscriptionFilter, after SubscriptionKey, max int,
) ([]SubscriptionRow, error) {
	var rows []SubscriptionRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		sql := subscriptionSelect + `
			where s.org_id = @org and (@subscriber::uuid is null or s.subscriber_id = @subscriber)
				and (@among::uuid[] is null or s.subscriber_id = any(@among))
				and (@state = '' or s.state = @state)
				and (@created::timestamptz is null or (s.created_at, s.subscription_id) < (@created, @id))
			order by s.created_at desc, s.subscription_id desc limit @max`
		postgres.Collect(r, &rows, pgx.RowToStructByName[SubscriptionRow], q.Views.SQL(SubscriptionsName, sql),
			pgx.NamedArgs{
				"org": org, "subscriber": f.Subscriber, "among": f.Among, "state": f.State,
				"created": null.Time(after.CreatedAt), "id": after.ID, "max": max,
			})
	})
	return rows, err
}

// Running queues the reading of some subscribers' subscriptions that have not ended, the oldest first.
func (q SubscriptionsQuery) Running(
	r *postgres.Reads, into *[]SubscriptionRow, org id.Organization, subscribers []id.Subscriber,
) {
	postgres.Collect(r, into, pgx.RowToStructByName[SubscriptionRow], q.Views.SQL(SubscriptionsName, subscriptionSelect+
		`where s.org_id = $1 and s.subscriber_id = any($2) and s.state <> 'ended'
		order by s.created_at, s.subscription_id`), org, subscribers)
}

// OfSubscriber returns the subscriptions of Running, and the subscriber's block or nil.
func (q SubscriptionsQuery) OfSubscriber(
	ctx context.Context, org id.Organization, subscriber id.Subscriber,
) ([]SubscriptionRow, *BlockRow, error) {
	var rows []SubscriptionRow
	var block *BlockRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		q.Running(r, &rows, org, []id.Subscriber{subscriber})
		postgres.CollectMaybe(r, &block, pgx.RowToStructByName[BlockRow], q.Views.SQL(SubscriptionsName,
			`select reason, event_id, since from {schema}.blocks where subscriber_id = $1`), subscriber)
	})
	return rows, block, err
}

// LastEnded returns the subscription of a subscriber that ended last; nil when none has.
func (q SubscriptionsQuery) LastEnded(
	ctx context.Context, org id.Organization, subscriber id.Subscriber,
) (*SubscriptionRow, error) {
	var row *SubscriptionRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[SubscriptionRow], q.Views.SQL(SubscriptionsName,
			subscriptionSelect+`where s.org_id = $1 and s.subscriber_id = $2 and s.state = 'ended'
				order by s.state_since desc, s.created_at desc limit 1`), org, subscriber)
	})
	return row, err
}

// EverOf names the subscriptions that a subscriber had or has and that were created until an instant, the oldest first.
func (q SubscriptionsQuery) EverOf(
	ctx context.Context, org id.Organization, subscriber id.Subscriber, until time.Time,
) ([]id.Subscription, error) {
	var list []id.Subscription
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &list, pgx.RowTo[id.Subscription], q.Views.SQL(SubscriptionsName, `
			select subscription_id from {schema}.subscriptions
			where org_id = $1 and subscriber_id = $2 and created_at <= $3
			order by created_at, subscription_id`), org, subscriber, until)
	})
	return list, err
}

// DunningPolicies gives the names of the dunning policies in the plans of some subscriptions of an organization, "" for
// the default policy. An unknown subscription is not in the map.
func (q SubscriptionsQuery) DunningPolicies(
	ctx context.Context, org id.Organization, of []events.DunningSubject,
) (map[id.Subscription]string, error) {
	ids := make([]id.Subscription, len(of))
	for i, s := range of {
		ids[i] = s.SubscriptionID
	}
	var out map[id.Subscription]string
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMap(r, &out, q.Views.SQL(SubscriptionsName, `
			select subscription_id, coalesce(terms->'access'->>'dunningPolicy', '') as name
			from {schema}.subscriptions where org_id = $1 and subscription_id = any($2)`), org, ids)
	})
	return out, err
}

// CountIn gives the length of the list with the filter state.
func (q SubscriptionsQuery) CountIn(ctx context.Context, org id.Organization, state string) (n int, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectOne(r, &n, pgx.RowTo[int], q.Views.SQL(SubscriptionsName,
			`select count(*)::int from {schema}.subscriptions where org_id = $1 and state = $2`), org, state)
	})
	return n, err
}
