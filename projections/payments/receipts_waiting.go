package paymentsviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// WaitingRow is the money of one day and one channel that is in suspense now and on no account.
type WaitingRow struct {
	Day         int    `db:"day"` // index into the days asked for, from 0
	Channel     string `db:"channel"`
	AmountMinor int64  `db:"amount_minor"` // minor units
	Count       int64  `db:"count"`
}

// waitingByDaySQL gets the first instants of the days as an array. What is in suspense is few, and has an index by the
// time of its record. Money that is disputed and on an account is in the collections already.
const waitingByDaySQL = `
select width_bucket(recorded_at, $3::timestamptz[]) - 1 as day, channel,
	sum(amount_minor)::bigint as amount_minor, count(*) as count
from {schema}.receipts
where org_id = $1 and state = 'suspense' and credited_to is null and currency = $2
	and recorded_at >= ($3::timestamptz[])[1] and recorded_at < $4
group by 1, 2 order by 1, 2`

// WaitingByDay sums up an organization's money in one currency that was recorded on some days and is in suspense now.
// days are the first instants of the days, ascending; the last day ends before until.
func (q ReceiptsQuery) WaitingByDay(
	ctx context.Context, org id.Organization, currency money.Currency, days []time.Time, until time.Time,
) ([]WaitingRow, error) {
	var rows []WaitingRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[WaitingRow], q.Views.SQL(ReceiptsName, waitingByDaySQL),
			org, currency, days, until)
	})
	return rows, err
}
