package jobrunner

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
)

// The queue remembers the period in which each work that comes again was enqueued last. It does not look for a job of
// that period: when the machine's clock was put back, the same periods come once more, with rows of the queue that look
// as if all of them had been worked already.
const (
	periodsTableSQL = `
create table if not exists {schema}.periods (
	name text primary key, period text not null, noted_at timestamptz not null default now()
)`
	// beginsSQL changes no row when the newest period is this one. A second program waits here for the first.
	beginsSQL = `
insert into {schema}.periods as newest (name, period) values ($1, $2)
on conflict (name) do update set period = excluded.period, noted_at = now()
where newest.period <> excluded.period`
	// forgetPeriodsSQL forgets work that nobody asked for any more, as of a router that is gone.
	forgetPeriodsSQL = `delete from {schema}.periods where noted_at < now() - interval '30 days'`
)

// begins notes the period of work that comes again, and reports whether its newest period was another one.
func (r *Runner) begins(ctx context.Context, tx pgx.Tx, name string, period time.Time) (bool, error) {
	tag, err := tx.Exec(ctx, r.sql(beginsSQL), name, period.UTC().Format(time.RFC3339Nano))
	if err != nil {
		return false, fmt.Errorf("note the period of %s: %w", name, err)
	}
	return tag.RowsAffected() > 0, nil
}

// InsertInPeriod enqueues work that comes again with each period, in a transaction of its own: once in a period,
// whichever of the programs asks, and again in a period that comes again because the machine's clock was put back. name
// is that of the work, whose periods are counted together.
func (r *Runner) InsertInPeriod(
	ctx context.Context, job commands.Job, name string, period time.Time, cause jobs.Cause,
) error {
	return pgx.BeginFunc(ctx, r.cfg.DB.Owner, func(tx pgx.Tx) error {
		fresh, err := r.begins(ctx, tx, name, period)
		if err != nil || !fresh {
			return err
		}
		return r.InsertTx(ctx, tx, job, id.New[id.Any](), cause)
	})
}
