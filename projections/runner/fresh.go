package runner

import (
	"context"
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
)

// Fresh watches whether a model in memory has all that the log has. A model whose feed brings nothing any more looks
// like one of a quiet log, so the log itself is asked for its end. Safe for concurrent use.
type Fresh struct {
	of     *Memory
	clock  clock.Clock
	logger *slog.Logger
	loops  *loop.Group

	mu   sync.Mutex
	at   time.Time // everything that the log had then is in the model
	told bool      // the log of the program says that the model is old
}

// NewFresh makes a watch that is not started. The model counts as new until then.
func NewFresh(of *Memory, c clock.Clock, logger *slog.Logger) *Fresh {
	return &Fresh{of: of, clock: c, logger: logger, loops: loop.New(logger), at: c.Now()}
}

// Start begins to look, every five seconds.
func (f *Fresh) Start(ctx context.Context) error {
	return f.loops.Start(ctx, func(context.Context) error {
		f.loops.Go("age of a model in memory", func(ctx context.Context) {
			for ctx.Err() == nil {
				f.tell(ctx, f.Check(ctx, 0))
				loop.SleepUntil(ctx, f.clock, f.clock.Now().Add(freshEvery))
			}
		})
		return nil
	})
}

// Stop ends looking.
func (f *Fresh) Stop() { f.loops.Stop() }

// Age is the time since the model was known to have everything that is in the log: below ten seconds while all is well.
func (f *Fresh) Age() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return max(0, f.clock.Now().Sub(f.at))
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
	asked := f.clock.Now()
	wait, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	end, err := f.of.feed.End(wait)
	if err == nil {
		err = f.of.WaitFor(wait, end)
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
	old := f.Age() > freshLimit
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
