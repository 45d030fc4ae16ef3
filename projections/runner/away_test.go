package runner_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// told counts the lines of a log by their messages.
type told struct {
	slog.Handler
	mu    sync.Mutex
	lines map[string]int
}

// Enabled implements slog.Handler.
func (*told) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (h *told) Handle(_ context.Context, r slog.Record) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines[r.Message]++
	return nil
}

// count gives the number of lines with a message.
func (h *told) count(message string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lines[message]
}

// TestRunner_ADatabaseThatIsAwayFillsNoLog: all projections tell it as one, and they try less and less often.
func TestRunner_ADatabaseThatIsAwayFillsNoLog(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	log := &told{Handler: slog.DiscardHandler, lines: map[string]int{}}
	r := runner.New(runner.Config{Feed: feedtest.Start(t, b.log), DB: b.db, Clock: b.clock, Logger: slog.New(log)})
	for n := range 12 {
		r.Register(sales{name: fmt.Sprintf("sales%d", n)})
	}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	for n := range 12 {
		until(t, r, "live", func(s runner.Status) bool {
			return s.Name == fmt.Sprintf("sales%d", n) && s.State == runner.StateLive
		})
	}
	b.db.Close()
	const waits, upkeep = "projections wait for the database", "projection upkeep failed"
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	for log.count(upkeep) < 3 { // after 3 seconds at least
		if !loop.Sleep(ctx, 10*time.Millisecond) {
			t.Fatalf("%v", log.lines)
		}
	}
	if n := log.count(waits); n != 1 {
		t.Errorf("told %d times that projections wait: %v", n, log.lines)
	}
	if n := log.count("projections cannot be followed"); n != 1 {
		t.Errorf("told %d times that projections cannot be followed: %v", n, log.lines)
	}
}
