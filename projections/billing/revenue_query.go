package billingviews

import (
	"context"
	_ "embed"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// EarnedRow tells what a plan earned in one period of a report, in minor units; negative when more was taken back.
type EarnedRow struct {
	Period   int     `db:"period"`  // from 1; 0 = what is not yet earned at the end of the report
	PlanID   id.Plan `db:"plan_id"` // zero = sold beside any plan
	NetMinor int64   `db:"net_minor"`
	TaxMinor int64   `db:"tax_minor"`
}

// BesideRow tells what stands beside the revenue of one period.
type BesideRow struct {
	Period      int    `db:"period"` // from 1
	Kind        string `db:"kind"`   // "loss" or "voucher"
	AmountMinor int64  `db:"amount_minor"`
	Count       int64  `db:"count"`
}

// Earned has the rows of a report of revenue.
type Earned struct {
	Rows   []EarnedRow
	Beside []BesideRow
}

// EarnedSpan says which time is reported.
type EarnedSpan struct {
	// Days are the first instants of local days, one after the other. They begin long before the report and end long
	// after it, because the days of a period are counted among them.
	Days []time.Time
	// Bounds are places in Days from 1: where each period of the report begins, and last of all where the report ends.
	Bounds []int
}

// at is the instant of a bound.
func (s EarnedSpan) at(bound int) time.Time { return s.Days[s.Bounds[bound]-1] }

// starts are the instants of all bounds.
func (s EarnedSpan) starts() []time.Time {
	out := make([]time.Time, len(s.Bounds))
	for i := range s.Bounds {
		out[i] = s.at(i)
	}
	return out
}

// earnedSQL is compiled in from revenue_query.sql.
//
//go:embed revenue_query.sql
var earnedSQL string

// besideSumsSQL reads each row of the report once.
const besideSumsSQL = `
select width_bucket(at, $2::timestamptz[]) as period, kind, sum(amount_minor)::bigint as amount_minor, count(*) as count
from {schema}.beside where org_id = $1 and at >= $3 and at < $4 group by 1, 2 order by 1, 2`

// RevenueQuery reads what one organization earned.
type RevenueQuery struct{ Views *runner.Views }

// Earned reads a report. The rows of all periods, and what is not yet earned, are those of the books until its end.
func (q RevenueQuery) Earned(ctx context.Context, org id.Organization, s EarnedSpan) (out Earned, err error) {
	from, until := s.at(0), s.at(len(s.Bounds)-1)
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &out.Rows, pgx.RowToStructByName[EarnedRow], q.Views.SQL(RevenueName, earnedSQL),
			pgx.NamedArgs{"org": org, "days": s.Days, "bounds": s.Bounds, "from": from, "until": until})
		postgres.Collect(r, &out.Beside, pgx.RowToStructByName[BesideRow], q.Views.SQL(RevenueName, besideSumsSQL), org,
			s.starts(), from, until)
	})
	return out, err
}
