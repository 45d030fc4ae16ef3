package runner

import (
	"context"
	"log/slog"

	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// Config is what the engine is built from.
type Config struct {
	Log    feed.Log   // what rebuilds read
	Feed   *feed.Feed // what live projections read; started and stopped by the owner
	DB     *postgres.DB
	Clock  clock.Clock
	Logger *slog.Logger
	// FollowOnly never writes: views wait for what another program's projections have done.
	FollowOnly bool
}

// Runner keeps the registered projections filled.
type Runner struct {
	cfg Config
}

// New makes an engine without projections.
func New(cfg Config) *Runner { return &Runner{cfg: cfg} }

// Register adds projections; before Start only.
func (r *Runner) Register(projections ...Projection) {}

// Views is the reading side.
func (r *Runner) Views() *Views { return &Views{} }

// Start prepares the tables and begins to fill them.
func (r *Runner) Start(ctx context.Context) error { return nil }

// Stop ends all work and returns when it has ended.
func (r *Runner) Stop() {}

// Status tells about every registered projection, in the order of registration.
func (r *Runner) Status() []Status { return nil }

// State is how a projection is doing.
type State string

// The states.
const (
	StateBehind    State = "behind"    // catching up with the log
	StateLive      State = "live"      // shows what was just written
	StateStopped   State = "stopped"   // met an event that it cannot apply; see Error
	StateFollowing State = "following" // another program fills it
)

// Status is one projection's progress.
type Status struct {
	Name       string
	Version    int // of the tables being read
	Generation int // counts rebuilds
	State      State
	Position   uint64 // everything up to here is shown
	Head       uint64 // newest position known
	Error      string // of the event that stopped it
	// Rebuild is the progress of new tables beside the present ones, nil when there are none.
	Rebuild *Progress
}

// Progress is how far new tables have got.
type Progress struct {
	Generation int
	Version    int
	Position   uint64
	Head       uint64
	Error      string
}
