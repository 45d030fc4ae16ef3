package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Times of the watch of a model in memory.
const (
	freshEvery = 5 * time.Second
	// freshLimit is the age from which a model counts as old. A look that comes late makes none old.
	freshLimit = 30 * time.Second
	// stuckLooks is the number of looks, one after the other, after which a model is stuck that lacks what the log has
	// and takes nothing. They are counted, so that a clock which was moved makes no model stuck.
	stuckLooks = int(freshLimit / freshEvery)
)

// errBehind says that the log was asked for its end, and has what the model lacks.
var errBehind = errors.New("the log has more")

// Fresh watches whether a model in memory has all that the log has. A model whose feed brings nothing any more looks
// like one of a quiet log, so the log itself is asked for its end. Safe for concurrent use.
type Fresh struct {
	of     *Memory
	clock  clock.Clock
	pace   clock.Clock // of it, so that a machine's clock that is put back makes no model new
	logger *slog.Logger
	loops  *loop.Group

	mu    sync.Mutex
	at    time.Time // by pace: everything that the log had then is in the model
	stays uint64    // the position of the model at the last look
	looks int       // that found it there, and the log ahead
	told  bool      // the log of the program says that the model is old
}

// NewFresh makes a watch that is not started. The model counts as new until then.
func NewFresh(of *Memory, c clock.Clock, logger *slog.Logger) *Fresh {
	pace := clock.Pace(c)
	return &Fresh{of: of, clock: c, pace: pace, logger: logger, loops: loop.New(logger), at: pace.Now()}
}

// Start begins to look, every five seconds.
func (f *Fresh) Start(ctx context.Context) error {
	return f.loops.Start(ctx, func(context.Context) error {
		f.loops.Go("age of a model in memory", func(ctx context.Context) {
			for ctx.Err() == nil {
				f.look(ctx)
				loop.SleepFor(ctx, f.clock, freshEvery)
			}
		})
		return nil
	})
}

// Stop ends looking.
func (f *Fresh) Stop() { f.loops.Stop() }

// look looks once, and counts for Stuck.
func (f *Fresh) look(ctx context.Context) {
	err := f.Check(ctx, 0)
	position := f.of.Status().Position
	f.mu.Lock()
	switch {
	case err == nil || position != f.stays:
		f.stays, f.looks = position, 0
	case errors.Is(err, errBehind):
		f.looks++
	}
	f.mu.Unlock()
	f.tell(ctx, err)
}

// Stuck reports whether the model has taken nothing for half a minute although the log has more: it will not follow any
// more, unlike one that is slow, and unlike one whose log is away, to which nobody can add anything.
func (f *Fresh) Stuck() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.looks >= stuckLooks
}

// Age is the time since the model was known to have everything that is in the log: below ten seconds while all is well.
func (f *Fresh) Age() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pace.Now().Sub(f.at)
}

// Current fails when the model does not follow the log: it has stopped, or for half a minute it was not known to have
// everything. The log is asked once more before, so that a clock which was moved makes no model old.
func (f *Fresh) Current(ctx context.Context) error { return f.Check(ctx, freshLimit) }

// Check is Current for a model that is older than a limit.
func (f *Fresh) Check(ctx context.Context, limit time.Duration) error {
	if fault := f.of.Fault(); fault != "" || !f.of.Status().CaughtUp {
		return fmt.Errorf("%s does not follow the log: %s", f.of.model.Name(), fault)
	}
	age := f.Age()
	if limit > 0 && age <= limit {
		return nil
	}
	asked := f.pace.Now()
	wait, cancel := context.WithTimeout(ctx, usualPatience)
	defer cancel()
	end, err := f.of.feed.End(wait)
	if err == nil {
		if err = f.of.WaitFor(wait, end); err != nil {
			err = fmt.Errorf("%w: %w", errBehind, err)
		}
	}
	if err != nil {
		return fmt.Errorf("%s is not known to have what the log has since %s ago: %w", f.of.model.Name(),
			age.Round(time.Second), err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if asked.After(f.at) {
		f.at = asked
	}
	return nil
}

// tell writes to the log of the program when the model becomes old, and when it is new again.
func (f *Fresh) tell(ctx context.Context, err error) {
	old := err != nil && f.Age() > freshLimit // the clock may have been moved meanwhile
	switch {
	case old == f.told || ctx.Err() != nil:
		return
	case old:
		f.logger.ErrorContext(ctx, "model in memory is old", "projection", f.of.model.Name(), "error", err)
	default:
		f.logger.InfoContext(ctx, "model in memory is new again", "projection", f.of.model.Name())
	}
	f.told = old
}
