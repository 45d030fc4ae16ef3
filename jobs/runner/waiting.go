package jobrunner

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Waits is a job that waits for its turn, for its time or for a further attempt.
type Waits[T commands.Job] struct {
	ID    id.Any
	Args  T
	Since time.Time // when it was enqueued
}

// waitingSQL names the queue because the table's index begins with state and queue; ended jobs are kept for a day.
const waitingSQL = `
select args, created_at from {schema}.river_job
where state in ('available', 'pending', 'retryable', 'scheduled') and queue = $1 and kind = $2 order by id`

// Waiting lists the jobs of a kind that wait, the oldest first.
func Waiting[T commands.Job](ctx context.Context, r *Runner) ([]Waits[T], error) {
	var none T
	rows, err := r.cfg.DB.Owner.Query(ctx, r.sql(waitingSQL), r.kinds[none.Kind()].Queue, none.Kind())
	if err != nil {
		return nil, fmt.Errorf("look for %s: %w", none.Kind(), err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (Waits[T], error) {
		var args []byte
		var since time.Time
		if err := row.Scan(&args, &since); err != nil {
			return Waits[T]{}, err
		}
		var job stored[T]
		err := json.Unmarshal(args, &job)
		return Waits[T]{job.ID, job.Args, since.UTC()}, err
	})
}
