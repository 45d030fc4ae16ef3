package billingviews

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// AgeBuckets are the ages of debts, the youngest first: not due before today, then by the days since they were due.
var AgeBuckets = []string{"current", "1-30", "31-60", "61-90", "over90"}

// AgeSum sums up debts. Bucket is an index into AgeBuckets; nil for the sum of all of them, in which a subscriber with
// debts of several ages counts once.
type AgeSum struct {
	Bucket      *int  `db:"bucket"`
	AmountMinor int64 `db:"amount_minor"`
	Invoices    int   `db:"invoices"`
	Subscribers int   `db:"subscribers"`
}

// DebtorRow tells what one subscriber owes.
type DebtorRow struct {
	SubscriberID id.Subscriber `db:"subscriber_id"`
	AmountMinor  int64         `db:"amount_minor"`
	ByAge        []int64       `db:"by_age"` // one sum for each of AgeBuckets, in minor units
	Invoices     int           `db:"invoices"`
	OldestDueOn  string        `db:"oldest_due_on"` // YYYY-MM-DD
}

// DebtorKey is a row's place in the list of debtors, the largest debt first. The zero value starts at the first row.
type DebtorKey struct {
	AmountMinor int64         `json:"a"`
	ID          id.Subscriber `json:"i"`
}

// Key makes the next page begin after this row.
func (r DebtorRow) Key() DebtorKey { return DebtorKey{AmountMinor: r.AmountMinor, ID: r.SubscriberID} }

// owedSQL are the debts of an organization with their ages on a day. They are those that GET /invoices shows as due:
// nobody owes an order (docs/rules/billing.md#orders).
const owedSQL = `
select subscriber_id, due_minor, due_on,
	case when due_on >= @today::date then 0 else least(4, (@today::date - due_on + 29) / 30) end as bucket
from {schema}.invoices where org_id = @org and due_minor > 0 and not ordered`

// agedSQL reads each debt once for the sums of the ages and for the sum of all.
const agedSQL = `
select bucket, coalesce(sum(due_minor), 0)::bigint as amount_minor, count(*)::int as invoices,
	count(distinct subscriber_id)::int as subscribers
from (` + owedSQL + `) owed group by grouping sets ((bucket), ()) order by bucket`

// debtorsSQL sums up by subscriber.
const debtorsSQL = `
select subscriber_id, sum(due_minor)::bigint as amount_minor, count(*)::int as invoices,
	min(due_on)::text as oldest_due_on, array[
		coalesce(sum(due_minor) filter (where bucket = 0), 0), coalesce(sum(due_minor) filter (where bucket = 1), 0),
		coalesce(sum(due_minor) filter (where bucket = 2), 0), coalesce(sum(due_minor) filter (where bucket = 3), 0),
		coalesce(sum(due_minor) filter (where bucket = 4), 0)]::bigint[] as by_age
from (` + owedSQL + `) owed where @bucket::int is null or bucket = @bucket
group by subscriber_id
having @after::bigint = 0 or sum(due_minor) < @after or sum(due_minor) = @after and subscriber_id > @id
order by 2 desc, 1 limit @max`

// Aged sums up the debts of an organization by their age on a day of its calendar, the youngest first, and then all of
// them. An age without debts has no row.
func (q InvoicesQuery) Aged(ctx context.Context, org id.Organization, today calendar.Date) ([]AgeSum, error) {
	var rows []AgeSum
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[AgeSum], q.Views.SQL(InvoicesName, agedSQL),
			pgx.NamedArgs{"org": org, "today": today.String()})
	})
	return rows, err
}

// Debtors lists who owes something, the largest debt first. bucket is an index into AgeBuckets of the only debts that
// count; nil = all of them.
func (q InvoicesQuery) Debtors(
	ctx context.Context, org id.Organization, today calendar.Date, bucket *int, page DebtorPage,
) ([]DebtorRow, error) {
	var rows []DebtorRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[DebtorRow], q.Views.SQL(InvoicesName, debtorsSQL),
			pgx.NamedArgs{
				"org": org, "today": today.String(), "bucket": bucket, "after": page.After.AmountMinor,
				"id": page.After.ID, "max": null.Of(page.Max),
			})
	})
	return rows, err
}

// DebtorPage is the part of a list of debtors that is read.
type DebtorPage struct {
	After DebtorKey
	Max   int // 0 = all
}
