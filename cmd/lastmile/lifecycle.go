package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// How long the phases of stopping may take; together less than the 5 s that a stop has.
const (
	stopServing = 1000 * time.Millisecond // requests under way
	stopEngines = 2300 * time.Millisecond // jobs, processes, read models; longer than jobs take to end
	stopStorage = 500 * time.Millisecond  // connections, event store node, pools: each
	stopProgram = 3900 * time.Millisecond // all of it; then PostgreSQL is told to stop at once, which takes up to 1 s
)

// service is a part with Start and Stop that keep the contract of internal/loop.
type service interface {
	Start(ctx context.Context) error
	Stop()
}

// part was started and has to be stopped, within its limit.
type part struct {
	name  string
	limit time.Duration
	stop  func(ctx context.Context)
	// beside says that the part stops at the same time as the part before it.
	beside bool
	// kept says that the stop always waits for the part: it ends with its context, and would outlive the program.
	kept bool
}

// lifecycle remembers the parts that were started, stops them in reverse order, and receives the failures of parts that
// cannot go on. Safe for concurrent use.
type lifecycle struct {
	logger *slog.Logger
	parts  []part
	once   sync.Once
	watch  *loop.Group // waits for failures until everything has stopped
	fatal  chan error  // the first failure that the program cannot go on with
}

// newLifecycle makes a lifecycle without parts.
func newLifecycle(logger *slog.Logger) *lifecycle {
	return &lifecycle{
		logger: logger, watch: loop.Within(context.Background(), logger), fatal: make(chan error, 1),
	}
}

// start starts a service and notes it. A service that fails to start is not noted, since nothing of it runs.
func (l *lifecycle) start(ctx context.Context, name string, limit time.Duration, s service) error {
	if err := s.Start(ctx); err != nil {
		return err
	}
	l.started(name, limit, func(context.Context) { s.Stop() })
	return nil
}

// startBeside starts a service that stops at the same time as the part noted before it.
func (l *lifecycle) startBeside(ctx context.Context, name string, limit time.Duration, s service) error {
	if err := s.Start(ctx); err != nil {
		return err
	}
	l.startedBeside(name, limit, func(context.Context) { s.Stop() })
	return nil
}

// startTogether starts services at the same time, which all stop at the same time as the part noted before them.
func (l *lifecycle) startTogether(ctx context.Context, limit time.Duration, services map[string]service) error {
	group, starting := errgroup.WithContext(ctx)
	var mu sync.Mutex
	for name, s := range services {
		group.Go(func() error {
			if err := s.Start(starting); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			l.startedBeside(name, limit, func(context.Context) { s.Stop() })
			return nil
		})
	}
	return group.Wait()
}

// started notes a running part that has no Start method.
func (l *lifecycle) started(name string, limit time.Duration, stop func(ctx context.Context)) {
	l.parts = append(l.parts, part{name: name, limit: limit, stop: stop})
}

// startedKept notes a part that may take until the end of the whole stop. The stop waits for it.
func (l *lifecycle) startedKept(name string, stop func(ctx context.Context)) {
	l.parts = append(l.parts, part{name: name, limit: stopProgram, stop: stop, kept: true})
}

// startedBeside notes a part that stops at the same time as the one noted before it.
func (l *lifecycle) startedBeside(name string, limit time.Duration, stop func(ctx context.Context)) {
	l.parts = append(l.parts, part{name: name, limit: limit, stop: stop, beside: true})
}

// fail reports a failure that ends the program; only the first counts.
func (l *lifecycle) fail(err error) {
	select {
	case l.fatal <- err:
	default:
	}
}

// failsWith ends the program with the first failure that a part sends.
func (l *lifecycle) failsWith(name string, errs <-chan error) {
	l.watch.Go(name, func(ctx context.Context) {
		select {
		case err := <-errs:
			l.fail(fmt.Errorf("%s: %w", name, err))
		case <-ctx.Done():
		}
	})
}

// stop stops everything in reverse order. A part that takes longer than its limit is left behind: the program ends
// anyway, and every part survives a kill. A repetition does nothing.
func (l *lifecycle) stop() {
	l.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopProgram)
		defer cancel()
		for end := len(l.parts); end > 0; {
			begin := end - 1
			for l.parts[begin].beside && begin > 0 {
				begin--
			}
			var wait sync.WaitGroup
			for _, p := range l.parts[begin:end] {
				wait.Go(func() { l.stopPart(ctx, p) })
			}
			wait.Wait()
			end = begin
		}
		l.watch.Stop()
	})
}

// stopPart stops one part within its limit.
func (l *lifecycle) stopPart(ctx context.Context, p part) {
	ctx, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.stop(ctx)
	}()
	select {
	case <-done:
		return
	case <-ctx.Done():
	}
	if p.kept {
		<-done
		return
	}
	grace := time.NewTimer(50 * time.Millisecond) // a part that ends with its context needs a moment
	defer grace.Stop()
	select {
	case <-done:
	case <-grace.C:
		l.logger.Warn("part did not stop in time", slog.String("part", p.name))
	}
}

// wait returns nil when ctx ends, or the error of a part that has failed for good.
func (l *lifecycle) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-l.fatal:
		return err
	}
}

// errInterrupted ends a start that a signal has interrupted.
var errInterrupted = errors.New("interrupted")
