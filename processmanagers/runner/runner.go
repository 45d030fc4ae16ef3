// Package runner drives process managers: it feeds them events in the order of the log, keeps their state, executes their
// commands until accepted or refused, enqueues their jobs and fires their timers (rules.md 26).
package runner

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// Config is what the engine is built from.
type Config struct {
	Log    feed.Log
	Feed   *feed.Feed // started and stopped by the owner
	DB     *postgres.DB
	Clock  clock.Clock
	Logger *slog.Logger
	// Execute runs a command: nil = accepted, a refusal or a passing failure otherwise.
	Execute func(ctx context.Context, cmd commands.Command, meta commands.Meta) error
	// Decode reads a command that was stored by its CommandName.
	Decode func(name string, body []byte) (commands.Command, error)
	// Jobs takes the jobs; jobs/runner.Runner is one.
	Jobs Jobs
}

// Jobs enqueues a job within a transaction. A second job with the same id is not enqueued.
type Jobs interface {
	InsertTx(ctx context.Context, tx pgx.Tx, job commands.Job, jobID id.Any, cause jobs.Cause) error
}

// Runner drives the registered processes.
type Runner struct {
	cfg Config
}

// New makes an engine without processes.
func New(cfg Config) *Runner { return &Runner{cfg: cfg} }

// Register adds a process; before Start only.
func Register[S any](r *Runner, p processmanagers.Process[S]) {}

// Start begins to drive the processes as soon as no other program does.
func (r *Runner) Start(ctx context.Context) error { return nil }

// Stop ends all work and returns when it has ended.
func (r *Runner) Stop() {}

// Wake looks at once for timers that are due: for a clock that was moved by hand.
func (r *Runner) Wake() {}

// Status tells about every registered process, in the order of registration.
func (r *Runner) Status() []Status { return nil }

// State is how a process is doing.
type State string

// The states.
const (
	StateWaiting State = "waiting" // another program drives it
	StateHistory State = "history" // reads what happened before it was registered; outputs suppressed
	StateRunning State = "running"
	StateStopped State = "stopped" // met an input that it cannot take; see Error
)

// Status is one process's progress.
type Status struct {
	Name     string
	State    State
	Position uint64 // everything up to here is done
	Head     uint64
	Error    string
}
