package billingviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// CorrectionRow sums up the acts of a kind that a member of the staff did on a day.
type CorrectionRow struct {
	Day      time.Time `db:"day"` // midnight in UTC of the local day
	UserID   id.User   `db:"user_id"`
	Kind     string    `db:"kind"`
	Count    int       `db:"count"`
	SumMinor int64     `db:"sum_minor"`
	Approved int       `db:"approved"` // of count: those to which a second person agreed
}

// Date is the local day.
func (r CorrectionRow) Date() calendar.Date { return calendar.On(r.Day, time.UTC) }

// CorrectionsQuery serves the report of corrections.
type CorrectionsQuery struct{ Views *runner.Views }

// correctionsSQL sums up the acts that gave something away in a time.
const correctionsSQL = `select (at at time zone $4)::date as day, user_id, kind, count(*)::int as count,
		sum(gives - takes)::bigint as sum_minor, (count(*) filter (where approved))::int as approved
	from {schema}.acts where org_id = $1 and at >= $2 and at < $3 and gives > takes
	group by 1, 2, 3 order by 1 desc, 2, 3`

// Days sums up what was given away in an organization from a day to another one, both included, the newest day first.
func (q CorrectionsQuery) Days(
	ctx context.Context, org id.Organization, from, to calendar.Date, zone *time.Location,
) (rows []CorrectionRow, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[CorrectionRow], q.Views.SQL(CorrectionsName, correctionsSQL),
			org, from.Start(zone), to.AddDays(1).Start(zone), zone.String())
	})
	return rows, err
}
