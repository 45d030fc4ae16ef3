package runner

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
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
	done   chan struct{}
	stop   context.CancelFunc

	mu       sync.Mutex
	position uint64
	live     bool
	fault    string
	changed  chan struct{} // closed at each advance
}

// NewMemory makes the keeper of a model.
func NewMemory(model MemoryModel, from *feed.Feed, logger *slog.Logger) *Memory {
	return &Memory{model: model, feed: from, logger: logger, done: make(chan struct{}), changed: make(chan struct{})}
}

// Start begins to fill the model and returns when it has caught up with the log: until then it would answer wrongly.
func (m *Memory) Start(ctx context.Context) error {
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	m.stop = stop
	go m.run(run)
	for {
		m.mu.Lock()
		live, fault, changed := m.live, m.fault, m.changed
		m.mu.Unlock()
		switch {
		case fault != "":
			m.Stop()
			return fmt.Errorf("fill %s: %s", m.model.Name(), fault)
		case live:
			return nil
		}
		select {
		case <-ctx.Done():
			m.Stop()
			return fmt.Errorf("fill %s: %w", m.model.Name(), ctx.Err())
		case <-changed:
		}
	}
}

// Stop ends filling; without a Start before it does nothing.
func (m *Memory) Stop() {
	if m.stop == nil {
		return
	}
	m.stop()
	<-m.done
}

// run takes page after page; a lost store is waited for, an event that cannot be read stops the model visibly.
func (m *Memory) run(ctx context.Context) {
	defer close(m.done)
	want, position, backoff := feed.Want(m.model.Handles()), uint64(0), minBackoff
	for ctx.Err() == nil {
		if position >= m.feed.Head() { // nothing to wait for: the log is empty, or what follows is not there yet
			m.advance(position, true, "")
		}
		page, err := m.feed.Next(ctx, position, want, batchLimit)
		if err != nil {
			if ctx.Err() == nil {
				m.logger.WarnContext(ctx, "model in memory interrupted", "projection", m.model.Name(), "error", err)
				sleep(ctx, backoff)
				backoff = min(2*backoff, maxBackoff)
			}
			continue
		}
		backoff = minBackoff
		for _, e := range page.Events {
			if bad, ok := e.Event.(feed.Undecodable); ok {
				m.logger.ErrorContext(ctx, "model in memory stopped", "projection", m.model.Name(), "position",
					e.Position, "error", bad)
				m.advance(e.Position-1, false, fmt.Sprintf("event at %d cannot be read", e.Position))
				return
			}
			m.model.Apply(*e)
		}
		position = page.UpTo
		m.advance(position, page.Live, "")
	}
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
