package outagesviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// CompensationRow tells of a compensation what was wanted and how far it came.
type CompensationRow struct {
	ID            id.Compensation         `db:"compensation_id"`
	DeviceID      id.Device               `db:"device_id"`
	ServiceID     id.Service              `db:"service_id"`
	Tag           string                  `db:"tag"`
	OutageID      id.Outage               `db:"outage_id"`
	From          time.Time               `db:"from_at"`
	To            time.Time               `db:"to_at"`
	Give          events.CompensationGive `db:"give"`
	Reason        string                  `db:"reason"`
	Subscriptions int                     `db:"subscriptions"`
	Given         int                     `db:"given"`
	Refused       int                     `db:"refused"`
	PreviewedAt   time.Time               `db:"previewed_at"`
	PreviewedBy   id.User                 `db:"previewed_by"`
	AppliedAt     *time.Time              `db:"applied_at"`
	AppliedBy     id.User                 `db:"applied_by"`
	FinishedAt    *time.Time              `db:"finished_at"`
	Revision      int64                   `db:"revision"`
	// Of the preview, or of what was given: customers who get something, and their days and money together.
	Customers   int            `db:"customers"`
	Failed      int            `db:"failed"` // subscriptions that got nothing although the preview said otherwise
	Days        int            `db:"days"`
	AmountMinor int64          `db:"amount_minor"`
	Currency    money.Currency `db:"currency"` // "" = no money
}

// CompensationKey is a row's place in the list, newest first. The zero value starts at the newest row.
type CompensationKey struct {
	At time.Time       `json:"a"`
	ID id.Compensation `json:"i"`
}

// Key makes the next page begin after this row.
func (r CompensationRow) Key() CompensationKey { return CompensationKey{At: r.PreviewedAt, ID: r.ID} }

// CompensationsQuery serves compensations.
type CompensationsQuery struct{ Views *runner.Views }

// failedSQL counts the items of a compensation that got nothing although the preview said otherwise. What was taken
// back was given.
const failedSQL = `(count(*) filter (where code not in ('', 'taken_back') and not foreseen))::int`

// compensationSelect fits CompensationRow; a condition on c follows.
const compensationSelect = `select c.compensation_id, c.device_id, c.service_id, c.tag, c.outage_id, c.from_at, c.to_at,
	c.give, c.reason, c.subscriptions, c.given, c.refused, c.previewed_at, c.previewed_by, c.applied_at, c.applied_by,
	c.finished_at, c.revision, i.customers, i.failed, i.days, i.amount_minor, i.currency
	from {schema}.compensations c cross join lateral (
		select count(distinct subscriber_id) filter (where code = '')::int as customers,
			` + failedSQL + ` as failed,
			coalesce(sum(days) filter (where code = ''), 0)::int as days,
			coalesce(sum(amount_minor) filter (where code = ''), 0)::bigint as amount_minor,
			coalesce(max(currency) filter (where code = ''), '') as currency
		from {schema}.items where compensation_id = c.compensation_id
	) i where `

// Get returns a compensation of an organization; nil when it has none with this id.
func (q CompensationsQuery) Get(
	ctx context.Context, org id.Organization, compensation id.Compensation,
) (*CompensationRow, error) {
	var row *CompensationRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[CompensationRow],
			q.Views.SQL(CompensationsName, compensationSelect+`c.org_id = $1 and c.compensation_id = $2`), org,
			compensation)
	})
	return row, err
}

// States of a compensation, in their order.
const (
	CompensationPreviewed = "previewed"
	CompensationApplying  = "applying"
	CompensationFinished  = "finished"
)

// CompensationFilter narrows a list. A zero field does not restrict it; several fields must all fit.
type CompensationFilter struct {
	Outage   id.Outage
	State    string
	Failed   *bool     // whether one got nothing although the preview said otherwise
	From, To time.Time // previewed in this time; To is not in it
}

// compensationFits are the conditions of a CompensationFilter.
const compensationFits = `c.org_id = @org and (@outage::uuid is null or c.outage_id = @outage)
	and (@state = '' or @state = case when c.finished_at is not null then '` + CompensationFinished + `'
		when c.applied_at is not null then '` + CompensationApplying + `' else '` + CompensationPreviewed + `' end)
	and (@failed::boolean is null or (i.failed > 0) = @failed::boolean)
	and (@from::timestamptz is null or c.previewed_at >= @from) and (@to::timestamptz is null or c.previewed_at < @to)`

// args are those of compensationFits.
func (f CompensationFilter) args(org id.Organization) pgx.NamedArgs {
	return pgx.NamedArgs{
		"org": org, "outage": f.Outage, "state": f.State, "failed": f.Failed, "from": null.Time(f.From),
		"to": null.Time(f.To),
	}
}

// Count says how many compensations of an organization List would give.
func (q CompensationsQuery) Count(ctx context.Context, org id.Organization, f CompensationFilter) (n int, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectOne(r, &n, pgx.RowTo[int], q.Views.SQL(CompensationsName, `
			select count(*)::int from {schema}.compensations c cross join lateral (
				select `+failedSQL+` as failed
				from {schema}.items where compensation_id = c.compensation_id
			) i where `+compensationFits), f.args(org))
	})
	return n, err
}

// List returns up to max compensations of an organization after a key, newest first.
func (q CompensationsQuery) List(
	ctx context.Context, org id.Organization, f CompensationFilter, after CompensationKey, max int,
) ([]CompensationRow, error) {
	args := f.args(org)
	args["at"], args["id"], args["max"] = null.Time(after.At), after.ID, max
	var rows []CompensationRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[CompensationRow],
			q.Views.SQL(CompensationsName, compensationSelect+compensationFits+`
				and (@at::timestamptz is null or (c.previewed_at, c.compensation_id) < (@at, @id))
				order by c.previewed_at desc, c.compensation_id desc limit @max`), args)
	})
	return rows, err
}

// ItemRow is one subscription of a compensation.
type ItemRow struct {
	Number         int             `db:"number"`
	SubscriptionID id.Subscription `db:"subscription_id"`
	SubscriberID   id.Subscriber   `db:"subscriber_id"`
	Days           int             `db:"days"`
	AmountMinor    int64           `db:"amount_minor"`
	Currency       money.Currency  `db:"currency"`
	Code           string          `db:"code"`
	Given          bool            `db:"given"`
}

// ItemKey is a row's place in the list. The zero value starts at the first row.
type ItemKey struct {
	Number int `json:"n"` // from 1
}

// ItemPage is a part of the list of subscriptions.
type ItemPage struct {
	After ItemKey
	Max   int
}

// Key makes the next page begin after this row.
func (r ItemRow) Key() ItemKey { return ItemKey{Number: r.Number + 1} }

// Items returns up to max subscriptions of a compensation after a key, in the order of the preview; with gets only
// those that get something, or only those that get nothing.
func (q CompensationsQuery) Items(
	ctx context.Context, org id.Organization, compensation id.Compensation, gets *bool, page ItemPage,
) ([]ItemRow, error) {
	var rows []ItemRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[ItemRow], q.Views.SQL(CompensationsName, `
			select number, subscription_id, subscriber_id, days, amount_minor, currency, code, given
			from {schema}.items where org_id = $1 and compensation_id = $2 and number >= $3
				and ($4::boolean is null or (code = '') = $4::boolean) order by number limit $5`),
			org, compensation, page.After.Number, gets, page.Max)
	})
	return rows, err
}
