// Package loop is the only way to run work in the background. A service has Start(ctx) and Stop, both made with a
// Group.
//
// The contract of every service that uses a Group:
//
//   - Start returns nil when the work runs, or the reason why it does not; then nothing runs. It is called once: a
//     second call returns ErrStarted, a call after Stop or after a failed Start returns ErrStopped.
//   - The context of Start limits the start only. The work goes on when that context ends, and it keeps the values of
//     that context.
//   - Stop cancels the context of the work and returns when every goroutine of the service has ended. Nothing runs
//     afterwards. Stop may be called again, by several callers at the same time (each waits), before Start, and during
//     Start, which then fails. The work itself must not call Stop, because it would wait for itself.
//   - The work handles its own errors: it writes a log line and waits for the next round of Every, or by a Backoff, so
//     that a lasting failure does not fill the log.
//   - A panic does not end the program. It is logged with its stack, and the function that was given to Go is called
//     again after a pause that grows from 1 s to 1 min. Therefore a goroutine keeps the state that it needs after a
//     panic outside of its function, and frees what it holds by a defer. Work that must not be repeated without a check
//     uses Try and stops where an operator sees it.
//
// Work that is not a loop, such as an HTTP server, keeps the same contract with a goroutine that waits for the end of
// its context and then shuts the server down.
package loop

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// The reasons why Start refuses a group.
var (
	ErrStarted = errors.New("already started")
	ErrStopped = errors.New("already stopped")
)

// Pauses after a panic. After a run that lasted longer than the longest pause, the pauses begin again with the
// shortest.
const (
	panicPause    = time.Second
	panicPauseMax = time.Minute
)

// Group is a set of goroutines that begin and end together. Safe for concurrent use.
type Group struct {
	logger *slog.Logger
	wait   sync.WaitGroup // counts the goroutines and a running Start

	mu      sync.Mutex
	run     context.Context //nolint:containedctx // the context of the work; nil before Start
	cancel  context.CancelFunc
	stopped bool
}

// New makes a group that must be started. With a nil logger it logs nothing.
func New(logger *slog.Logger) *Group {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Group{logger: logger}
}

// Within makes a group that has started already, for goroutines inside of other work. Its context ends with ctx. Stop
// must be called nevertheless, because only Stop waits for the goroutines.
func Within(ctx context.Context, logger *slog.Logger) *Group {
	g := New(logger)
	g.run, g.cancel = context.WithCancel(ctx)
	return g
}

// Start calls begin, which prepares the work and starts its goroutines by Go. The context of begin ends with ctx and
// with Stop. When begin fails, Start stops the goroutines that begin has started and then returns the error.
func (g *Group) Start(ctx context.Context, begin func(ctx context.Context) error) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	if err := g.open(ctx); err != nil {
		return err
	}
	defer context.AfterFunc(g.run, end)()
	begun := false
	defer func() {
		if !begun { // begin failed or panicked
			g.Stop()
		}
	}()
	if err := g.begin(ctx, begin); err != nil {
		return err
	}
	begun = true
	return nil
}

// open checks that the group may start, makes the context of the work and counts the running Start.
func (g *Group) open(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.stopped:
		return ErrStopped
	case g.run != nil:
		return ErrStarted
	}
	g.run, g.cancel = context.WithCancel(context.WithoutCancel(ctx))
	g.wait.Add(1)
	return nil
}

// begin calls the function of a Start and then ends the count that Stop waits for.
func (g *Group) begin(ctx context.Context, begin func(ctx context.Context) error) error {
	defer g.wait.Done()
	return begin(ctx)
}

// Go runs a function in a goroutine of the group until the function returns; its ctx ends with Stop. After a panic the
// function is called again (see the package comment); the log line has the name. After Stop, Go does nothing. Go before
// Start is a programming error and panics.
func (g *Group) Go(name string, run func(ctx context.Context)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return
	}
	if g.run == nil {
		panic("loop: Go before Start")
	}
	g.wait.Go(func() { g.keep(g.run, name, run) })
}

// keep calls run until it returns without a panic or the group is stopped.
func (g *Group) keep(ctx context.Context, name string, run func(ctx context.Context)) {
	machine := clock.Steady(clock.System())
	pause := Backoff{Min: panicPause, Max: panicPauseMax}
	for {
		began := machine.Now()
		err := Try(func() error {
			run(ctx)
			return nil
		})
		var bad *PanicError
		if !errors.As(err, &bad) {
			return
		}
		if machine.Now().Sub(began) > panicPauseMax {
			pause.Reset()
		}
		g.logger.ErrorContext(ctx, "loop panicked", "loop", name, "error", bad, "stack", bad.Stack, "retry_in",
			pause.Pause())
		if !pause.Wait(ctx) {
			return
		}
	}
}

// Stop ends the work and waits for its goroutines (see the package comment).
func (g *Group) Stop() {
	g.mu.Lock()
	g.stopped = true
	if g.cancel != nil {
		g.cancel()
	}
	g.mu.Unlock()
	g.wait.Wait()
}
