package runner

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"regexp"
	"sync/atomic"
	"time"

	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// migrations creates the engine's own tables, for checkpoints and requests.
//
//go:embed migrations/*.sql
var migrations embed.FS

// Config has the parts that the engine works with. Feed, DB and Clock are required; without a Logger nothing is logged.
type Config struct {
	Feed   *feed.Feed // the caller starts and stops it
	DB     *postgres.DB
	Clock  clock.Clock
	Logger *slog.Logger
	// FollowOnly makes this program fill no tables: its views wait for the projections of another program.
	FollowOnly bool
	// Patience is the longest time that a reader waits for a position of the log; 0 = 2 s.
	Patience time.Duration
}

// usualPatience is the Patience of a Config that has none, and the time for a condition that may never come true.
const usualPatience = 2 * time.Second

// patience is the longest time that a reader waits.
func (c Config) patience() time.Duration { return cmp.Or(c.Patience, usualPatience) }

// log is the Logger, or one that drops everything.
func (c Config) log() *slog.Logger { return cmp.Or(c.Logger, slog.New(slog.DiscardHandler)) }

// Runner keeps the registered projections filled. Safe for concurrent use after Start.
type Runner struct {
	cfg     Config
	logger  *slog.Logger
	entries []*entry
	byName  map[string]*entry
	views   *Views

	loops   *loop.Group
	away    loop.Outage   // of the database, as those see it who want to lead
	waiting atomic.Int64  // readers that wait
	came    atomic.Uint64 // readers that have waited since the start
	hurry   chan struct{} // wakes the follower when a reader begins to wait
}

// New makes an engine without projections; call Register, then Start.
func New(cfg Config) *Runner {
	r := &Runner{cfg: cfg, logger: cfg.log(), byName: map[string]*entry{}, hurry: make(chan struct{}, 1)}
	r.loops, r.views = loop.New(r.logger), &Views{r: r}
	return r
}

// Register adds projections. Call it before Start; Start reports names that are invalid or used twice.
func (r *Runner) Register(projections ...Projection) {
	for _, p := range projections {
		e := &entry{
			p: p, name: p.Name(), want: feed.Want(p.Handles()), retry: make(chan struct{}, 1),
			asked: make(chan struct{}, 1),
		}
		r.entries = append(r.entries, e)
		r.byName[e.name] = e
	}
}

// Views serves the reads of all registered projections; they work after Start.
func (r *Runner) Views() *Views { return r.views }

// Start prepares the tables and begins to fill them (internal/loop has the contract).
func (r *Runner) Start(ctx context.Context) error {
	return r.loops.Start(ctx, func(ctx context.Context) error {
		if err := r.Prepare(ctx); err != nil {
			return err
		}
		r.loops.Go("projections", r.run)
		return nil
	})
}

// Prepare checks the registrations and creates the tables that are missing. Start calls it; a program that only
// rebuilds or verifies calls it instead of Start.
func (r *Runner) Prepare(ctx context.Context) error {
	if err := r.check(); err != nil {
		return err
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	if err := r.cfg.DB.Migrate(ctx, "runner", files); err != nil {
		return err
	}
	return r.ensureActive(ctx)
}

// Stop ends all work and returns when the last goroutine has ended.
func (r *Runner) Stop() { r.loops.Stop() }

// nameShape restricts the names of projections, because a name becomes part of a schema's name.
var nameShape = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// check reports names that PostgreSQL could not hold (an identifier has 63 bytes) and names registered twice.
func (r *Runner) check() error {
	var err error
	seen := map[string]bool{}
	longest := 63 - len(r.cfg.DB.Namespace) - len("_p__g000000")
	for _, e := range r.entries {
		if !nameShape.MatchString(e.name) || len(e.name) > longest {
			err = errors.Join(err, fmt.Errorf("projection name %q: want at most %d lower-case letters, digits and "+
				"underscores", e.name, longest))
		}
		if seen[e.name] {
			err = errors.Join(err, fmt.Errorf("projection %s is registered twice", e.name))
		}
		seen[e.name] = true
	}
	return err
}
