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

// MemoryModel is a read model that lives in memory, for what every request asks. Every replica fills its own from the
// log.
type MemoryModel interface {
	Name() string
	Handles() []string
	// Apply takes one event in; it is called by one goroutine.
	Apply(e events.Envelope)
}

// Memory keeps one MemoryModel filled.
type Memory struct {
	model  MemoryModel
	feed   *feed.Feed
	logger *slog.Logger
	loops  *loop.Group

	mu       sync.Mutex
	position uint64
	live     bool
	fault    string
	changed  chan struct{} // closed at each advance
}

// NewMemory makes the keeper of a model.
func NewMemory(model MemoryModel, from *feed.Feed, logger *slog.Logger) *Memory {
	return &Memory{model: model, feed: from, logger: logger, loops: loop.New(logger), changed: make(chan struct{})}
}

// Start begins to fill the model and returns when it has caught up with the log: until then it would answer wrongly
// (internal/loop has the contract).
func (m *Memory) Start(ctx context.Context) error {
	return m.loops.Start(ctx, func(ctx context.Context) error {
		m.loops.Go("model in memory", m.run)
		return m.caughtUp(ctx)
	})
}

// caughtUp waits until the model was live once; an error when it stopped or ctx ended before.
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

// Stop ends filling.
func (m *Memory) Stop() { m.loops.Stop() }

// run takes page after page; a lost store is waited for, an event that cannot be read or applied stops the model
// visibly.
func (m *Memory) run(ctx context.Context) {
	want, pause := feed.Want(m.model.Handles()), loop.Backoff{Min: minBackoff, Max: maxBackoff}
	m.mu.Lock()
	position := m.position
	m.mu.Unlock()
	for ctx.Err() == nil {
		if position >= m.feed.Head() { // nothing to wait for: the log is empty, or what follows is not there yet
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

// take gives the model an event; false when that stopped it.
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

// advance publishes how far the model is.
func (m *Memory) advance(position uint64, live bool, fault string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.position, m.live, m.fault = position, m.live || live, fault
	close(m.changed)
	m.changed = make(chan struct{})
}

// Fault says why the model stopped, "" while it does its work.
func (m *Memory) Fault() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.fault
}

// WaitFor waits until the model shows everything up to a position, 2 s at most, then it fails with ErrBehind; at once
// when the model has stopped.
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
