package runner

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// MemoryModel is a read model in memory, for questions that every request asks. Each program fills its own from the
// log, so it needs no tables.
type MemoryModel interface {
	Name() string
	Handles() []string
	// Apply changes the model by one event. Only one goroutine calls it, in the order of the log.
	Apply(e events.Envelope)
}

// Memory fills one MemoryModel from the log and knows its position. Safe for concurrent use.
type Memory struct {
	model  MemoryModel
	feed   *feed.Feed
	logger *slog.Logger
	loops  *loop.Group

	mu       sync.Mutex
	position uint64
	live     bool
	fault    string
	changed  chan struct{} // closed and replaced at each advance
}

// NewMemory makes an empty model's filler; Start begins the work. The feed is the caller's to start and stop.
func NewMemory(model MemoryModel, from *feed.Feed, logger *slog.Logger) *Memory {
	return &Memory{model: model, feed: from, logger: logger, loops: loop.New(logger), changed: make(chan struct{})}
}

// Start begins to fill the model and returns when the model has reached the end of the log, because its answers would
// be wrong before (internal/loop has the contract).
func (m *Memory) Start(ctx context.Context) error {
	return m.loops.Start(ctx, func(ctx context.Context) error {
		m.loops.Go("model in memory", m.run)
		return m.caughtUp(ctx)
	})
}

// caughtUp waits until the model has once reached the end of the log. It fails when the model has stopped or ctx has
// ended before.
func (m *Memory) caughtUp(ctx context.Context) error {
	for {
		m.mu.Lock()
		live, fault, changed := m.live, m.fault, m.changed
		m.mu.Unlock()
		switch {
		case fault != "":
			return fmt.Errorf("fill %s: %s", m.model.Name(), fault)
		case live:
			return nil
		}
		if !loop.Wait(ctx, changed) {
			return fmt.Errorf("fill %s: %w", m.model.Name(), ctx.Err())
		}
	}
}

// Stop ends filling and returns when the goroutine has ended; the model keeps its content.
func (m *Memory) Stop() { m.loops.Stop() }

// run takes page after page until ctx ends. It waits while the log cannot be read. An event that cannot be decoded or
// applied stops the model, with a log line and a Fault.
func (m *Memory) run(ctx context.Context) {
	want, pause := feed.Want(m.model.Handles()), loop.Backoff{Min: minBackoff, Max: maxBackoff}
	m.mu.Lock()
	position := m.position
	m.mu.Unlock()
	for ctx.Err() == nil {
		if position >= m.feed.Head() { // the log is empty, or ends here: there is nothing to wait for
			m.advance(position, true, "")
		}
		page, err := m.feed.Next(ctx, position, want, batchLimit)
		if err != nil {
			if ctx.Err() == nil {
				m.logger.WarnContext(ctx, "model in memory interrupted", "projection", m.model.Name(), "error", err)
				pause.Wait(ctx)
			}
			continue
		}
		pause.Reset()
		for _, e := range page.Events {
			if !m.take(ctx, e) {
				return
			}
		}
		position = page.UpTo
		m.advance(position, page.Live, "")
	}
}

// take applies one event. It returns false when the event stopped the model.
func (m *Memory) take(ctx context.Context, e *events.Envelope) bool {
	bad, unread := e.Event.(feed.Undecodable)
	fault, err := "read", bad.Cause
	if !unread {
		fault, err = "applied", loop.Try(func() error {
			m.model.Apply(*e)
			return nil
		})
		if err == nil {
			return true
		}
	}
	m.logger.ErrorContext(ctx, "model in memory stopped", "projection", m.model.Name(), "position", e.Position, "error",
		err, "stack", loop.StackOf(err))
	m.advance(e.Position-1, false, fmt.Sprintf("event at %d cannot be %s", e.Position, fault))
	return false
}

// advance publishes position and state and wakes all who wait. live, once true, stays true.
func (m *Memory) advance(position uint64, live bool, fault string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.position, m.live, m.fault = position, m.live || live, fault
	close(m.changed)
	m.changed = make(chan struct{})
}

// Fault is the reason for which the model stopped; empty while it runs.
func (m *Memory) Fault() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.fault
}

// WaitFor waits until the model shows everything up to a position. It fails with ErrBehind after 2 s, or at once when
// the model has stopped.
func (m *Memory) WaitFor(ctx context.Context, position uint64) error {
	wait, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	for {
		m.mu.Lock()
		reached, stopped, changed := m.position >= position, m.fault != "", m.changed
		m.mu.Unlock()
		switch {
		case reached:
			return nil
		case stopped:
			return ErrBehind
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-wait.Done():
			return ErrBehind
		case <-changed:
		}
	}
}
