// Package loop is the one way to run work in the background: a service has Start(ctx) and Stop(), both made of a Group.
//
// The contract of every service that is built on it:
//
//   - Start returns nil when the work runs, or the reason why it does not; then nothing runs. It is called once: a
//     second call gives ErrStarted, a call after Stop or after a failed Start gives ErrStopped.
//   - The context of Start bounds the start only. The work goes on when that context ends, and keeps its values.
//   - Stop cancels the work's context and returns when every goroutine of the service has ended. Nothing runs
//     afterwards. It may be called again, by several callers at the same time (each waits), before Start, and during
//     Start, which then breaks off. It must not be called and waited for by the work itself.
//   - An error is the work's own affair: it writes its log line and waits for the next round of Every, or by a Backoff,
//     so that a lasting failure fills no log.
//   - A panic does not end the program. It is logged with its stack, and the function that was given to Go is called
//     again after a pause that grows from 1 s to 1 min. So what a goroutine needs after a panic is kept outside of its
//     function, and what it holds is freed by a defer. Work that must not be repeated blindly uses Try and stops where
//     somebody sees it.
//
// What is not a loop, such as an HTTP server, keeps the same contract with a goroutine that waits for the end of its
// context and then shuts the server down.
package loop

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// Why a Start is refused.
var (
	ErrStarted = errors.New("already started")
	ErrStopped = errors.New("already stopped")
)

// Pauses after a panic. Work that went on for longer than the longest one is given the shortest again.
const (
	panicPause    = time.Second
	panicPauseMax = time.Minute
)

// Group is a set of goroutines that begin and end together. Safe for concurrent use.
type Group struct {
	logger *slog.Logger
	wait   sync.WaitGroup // the goroutines, and a Start that is under way

	mu      sync.Mutex
	run     context.Context //nolint:containedctx // the work's own, which no call has; nil before the start
	cancel  context.CancelFunc
	stopped bool
}

// New makes a group for a service, which has to be started. A nil logger discards.
func New(logger *slog.Logger) *Group {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Group{logger: logger}
}

// Within makes a group that has started already, for goroutines inside of other work: it ends with ctx at the latest.
// Stop must be called all the same, since only it waits.
func Within(ctx context.Context, logger *slog.Logger) *Group {
	g := New(logger)
	g.run, g.cancel = context.WithCancel(ctx)
	return g
}

// Start calls begin, which prepares what is needed and begins goroutines by Go. The context of begin ends with ctx and
// with Stop. When begin fails, the goroutines that it began are stopped before Start returns the error.
func (g *Group) Start(ctx context.Context, begin func(ctx context.Context) error) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	if err := g.open(ctx); err != nil {
		return err
	}
	defer context.AfterFunc(g.run, end)()
	if err := g.begin(ctx, begin); err != nil {
		g.Stop()
		return err
	}
	return nil
}

// open gives the group its context and counts the Start that is under way.
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

// begin runs the first part of a Start: Stop waits for its end.
func (g *Group) begin(ctx context.Context, begin func(ctx context.Context) error) error {
	defer g.wait.Done()
	return begin(ctx)
}

// Go runs a function in a goroutine of the group until it returns; ctx ends with Stop. After a panic it is called
// again, as the package comment says; name is its name in the log. Once Stop was called nothing is begun. Go before the
// start is a mistake of the program and panics.
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

// keep calls run until it returns by itself or the group is stopped.
func (g *Group) keep(ctx context.Context, name string, run func(ctx context.Context)) {
	machine := clock.System()
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

// Stop ends the work and waits for it, as the package comment says.
func (g *Group) Stop() {
	g.mu.Lock()
	g.stopped = true
	if g.cancel != nil {
		g.cancel()
	}
	g.mu.Unlock()
	g.wait.Wait()
}
