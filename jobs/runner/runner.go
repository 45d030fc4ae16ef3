package jobrunner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// Limits of a job (docs/rules/engine.md#jobs): an attempt whose program was killed is taken up again after rescueAfter.
const (
	maxTimeout  = 30 * time.Second
	rescueAfter = 90 * time.Second
)

// How soon a new job is begun. The insert's notification is usually what starts it; the queue is looked at without one
// as well, since River sends at most one notification in each cooldown.
const (
	fetchCooldown = 10 * time.Millisecond
	fetchPoll     = 100 * time.Millisecond
)

// Stopping: running jobs may end by themselves, then their contexts are cancelled.
const (
	softStop = 2 * time.Second
	hardStop = 4 * time.Second
)

// Config is what the queue is built from.
type Config struct {
	DB     *postgres.DB
	Logger *slog.Logger // nil discards
	// InsertOnly enqueues but works nothing. Workers are registered all the same: they know the options of their kinds.
	InsertOnly bool
	// Workers is how many jobs of each queue run at once; zero means 16.
	Workers int
	// Sole tells that no other program works this queue: what is found running at the start was left by one that died,
	// and is due at once instead of after rescueAfter.
	Sole bool
}

// Runner is the queue and its workers.
type Runner struct {
	cfg      Config
	logger   *slog.Logger
	workers  *river.Workers
	kinds    map[string]Options
	periodic []*river.PeriodicJob
	client   *river.Client[pgx.Tx]
	faults   []error // registrations that cannot work; told by Start
	loops    *loop.Group
}

// New makes a queue without workers.
func New(cfg Config) *Runner {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Workers == 0 {
		cfg.Workers = 16
	}
	return &Runner{
		cfg: cfg, logger: cfg.Logger, workers: river.NewWorkers(), kinds: map[string]Options{},
		loops: loop.New(cfg.Logger),
	}
}

// Start migrates the queue's tables and begins to work (internal/loop has the contract). Jobs can be enqueued from then
// on.
func (r *Runner) Start(ctx context.Context) error { return r.loops.Start(ctx, r.begin) }

// begin opens the queue, and works it unless this program only enqueues.
func (r *Runner) begin(ctx context.Context) error {
	if err := errors.Join(r.faults...); err != nil {
		return err
	}
	if err := r.migrate(ctx); err != nil {
		return fmt.Errorf("migrate job queue: %w", err)
	}
	if r.cfg.Sole {
		if err := r.takeOver(ctx); err != nil {
			return fmt.Errorf("take over job queue: %w", err)
		}
	}
	cfg := &river.Config{
		Schema:               r.schema(),
		Workers:              r.workers,
		Logger:               slog.New(quiet{r.logger.Handler()}),
		JobTimeout:           maxTimeout,
		RescueStuckJobsAfter: rescueAfter,
		FetchCooldown:        fetchCooldown,
		FetchPollInterval:    fetchPoll,
		SoftStopTimeout:      softStop,
	}
	working := !r.cfg.InsertOnly && len(r.kinds) > 0
	if working {
		cfg.Queues = r.queues()
		cfg.PeriodicJobs = r.periodic
	}
	client, err := river.NewClient(riverpgxv5.New(r.cfg.DB.Owner), cfg)
	if err != nil {
		return fmt.Errorf("open job queue: %w", err)
	}
	if working {
		if err := client.Start(context.WithoutCancel(ctx)); err != nil {
			return fmt.Errorf("start job queue: %w", err)
		}
		r.loops.Go("end of the job queue", func(ctx context.Context) {
			<-ctx.Done()
			r.end(context.WithoutCancel(ctx), client)
		})
	}
	r.client = client
	return nil
}

// Stop waits a little for running jobs, then cancels them. What was cancelled is tried again when the next program
// starts.
func (r *Runner) Stop() { r.loops.Stop() }

// end stops River.
func (r *Runner) end(ctx context.Context, client *river.Client[pgx.Tx]) {
	ctx, cancel := context.WithTimeout(ctx, hardStop)
	defer cancel()
	if err := client.Stop(ctx); err != nil {
		r.logger.Warn("jobs did not stop in time", "error", err)
	}
}

// schema holds the queue's tables.
func (r *Runner) schema() string { return r.cfg.DB.Namespace.Schema("river") }

// migrate brings the queue's tables up to date. Programs that start together wait for each other.
func (r *Runner) migrate(ctx context.Context) error {
	lock, err := r.cfg.DB.Lock(ctx, "migrate river")
	if err != nil {
		return err
	}
	defer lock.Unlock()
	if _, err := r.cfg.DB.Owner.Exec(ctx, "create schema if not exists "+r.schema()); err != nil {
		return err
	}
	migrator, err := rivermigrate.New(riverpgxv5.New(r.cfg.DB.Owner), &rivermigrate.Config{
		Schema: r.schema(), Logger: slog.New(quiet{r.logger.Handler()}),
	})
	if err != nil {
		return err
	}
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// SQL of taking over. The place of a dead leader is free at once, too: it rescues and enqueues periodic work.
const (
	releaseJobsSQL = `
update {schema}.river_job set
	state = 'available', scheduled_at = now(), max_attempts = greatest(max_attempts, attempt + 1)
where state = 'running'`
	freeLeaderSQL = `delete from {schema}.river_leader`
)

// takeOver frees what a dead program held.
func (r *Runner) takeOver(ctx context.Context) error {
	return pgx.BeginFunc(ctx, r.cfg.DB.Owner, func(tx pgx.Tx) error {
		for _, sql := range []string{releaseJobsSQL, freeLeaderSQL} {
			if _, err := tx.Exec(ctx, strings.ReplaceAll(sql, "{schema}", r.schema())); err != nil {
				return err
			}
		}
		return nil
	})
}

// queues are those that the registered kinds name.
func (r *Runner) queues() map[string]river.QueueConfig {
	queues := map[string]river.QueueConfig{}
	for _, o := range r.kinds {
		queues[o.Queue] = river.QueueConfig{MaxWorkers: r.cfg.Workers}
	}
	return queues
}

// quiet passes warnings and errors only: River tells about each of its own steps.
type quiet struct{ slog.Handler }

// Enabled is for warnings and above.
func (q quiet) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && q.Handler.Enabled(ctx, level)
}

// WithAttrs keeps quiet.
func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(attrs)} }

// WithGroup keeps quiet.
func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name)} }
