// Package runner works jobs with River on PostgreSQL: one outside call each, at least once, its outcome reported as a
// command that acts once (rules.md 27).
package runner

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/jobs"
)

// Config is what the queue is built from.
type Config struct {
	DB     *postgres.DB
	Logger *slog.Logger
	// InsertOnly enqueues but works nothing.
	InsertOnly bool
	// Workers is how many jobs of each queue run at once; zero means 16.
	Workers int
}

// Options is how a kind of job is tried.
type Options struct {
	Queue       string                          // "" = "default"
	Timeout     time.Duration                   // of one attempt; zero means 30 s, which is the most
	MaxAttempts int                             // zero means 10
	Backoff     func(attempt int) time.Duration // nil = 1 s doubling to 10 min
}

// Work is one outside call.
type Work[T commands.Job] func(ctx context.Context, args T, cause jobs.Cause) error

// Runner is the queue and its workers.
type Runner struct{}

// New makes a queue without workers.
func New(cfg Config) *Runner { return &Runner{} }

// AddWorker registers what works a kind of job; before Start only.
func AddWorker[T commands.Job](r *Runner, work Work[T], opts Options) {}

// Every registers periodic work: one job at start and after each interval, on one replica only.
func Every[T commands.Job](r *Runner, interval time.Duration, args T) {}

// Start migrates the queue's tables and begins to work.
func (r *Runner) Start(ctx context.Context) error { return nil }

// Stop waits up to 4 s for running jobs, then cancels them.
func (r *Runner) Stop() {}

// InsertTx enqueues a job within a transaction. A second job with the same id is not enqueued.
func (r *Runner) InsertTx(ctx context.Context, tx pgx.Tx, job commands.Job, jobID id.Any, cause jobs.Cause) error {
	return nil
}

// Insert is InsertTx in a transaction of its own, for work that no process asked for; it runs after delay.
func (r *Runner) Insert(ctx context.Context, job commands.Job, jobID id.Any, cause jobs.Cause, delay time.Duration) error {
	return nil
}

// Snooze is what a worker returns to be called again later without using up an attempt.
func Snooze(after time.Duration) error { return nil }

// GiveUp is what a worker returns when no further attempt can help.
func GiveUp(err error) error { return nil }
