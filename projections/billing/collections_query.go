package billingviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// CollectionsRow is the money of one day that came by one channel and one pair of hands.
type CollectionsRow struct {
	Day        int     `db:"day"`     // 0 is the first of the days asked for
	Channel    string  `db:"channel"` // "stk", "c2b", "cash", "bill_manager"; "" when it is not known
	TakenBy    id.User `db:"taken_by"`
	TotalMinor int64   `db:"total_minor"` // below nothing when more was taken back than came
	Count      int64   `db:"count"`       // receipts credited less those taken back
}

// CollectionsQuery reads the money received.
type CollectionsQuery struct{ Views *runner.Views }

// collectedByDaySQL sorts by the beginnings of days, given: the database needs to know no zones.
const collectedByDaySQL = `
select width_bucket(at, $2::timestamptz[]) - 1 as day, channel, taken_by,
	sum(amount_minor)::bigint as total_minor, sum(receipts)::bigint as count
from {schema}.collections
where org_id = $1 and at >= ($2::timestamptz[])[1] and at < $3
group by 1, 2, 3 order by 1, 2, 3`

// ByDay sums an organization's money from the first of the days, each told by its first instant, until before an
// instant.
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
