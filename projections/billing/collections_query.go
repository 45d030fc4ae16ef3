package billingviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// CollectionsRow is the money of one day, one channel and one user who took cash or made vouchers.
type CollectionsRow struct {
	Day        int     `db:"day"`     // index into the days asked for, from 0
	Channel    string  `db:"channel"` // "stk", "c2b", "cash", "bill_manager", "voucher"; "" when it is not known
	TakenBy    id.User `db:"taken_by"`
	TotalMinor int64   `db:"total_minor"` // minor units; negative when more was taken back than came
	Count      int64   `db:"count"`       // receipts credited minus receipts taken back
}

// CollectionsQuery reads the money that one organization received.
type CollectionsQuery struct{ Views *runner.Views }

// collectedByDaySQL gets the first instants of the days as an array, so that the database needs no time zone.
const collectedByDaySQL = `
select width_bucket(at, $2::timestamptz[]) - 1 as day, channel, taken_by,
	sum(amount_minor)::bigint as total_minor, sum(receipts)::bigint as count
from {schema}.collections
where org_id = $1 and at >= ($2::timestamptz[])[1] and at < $3
group by 1, 2, 3 order by 1, 2, 3`

// ByDay sums an organization's money by day, channel and taker. days are the first instants of the days, ascending; the
// last day ends before until.
func (q CollectionsQuery) ByDay(
	ctx context.Context, org id.Organization, days []time.Time, until time.Time,
) ([]CollectionsRow, error) {
	var rows []CollectionsRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[CollectionsRow],
			q.Views.SQL(CollectionsName, collectedByDaySQL), org, days, until)
	})
	return rows, err
}
