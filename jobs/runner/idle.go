package jobrunner

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// idleSQL lists jobs that run or fall due until an instant; those that run have their numbers of rows.
const idleSQL = `
select case when state = 'running' then id else 0 end from {schema}.river_job where state = 'running'
	or state in ('available', 'scheduled', 'retryable', 'pending')
		and scheduled_at <= coalesce($1::timestamptz, now()) + $2::interval`

// Idle reports whether no job runs and none falls due within a time, 0 = none is due. Jobs for later do not count.
func (r *Runner) Idle(ctx context.Context, within time.Duration) (bool, error) {
	rows, _ := r.cfg.DB.Owner.Query(ctx, r.sql(idleSQL), r.riverNow(), within)
	list, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return false, fmt.Errorf("look for jobs: %w", err)
	}
	return !slices.ContainsFunc(list, func(row int64) bool { return !r.ends.has(row) }), nil
}

// endsMost is how many ends are remembered. River records them within a quarter of a second.
const endsMost = 4096

// ends remembers jobs that have succeeded here, by their rows, which look as if they ran until River records the end.
// The zero value is empty. Safe for concurrent use.
type ends struct {
	mu   sync.Mutex
	rows map[int64]bool
}

// note remembers a job. When there are too many, older ones are forgotten, and look as if they ran.
func (e *ends) note(row int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.rows == nil || len(e.rows) >= endsMost {
		e.rows = map[int64]bool{}
	}
	e.rows[row] = true
}

// has reports whether a job has succeeded.
func (e *ends) has(row int64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.rows[row]
}
