package jobrunner

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// dueSQL names those queues in which a job could begin.
const dueSQL = `
select queue from unnest(@queues::text[]) as queues (queue) where exists (
	select from {schema}.river_job as job where job.state = 'available' and job.queue = queues.queue
		and job.scheduled_at <= coalesce(@now::timestamptz, now()))`

// due names those of some queues in which a job could begin now.
func (r *Runner) due(ctx context.Context, queues ...string) ([]string, error) {
	rows, _ := r.cfg.DB.Owner.Query(ctx, r.sql(dueSQL), pgx.NamedArgs{"queues": queues, "now": r.riverNow()})
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// watchDue has River look for jobs where one could begin, until ctx ends: one question about all queues in each
// dueRound instead of one for each queue. River is told of new jobs, but at most once in each cooldown, and of none
// whose retry falls due within seconds. While nothing can be asked, River's own poll is all.
func (r *Runner) watchDue(ctx context.Context) {
	all := slices.Collect(maps.Keys(r.places))
	_ = loop.Every(ctx, dueRound, nil, func(ctx context.Context) error {
		queues, err := r.due(ctx, all...)
		if err != nil {
			loop.Sleep(ctx, duePause)
			return nil
		}
		for _, queue := range queues {
			r.lookAgain(ctx, queue)
		}
		return nil
	})
}
