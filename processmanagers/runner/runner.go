package processrunner

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/fair"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/jobs"
)

// migrations creates the engine's own tables, for states, commands and timers.
//
//go:embed migrations/*.sql
var migrations embed.FS

// Config has the parts that the engine works with. Feed, DB, Clock and Bus are required.
type Config struct {
	Feed   *feed.Feed // the caller starts and stops it
	DB     *postgres.DB
	Clock  clock.Clock
	Logger *slog.Logger // nil: nothing is logged
	// Gate keeps commands from starting while the clock is moved; nil is always open.
	Gate *clock.Gate
	// Bus executes the commands of the processes; package bus implements it.
	Bus Bus
	// Jobs enqueues their jobs; package jobrunner implements it. It may be nil when no process asks for a job.
	Jobs Jobs
	// Concurrency is how many inputs are handled at the same time; so are eight times as many stored commands, and 32
	// times as many of timers that act directly: a command mostly waits for the log, and needs no connection of DB
	// meanwhile. One organization has at most three quarters of each. Zero means 8.
	Concurrency int
	// Settled reports that nothing is left to be done after a brief event, though no event of its instance says so:
	// what may be found out later is known here already. nil = nobody knows.
	Settled func(events.Envelope) bool
	// Lost is called whenever what was known before may not hold any more: at the beginning of each leadership, before
	// its first work, at each end of it that was not asked for, while its work may still be ending, and when the
	// leader's lock cannot be asked for; nil = nobody wants to know.
	Lost func()
}

// Bus executes commands, and encodes those that wait for their execution as rows.
type Bus interface {
	// Execute returns nil for a command that was accepted. After a failure that may pass (internal, unavailable,
	// limited, or concurrent_change) the runner tries again. Any other failure is a refusal, and an input of the
	// process.
	Execute(ctx context.Context, cmd commands.Command, meta commands.Meta) (bus.Result, error)
	// EncodeStored encodes a command for a row. An error stops the process.
	EncodeStored(cmd commands.Command) (name string, body []byte, err error)
	// DecodeStored decodes a command from a row that EncodeStored has filled.
	DecodeStored(name string, body []byte) (commands.Command, error)
}

// Jobs enqueues a job within a transaction. A second job with the same id is not enqueued.
type Jobs interface {
	InsertTx(ctx context.Context, tx pgx.Tx, job commands.Job, jobID id.Any, cause jobs.Cause) error
}

// Runner drives the registered processes. Safe for concurrent use after Start.
type Runner struct {
	cfg       Config
	logger    *slog.Logger
	processes []*process
	byName    map[string]*process
	slots     *fair.Slots   // one for each input in progress
	executing bounds        // of stored commands
	acting    bounds        // of the commands of timers that act directly
	ahead     *budget       // of what all processes have read ahead
	asked     chan struct{} // wakes the leader when a retry was asked for here
	loops     *loop.Group
}

// New makes an engine without processes; call Register, then Start.
func New(cfg Config) *Runner {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Concurrency == 0 {
		cfg.Concurrency = 8
	}
	return &Runner{
		cfg: cfg, logger: cfg.Logger, byName: map[string]*process{}, slots: fair.NewSlots(cfg.Concurrency),
		executing: bounds{fair.NewSlots(commandsPer * cfg.Concurrency), executeLimit},
		acting:    bounds{fair.NewSlots(directPer * cfg.Concurrency), directLimit},
		ahead:     &budget{}, asked: make(chan struct{}, 1), loops: loop.New(cfg.Logger),
	}
}

// Start begins to drive the processes as soon as no other program does (internal/loop has the contract).
func (r *Runner) Start(ctx context.Context) error {
	return r.loops.Start(ctx, func(ctx context.Context) error {
		if err := r.prepare(ctx); err != nil {
			return err
		}
		r.loops.Go("processes", r.run)
		return nil
	})
}

// Stop ends all work and returns when the last goroutine has ended. The next program that starts finishes the rest.
func (r *Runner) Stop() { r.loops.Stop() }

// prepare creates the tables and a row for each new process. Events before this moment are history for a new process.
func (r *Runner) prepare(ctx context.Context) error {
	if len(r.byName) != len(r.processes) {
		return fmt.Errorf("a process is registered twice")
	}
	if err := r.migrate(ctx); err != nil {
		return err
	}
	head := r.cfg.Feed.Head()
	for _, p := range r.processes {
		//nolint:gosec // positions fit
		_, err := r.cfg.DB.Owner.Exec(ctx,
			r.sql(`insert into {schema}.processes (name, live_from) values ($1, $2) on conflict do nothing`), p.name,
			int64(head))
		if err != nil {
			return fmt.Errorf("register process %s: %w", p.name, err)
		}
	}
	return nil
}

// migrate brings the engine's own tables up to date.
func (r *Runner) migrate(ctx context.Context) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	return r.cfg.DB.Migrate(ctx, "processes", files)
}

// sql replaces {schema} by the schema of the engine's own tables.
func (r *Runner) sql(text string) string {
	return strings.ReplaceAll(text, "{schema}", r.cfg.DB.Namespace.Schema("processes"))
}

// WaitFor waits until a process that this program drives has taken every event up to a position, or ctx ends.
func (r *Runner) WaitFor(ctx context.Context, name string, position uint64) error {
	p := r.byName[name]
	if p == nil {
		return fmt.Errorf("there is no process %q", name)
	}
	return p.track.wait(ctx, position)
}
