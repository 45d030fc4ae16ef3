package jobrunner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// Limits of a job (docs/rules/engine.md#jobs). An attempt whose program was killed runs again rescueMargin after the
// limit of its kind: after rescueAfter with the usual limit.
const (
	usualTimeout = 30 * time.Second
	rescueMargin = time.Minute
	rescueAfter  = usualTimeout + rescueMargin
)

// How soon a new job begins. Usually the insert's notification starts it, otherwise watchDue. River also polls each
// queue, seldom, for the time in which notifications do not come.
const (
	fetchCooldown = 10 * time.Millisecond
	dueRound      = 100 * time.Millisecond
	duePause      = time.Second // after a question that failed
	fetchPoll     = 5 * time.Second
)

// Stopping: running jobs get softStop to end by themselves, then their contexts are cancelled, and they have until
// hardStop to record what they know. Stop returns then at the latest; the storage must be open until then.
const (
	softStop = 1300 * time.Millisecond
	hardStop = 2100 * time.Millisecond
)

// Config is read by New once. DB is required; the other fields have a default.
type Config struct {
	DB     *postgres.DB
	Logger *slog.Logger // nil discards
	// Clock says when jobs, their retries and periodic work are due; nil = the machine's. After a jump they are due at
	// once, in the order of their instants.
	Clock clock.Clock
	// Gate keeps jobs from starting while the clock is moved; nil is always open.
	Gate *clock.Gate
	// InsertOnly enqueues but runs no job. Workers are registered all the same: the registration has their options.
	InsertOnly bool
	// Workers is how many jobs of each queue run at once; zero means 16.
	Workers int
	// Sole promises that no other program works this queue: a job found running at the start was left by one that died,
	// and is due at once instead of after rescueAfter.
	Sole bool
}

// Runner enqueues jobs and runs their workers. Safe for concurrent use after Start.
type Runner struct {
	cfg      Config
	logger   *slog.Logger
	workers  *river.Workers
	kinds    map[string]Options
	periodic []periodic
	client   *river.Client[pgx.Tx]
	running  sync.Mutex         // held while River is started or stopped
	working  bool               // River runs jobs, or is paused
	faults   []error            // registrations that cannot work; Start returns them
	places   map[string]*places // by queue
	ends     ends
	// by kind; see OnDiscarded
	discarded map[string]func(ctx context.Context, row discardedRow) error
	loops     *loop.Group
}

// New makes a queue without workers. It opens nothing; Start does.
func New(cfg Config) *Runner {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Workers == 0 {
		cfg.Workers = 16
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	return &Runner{
		cfg: cfg, logger: cfg.Logger, workers: river.NewWorkers(), kinds: map[string]Options{},
		places: map[string]*places{}, discarded: map[string]func(context.Context, discardedRow) error{},
		loops: loop.New(cfg.Logger),
	}
}

// Start migrates the queue's tables and begins to run jobs (internal/loop has the contract). Insert works from then
// on.
func (r *Runner) Start(ctx context.Context) error { return r.loops.Start(ctx, r.begin) }

// begin opens the queue and starts its workers, unless this program only enqueues.
func (r *Runner) begin(ctx context.Context) error {
	if err := errors.Join(r.faults...); err != nil {
		return err
	}
	if err := r.Prepare(ctx); err != nil {
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
		Logger:               newQuiet(r.logger),
		JobTimeout:           usualTimeout,
		RescueStuckJobsAfter: rescueAfter,
		FetchCooldown:        fetchCooldown,
		FetchPollInterval:    fetchPoll,
		SoftStopTimeout:      softStop,
	}
	if jumps(r.cfg.Clock) {
		cfg.Test.Time = riverClock{r.cfg.Clock}
	}
	working := !r.cfg.InsertOnly && len(r.kinds) > 0
	if working {
		cfg.Queues = r.queues()
	}
	client, err := river.NewClient(turnsDriver{riverpgxv5.New(r.cfg.DB.Owner), r}, cfg)
	if err != nil {
		return fmt.Errorf("open job queue: %w", err)
	}
	r.client = client
	if working {
		return r.work(ctx)
	}
	return nil
}

// work starts River's workers and the loops beside them.
func (r *Runner) work(ctx context.Context) error {
	r.running.Lock()
	defer r.running.Unlock()
	if err := r.client.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start job queue: %w", err)
	}
	r.working = true
	r.loops.Go("end of the job queue", func(ctx context.Context) {
		<-ctx.Done()
		r.end(context.WithoutCancel(ctx))
	})
	if len(r.discarded) > 0 {
		r.loops.Go("discarded jobs", r.reportDiscarded)
	}
	if jumps(r.cfg.Clock) {
		r.loops.Go("due jobs", r.releaseDue)
	}
	r.loops.Go("clock of jobs", r.watchClock)
	r.loops.Go("jobs that could begin", r.watchDue)
	for _, p := range r.periodic {
		r.loops.Go("periodic "+p.job.Kind(), func(ctx context.Context) { r.repeat(ctx, p) })
	}
	return nil
}

// Stop gives running jobs softStop, then cancels them. A cancelled job is tried again by the next program that starts.
func (r *Runner) Stop() { r.loops.Stop() }

// end stops River for good and waits up to hardStop.
func (r *Runner) end(ctx context.Context) {
	r.running.Lock()
	defer r.running.Unlock()
	r.working = false
	ctx, cancel := context.WithTimeout(ctx, hardStop)
	defer cancel()
	if err := r.client.Stop(ctx); err != nil {
		r.logger.Warn("jobs did not stop in time", "error", err)
	}
}

// schema names the PostgreSQL schema of the queue's tables, with the namespace's prefix.
func (r *Runner) schema() string { return r.cfg.DB.Namespace.Schema("river") }

// Prepare brings the queue's tables up to date. Start does so, too. Programs that start together wait for each other.
func (r *Runner) Prepare(ctx context.Context) error {
	migrator, err := rivermigrate.New(riverpgxv5.New(r.cfg.DB.Owner), &rivermigrate.Config{
		Schema: r.schema(), Logger: newQuiet(r.logger),
	})
	if err != nil {
		return err
	}
	if current, err := r.current(ctx, migrator.AllVersions()); err != nil || current {
		return err
	}
	lock, err := r.cfg.DB.Lock(ctx, "migrate river")
	if err != nil {
		return err
	}
	defer lock.Unlock()
	if _, err := r.cfg.DB.Owner.Exec(ctx, "create schema if not exists "+r.schema()); err != nil {
		return err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	_, err = r.cfg.DB.Owner.Exec(ctx, r.sql(turnsIndexSQL+";"+periodsTableSQL))
	return err
}

// Questions about the queue's tables. The tables beside River's own are made after its last step.
const (
	preparedSQL = `
select bool_and(to_regclass('{schema}.' || name) is not null)
from unnest(array['river_migration', 'river_job_turns', 'periods']) as name`
	versionSQL = `select coalesce(max(version), 0) from {schema}.river_migration where line = 'main'`
)

// current reports whether the tables are up to date, as at nearly every start: one look at them costs far less than
// what River asks the catalogs before it finds nothing to do.
func (r *Runner) current(ctx context.Context, known []rivermigrate.Migration) (bool, error) {
	var there bool
	if err := r.cfg.DB.Owner.QueryRow(ctx, r.sql(preparedSQL)).Scan(&there); err != nil || !there {
		return false, err
	}
	version := 0
	err := r.cfg.DB.Owner.QueryRow(ctx, r.sql(versionSQL)).Scan(&version)
	return err == nil && version >= known[len(known)-1].Version, err
}

// SQL of taking over. A job in its last attempt gets one more. The leader rescues jobs and enqueues periodic work, so
// the place of a dead leader is freed, too.
const (
	releaseJobsSQL = `
update {schema}.river_job set
	state = 'available', scheduled_at = $1, max_attempts = greatest(max_attempts, attempt + 1)
where state = 'running'`
	freeLeaderSQL = `delete from {schema}.river_leader`
)

// takeOver makes the jobs that a dead program was running due at once. Only for a program that works the queue alone.
func (r *Runner) takeOver(ctx context.Context) error {
	return pgx.BeginFunc(ctx, r.cfg.DB.Owner, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, r.sql(releaseJobsSQL), r.cfg.Clock.Now()); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, r.sql(freeLeaderSQL))
		return err
	})
}

// queues collects the queues that the registered kinds name, each with Config.Workers places.
func (r *Runner) queues() map[string]river.QueueConfig {
	queues := map[string]river.QueueConfig{}
	for _, o := range r.kinds {
		queues[o.Queue] = river.QueueConfig{MaxWorkers: r.cfg.Workers}
	}
	return queues
}
