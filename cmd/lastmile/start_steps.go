package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// How long a step of a start may take until it is told, and the time between two lines of the log about it.
const (
	stepPatience = 5 * time.Second
	stepTold     = time.Minute
)

// startSteps knows what a start does at present, so that one that hangs is seen whatever it hangs on: a database that
// takes no commit, for instance, answers all that is asked about it. Safe for concurrent use. A nil one knows nothing.
type startSteps struct {
	clock  clock.Clock // for lengths of time
	logger *slog.Logger

	mu    sync.Mutex
	part  string // what the step needs, or "start"
	what  string // "" = no step has begun
	began time.Time
	told  time.Time // zero = not yet

	writes func() error // fails while the database takes no writes; nil = not known yet
}

// newStartSteps makes the steps of a start that has not begun.
func newStartSteps(logger *slog.Logger) *startSteps {
	return &startSteps{clock: clock.Steady(clock.System()), logger: logger}
}

// begin notes the next step, and what it needs.
func (s *startSteps) begin(part, what string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.part, s.what, s.began, s.told = part, what, s.clock.Now(), time.Time{}
}

// watched gives what knows from now on whether the database takes writes, as the reason of steps that take long.
func (s *startSteps) watched(writes func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes = writes
}

// slow gives the present step when it takes long; nil otherwise.
func (s *startSteps) slow() *awaited {
	s.mu.Lock()
	defer s.mu.Unlock()
	took := s.clock.Now().Sub(s.began)
	if s.what == "" || took < stepPatience {
		return nil
	}
	slow := awaited{s.part, fmt.Sprintf("The start is slow: %s, for %s so far.", s.what, took.Round(time.Second))}
	if s.writes == nil {
		return &slow
	}
	var why *failure.Error
	if errors.As(s.writes(), &why) {
		return &awaited{"writes", why.Message + " " + slow.why}
	}
	return &slow
}

// watch tells the log of a step that takes long, until stop is called.
func (s *startSteps) watch(ctx context.Context) (stop func()) {
	watch := loop.Within(ctx, s.logger)
	watch.Go("steps of the start", func(ctx context.Context) {
		_ = loop.Every(ctx, time.Second, nil, func(ctx context.Context) error {
			s.tell(ctx)
			return nil
		})
	})
	return watch.Stop
}

// tell is one look of watch.
func (s *startSteps) tell(ctx context.Context) {
	slow := s.slow()
	if slow == nil {
		return
	}
	s.mu.Lock()
	now := s.clock.Now()
	due := s.told.IsZero() || now.Sub(s.told) >= stepTold
	if due {
		s.told = now
	}
	s.mu.Unlock()
	if due {
		s.logger.WarnContext(ctx, "the start is slow", "part", slow.part, "detail", slow.why)
	}
}
