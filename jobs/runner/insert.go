package jobrunner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
)

// errNotStarted answers an insert before Start: only Start opens River's client.
var errNotStarted = errors.New("job queue is not started")

// InsertTx enqueues a job in the caller's transaction. A second job with the same id is not enqueued, and that is no
// error. Neither is one with the same request (commands.Asked) as a job that waits or runs; there the id plays no part.
// Of a kind with Options.Again one more waits while one runs.
func (r *Runner) InsertTx(ctx context.Context, tx pgx.Tx, job commands.Job, jobID id.Any, cause jobs.Cause) error {
	if r.client == nil {
		return errNotStarted
	}
	return r.insert(ctx, tx, job, jobID, cause, time.Time{})
}

// Insert is InsertTx in a transaction of its own, for work that no process asked for. It runs after delay, 0 = at once.
func (r *Runner) Insert(
	ctx context.Context, job commands.Job, jobID id.Any, cause jobs.Cause, delay time.Duration,
) error {
	if r.client == nil {
		return errNotStarted
	}
	return pgx.BeginFunc(ctx, r.cfg.DB.Owner, func(tx pgx.Tx) error {
		at := time.Time{}
		if delay > 0 {
			at = r.cfg.Clock.Now().Add(delay)
		}
		return r.insert(ctx, tx, job, jobID, cause, at)
	})
}

// Follow enqueues in one transaction what a job leads to, by keys. The id of each follows from the job's own and the
// key, so a repeat of the job enqueues none twice.
func (r *Runner) Follow(ctx context.Context, cause jobs.Cause, list map[string]commands.Job) error {
	if r.client == nil {
		return errNotStarted
	}
	return pgx.BeginFunc(ctx, r.cfg.DB.Owner, func(tx pgx.Tx) error {
		for _, key := range slices.Sorted(maps.Keys(list)) {
			of := id.Derive[id.Any]("follows", cause.JobID.String(), key)
			if err := r.insert(ctx, tx, list[key], of, cause, time.Time{}); err != nil {
				return err
			}
		}
		return nil
	})
}

// again ends the request of a job that runs once more after one that runs (Options.Again).
const again = " again"

// insert enqueues a job that runs from an instant on; zero = when the job says, or at once.
func (r *Runner) insert(
	ctx context.Context, tx pgx.Tx, job commands.Job, jobID id.Any, cause jobs.Cause, at time.Time,
) error {
	args, opts, err := r.insertion(job, jobID, cause)
	if err != nil {
		return err
	}
	if !at.IsZero() {
		opts.ScheduledAt = at
	}
	done, err := r.client.InsertTx(ctx, tx, args, opts)
	asked, is := args.(request)
	if err == nil && is && r.kinds[job.Kind()].Again && done.UniqueSkippedAsDuplicate &&
		done.Job.State == rivertype.JobStateRunning {
		asked.Request += again
		_, err = r.client.InsertTx(ctx, tx, asked, opts)
	}
	if err != nil {
		return fmt.Errorf("enqueue %s: %w", job.Kind(), err)
	}
	return nil
}

// behind is River's priority of jobs that yield. takeTurnsSQL takes those of one organization in the order of it.
const behind = river.PriorityDefault + 1

// insertion gives a job in River's form. River rejects a second row with the same kind and id, whatever the state of
// the first, or with the same kind and request while the first has not ended.
func (r *Runner) insertion(job commands.Job, jobID id.Any, cause jobs.Cause) (river.JobArgs, *river.InsertOpts, error) {
	opts, ok := r.kinds[job.Kind()]
	if !ok {
		return nil, nil, fmt.Errorf("enqueue %s: no worker is registered", job.Kind())
	}
	args, err := json.Marshal(job)
	if err != nil {
		return nil, nil, fmt.Errorf("enqueue %s: %w", job.Kind(), err)
	}
	meta, err := json.Marshal(metadata{Cause: cause})
	if err != nil {
		return nil, nil, fmt.Errorf("enqueue %s: %w", job.Kind(), err)
	}
	how := &river.InsertOpts{
		Queue: opts.Queue, MaxAttempts: opts.MaxAttempts, Metadata: meta,
		UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: rivertype.JobStates()},
	}
	if timed, ok := job.(commands.Timed); ok {
		how.ScheduledAt = timed.From()
	}
	if yielding, ok := job.(commands.Yielding); ok && yielding.Yields() {
		how.Priority = behind
	}
	if asked, ok := job.(commands.Asked); ok && asked.Request() != "" {
		how.UniqueOpts.ByState = openStates()
		return request{kind: job.Kind(), Request: asked.Request(), ID: jobID, Args: args}, how, nil
	}
	return encoded{kind: job.Kind(), ID: jobID, Args: args}, how, nil
}

// openStates are River's states of a job that waits or runs.
func openStates() []rivertype.JobState {
	return []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
		rivertype.JobStateRunning, rivertype.JobStateScheduled,
	}
}

// encoded is stored for a job whose Go type is not known here, only its kind. Its JSON equals that of stored.
type encoded struct {
	kind string
	ID   id.Any          `json:"id" river:"unique"`
	Args json.RawMessage `json:"args"`
}

// Kind gives the kind of the job inside, which is River's key of the worker.
func (e encoded) Kind() string { return e.kind }

// request is encoded for a job of which one of its request may wait or run.
type request struct {
	kind    string
	Request string          `json:"request" river:"unique"`
	ID      id.Any          `json:"id"`
	Args    json.RawMessage `json:"args"`
}

// Kind gives the kind of the job inside, which is River's key of the worker.
func (r request) Kind() string { return r.kind }
