package billingviews

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// CollectionsRow is the money of one day, one channel and one user who took cash or made vouchers.
type CollectionsRow struct {
	Day        int     `db:"day"`     // index into the days asked for, from 0
	Channel    string  `db:"channel"` // one of CollectedChannels; "" when it is not known
	TakenBy    id.User `db:"taken_by"`
	TotalMinor int64   `db:"total_minor"` // minor units; negative when more was taken back than came
	Count      int64   `db:"count"`       // receipts credited minus receipts taken back
	// The two sides of TotalMinor, both positive.
	ReceivedMinor  int64 `db:"received_minor"`
	TakenBackMinor int64 `db:"taken_back_minor"`
}

// CollectionsQuery reads the money that one organization received.
type CollectionsQuery struct{ Views *runner.Views }

// collectedByDaySQL gets the first instants of the days as an array, so that the database needs no time zone.
const collectedByDaySQL = `
select width_bucket(at, $2::timestamptz[]) - 1 as day, channel, taken_by,
	sum(amount_minor)::bigint as total_minor, sum(receipts)::bigint as count,
	coalesce(sum(amount_minor) filter (where not taken_back), 0)::bigint as received_minor,
	coalesce(-sum(amount_minor) filter (where taken_back), 0)::bigint as taken_back_minor
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

// Span is a time. Until is not in it.
type Span struct{ From, Until time.Time }

// SpanSum is the money received in a span, in minor units, and the number of payments, less those taken back.
type SpanSum struct{ TotalMinor, Count int64 }

// collectedInPartsSQL reads each row of the index once, in parts that do not overlap. One filter for each span would
// look at each row once for each of them.
const collectedInPartsSQL = `
select array[coalesce(c.total, 0), coalesce(c.count, 0)]::bigint[]
from unnest($2::timestamptz[], $3::timestamptz[]) with ordinality p (first, until, n)
cross join lateral (
	select sum(amount_minor) as total, sum(receipts) as count from {schema}.collections
	where org_id = $1 and at >= p.first and at < p.until
) c order by p.n`

// Sums sums an organization's money in several spans, which may overlap, in one pass over the time that they cover. The
// sum of a span is that of ByDay over its days.
func (q CollectionsQuery) Sums(ctx context.Context, org id.Organization, spans []Span) ([]SpanSum, error) {
	ends := make([]time.Time, 0, 2*len(spans))
	for _, s := range spans {
		ends = append(ends, s.From, s.Until)
	}
	slices.SortFunc(ends, time.Time.Compare)
	ends = slices.CompactFunc(ends, time.Time.Equal)
	first, until := ends[:len(ends)-1], ends[1:]
	var parts [][]int64
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &parts, pgx.RowTo[[]int64], q.Views.SQL(CollectionsName, collectedInPartsSQL), org,
			first, until)
	})
	if err != nil {
		return nil, err
	}
	out := make([]SpanSum, len(spans))
	for i, s := range spans {
		for n, part := range parts {
			if !first[n].Before(s.From) && !until[n].After(s.Until) {
				out[i].TotalMinor += part[0]
				out[i].Count += part[1]
			}
		}
	}
	return out, nil
}
