package processrunner

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/jobs"
)

// migrations creates the engine's own tables, for states, commands and timers.
//
//go:embed migrations/*.sql
var migrations embed.FS

// leaderLock is the advisory lock of the one program that drives the processes of an installation.
const leaderLock = "processes"

// Config has the parts that the engine works with. Feed, DB, Clock and Bus are required.
type Config struct {
	Feed   *feed.Feed // the caller starts and stops it
	DB     *postgres.DB
	Clock  clock.Clock
	Logger *slog.Logger // nil: nothing is logged
	// Bus executes the commands of the processes; package bus implements it.
	Bus Bus
	// Jobs enqueues their jobs; package jobrunner implements it. It may be nil when no process asks for a job.
	Jobs Jobs
	// Concurrency is how many inputs and commands are handled at the same time; zero means 8.
	Concurrency int
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
	slots     chan struct{} // one for each input or command in progress
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
		cfg: cfg, logger: cfg.Logger, byName: map[string]*process{}, slots: make(chan struct{}, cfg.Concurrency),
		loops: loop.New(cfg.Logger),
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
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	if err := r.cfg.DB.Migrate(ctx, "processes", files); err != nil {
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

// sql replaces {schema} by the schema of the engine's own tables.
func (r *Runner) sql(text string) string {
	return strings.ReplaceAll(text, "{schema}", r.cfg.DB.Namespace.Schema("processes"))
}

// run waits for the leader's lock, leads, and begins again when the lock was lost, until ctx ends.
func (r *Runner) run(ctx context.Context) {
	machine := clock.System() // lengths of terms are the machine's time, whatever the product's clock says
	for ctx.Err() == nil {
		lock, err := r.cfg.DB.Lock(ctx, leaderLock)
		if err != nil {
			if ctx.Err() == nil {
				r.logger.WarnContext(ctx, "processes wait for the database", "error", err)
				loop.Sleep(ctx, time.Second)
			}
			continue
		}
		began := machine.Now()
		r.lead(ctx, lock)
		if machine.Now().Sub(began) < leadPause {
			loop.Sleep(ctx, leadPause) // a database that gives the lock and refuses the work fills no log
		}
	}
}

// leadPause follows a term of leadership that was shorter than it.
const leadPause = time.Second

// lockRound is how often the leader checks that it still holds the lock.
const lockRound = time.Second

// lead drives all processes until ctx ends or the lock is lost. It stops all work before it releases the lock.
func (r *Runner) lead(ctx context.Context, lock *postgres.Lock) {
	term := loop.Within(ctx, r.logger)
	defer lock.Unlock()
	defer term.Stop()
	for _, p := range r.processes {
		term.Go("process "+p.name, p.drive)
	}
	err := loop.Every(ctx, lockRound, nil, func(ctx context.Context) error {
		_, err := lock.Conn().Exec(ctx, "select 1")
		return err
	})
	if err != nil {
		r.logger.WarnContext(ctx, "leadership of processes lost", "error", err)
	}
}

// Wake looks for due timers at once. Tests and demos call it after moving the clock by hand.
func (r *Runner) Wake() {
	for _, p := range r.processes {
		loop.Wake(p.timers)
	}
}

// Retry makes a stopped process try its input again. An unknown name or a running process is ignored.
func (r *Runner) Retry(name string) {
	if p := r.byName[name]; p != nil {
		loop.Wake(p.retry)
	}
}

// Rebuild deletes the states and timers of a process, so that the next start derives them from the log, with outputs
// suppressed up to the old checkpoint. It fails while a program drives the processes.
func (r *Runner) Rebuild(ctx context.Context, name string) error {
	if r.byName[name] == nil {
		return fmt.Errorf("there is no process %q", name)
	}
	lock, ok, err := r.cfg.DB.TryLock(ctx, leaderLock)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("rebuild process %s: another program drives the processes; stop it first", name)
	}
	defer lock.Unlock()
	if err := r.prepare(ctx); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, r.cfg.DB.Owner, func(tx pgx.Tx) error {
		for _, sql := range []string{
			`delete from {schema}.instances where process = $1`,
			`delete from {schema}.timers where process = $1`,
			`update {schema}.processes set live_from = greatest(live_from, checkpoint), checkpoint = 0, error = ''
			where name = $1`,
		} {
			if _, err := tx.Exec(ctx, r.sql(sql), name); err != nil {
				return fmt.Errorf("rebuild process %s: %w", name, err)
			}
		}
		return nil
	})
}

// WaitFor waits until a process that this program drives has taken every event up to a position, or ctx ends.
func (r *Runner) WaitFor(ctx context.Context, name string, position uint64) error {
	p := r.byName[name]
	if p == nil {
		return fmt.Errorf("there is no process %q", name)
	}
	return p.track.wait(ctx, position)
}
