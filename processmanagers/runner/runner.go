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

//go:embed migrations/*.sql
var migrations embed.FS

// leaderLock is held by the one program that drives the processes of an installation.
const leaderLock = "processes"

// Config is what the engine is built from.
type Config struct {
	Feed   *feed.Feed // started and stopped by the owner
	DB     *postgres.DB
	Clock  clock.Clock
	Logger *slog.Logger // nil discards
	// Bus executes the commands of the processes: a [bus.Bus].
	Bus Bus
	// Jobs takes their jobs: a jobs/runner.Runner. It may be nil when no process wants a job.
	Jobs Jobs
	// Concurrency is how many inputs and commands are worked on at once; zero means 8.
	Concurrency int
}

// Bus executes commands, and turns those that wait for their execution into rows and back.
type Bus interface {
	// Execute gives nil for a command that was accepted. A failure that may pass (internal, unavailable, limited, or
	// concurrent_change) is tried again, any other is a refusal, which the process is told.
	Execute(ctx context.Context, cmd commands.Command, meta commands.Meta) (bus.Result, error)
	// EncodeStored makes a row. What it refuses stops the process.
	EncodeStored(cmd commands.Command) (name string, body []byte, err error)
	// DecodeStored reads a row.
	DecodeStored(name string, body []byte) (commands.Command, error)
}

// Jobs enqueues a job within a transaction. A second job with the same id is not enqueued.
type Jobs interface {
	InsertTx(ctx context.Context, tx pgx.Tx, job commands.Job, jobID id.Any, cause jobs.Cause) error
}

// Runner drives the registered processes.
type Runner struct {
	cfg       Config
	logger    *slog.Logger
	processes []*process
	byName    map[string]*process
	slots     chan struct{} // one for each input or command being worked on
	loops     *loop.Group
}

// New makes an engine without processes.
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

// Stop ends all work and returns when it has ended. What was not finished is taken up when the next program starts.
func (r *Runner) Stop() { r.loops.Stop() }

// prepare migrates the tables and registers new processes: their history ends here.
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

// sql puts the engine's schema in.
func (r *Runner) sql(text string) string {
	return strings.ReplaceAll(text, "{schema}", r.cfg.DB.Namespace.Schema("processes"))
}

// run leads whenever it can.
func (r *Runner) run(ctx context.Context) {
	for ctx.Err() == nil {
		lock, err := r.cfg.DB.Lock(ctx, leaderLock)
		if err != nil {
			if ctx.Err() == nil {
				r.logger.WarnContext(ctx, "processes wait for the database", "error", err)
				loop.Sleep(ctx, time.Second)
			}
			continue
		}
		r.lead(ctx, lock)
	}
}

// lockRound is how often the leader proves that it still holds the lock.
const lockRound = time.Second

// lead drives all processes until ctx ends or the lock is lost, and gives the lock back.
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
		r.logger.WarnContext(ctx, "processes no longer driven here", "error", err)
	}
}

// Wake looks at once for timers that are due: for a clock that was moved by hand.
func (r *Runner) Wake() {
	for _, p := range r.processes {
		loop.Wake(p.timers)
	}
}

// Retry has a stopped process try its input again.
func (r *Runner) Retry(name string) {
	if p := r.byName[name]; p != nil {
		loop.Wake(p.retry)
	}
}

// Rebuild has a process derive its state anew from the log, with outputs suppressed up to where it had read. No program
// may be driving the processes meanwhile.
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

// WaitFor waits until a process that is driven here has taken every event up to a position.
func (r *Runner) WaitFor(ctx context.Context, name string, position uint64) error {
	p := r.byName[name]
	if p == nil {
		return fmt.Errorf("there is no process %q", name)
	}
	return p.track.wait(ctx, position)
}
