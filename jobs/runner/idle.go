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
	until := r.cfg.Clock.Now().Add(within)
	return !slices.ContainsFunc(list, func(row int64) bool { return !r.ends.rest(row, until) }), nil
}

// endsMost is how many ends are remembered. River records them within a quarter of a second.
const endsMost = 4096

// ends remembers attempts that have ended here, by the rows of their jobs, which look as if they ran until River
// records the end: jobs that have succeeded, and jobs that wait for an instant. The zero value is empty. Safe for
// concurrent use.
type ends struct {
	mu   sync.Mutex
	rows map[int64]time.Time // when the job goes on; zero = never
}

// note remembers a job, and when it goes on, zero = never. When there are too many, older ones are forgotten, and look
// as if they ran.
func (e *ends) note(row int64, goesOn time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.rows == nil || len(e.rows) >= endsMost {
		e.rows = map[int64]time.Time{}
	}
	e.rows[row] = goesOn
}

// forget tells that a job runs again.
func (e *ends) forget(row int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.rows, row)
}

// rest reports whether an attempt has ended, and the job does not go on until an instant.
func (e *ends) rest(row int64, until time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	goesOn, ended := e.rows[row]
	return ended && (goesOn.IsZero() || goesOn.After(until))
}
