package runner

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/id"
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

// PartialModel is a MemoryModel that can answer for all organizations but some.
type PartialModel interface {
	MemoryModel
	// Leave tells that an event of an organization cannot be read, so that the model must not answer for it any more.
	// The goroutine of Apply calls it, once for each organization, and goes on to apply what can be read.
	Leave(org id.Organization)
}

// Memory fills one MemoryModel from the log and knows its position. Safe for concurrent use.
type Memory struct {
	model    MemoryModel
	feed     *feed.Feed
	logger   *slog.Logger
	patience time.Duration // of a reader
	loops    *loop.Group
	after    uint64 // position of the last event taken, or of a whole page; only run uses it

	mu       sync.Mutex
	position uint64 // everything up to here is shown
	live     bool
	fault    string
	left     map[id.Organization]string // organizations that a PartialModel was told to leave, and why
	changed  chan struct{}              // closed and replaced at each advance
}

// NewMemory makes an empty model's filler; Start begins the work. Of the configuration it uses the feed, the logger and
// the patience.
func NewMemory(model MemoryModel, cfg Config) *Memory {
	logger := cfg.log()
	return &Memory{
		model: model, feed: cfg.Feed, logger: logger, patience: cfg.patience(), loops: loop.New(logger),
		changed: make(chan struct{}), left: map[id.Organization]string{},
	}
}

// Start begins to fill the model. It returns when the model has reached the end of the log, because its answers would
// be wrong before, or when the model has stopped at an event: then Fault says so, and the rest of the program goes on
// without it (internal/loop has the contract).
func (m *Memory) Start(ctx context.Context) error {
	return m.loops.Start(ctx, func(ctx context.Context) error {
		m.loops.Go("model in memory", m.run)
		return m.settled(ctx)
	})
}

// settled waits until the model has once reached the end of the log, or has stopped. It fails when ctx has ended
// before.
func (m *Memory) settled(ctx context.Context) error {
	for {
		m.mu.Lock()
		settled, changed := m.live || m.fault != "", m.changed
		m.mu.Unlock()
		if settled {
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
// applied stops the model, with a log line and a Fault; it is tried again with growing pauses, because a read costs
// little and no person could ask every program for it. A log that has lost events which the model has taken stops the
// model until the program starts again: an empty model is the only right one then.
func (m *Memory) run(ctx context.Context) {
	want, pause := feed.Want(m.model.Handles()), loop.Backoff{Min: minBackoff, Max: maxBackoff}
	m.catchUp(ctx, want)
	for ctx.Err() == nil {
		if m.Fault() == "" && m.after >= m.feed.Head() { // the log ends here, or is empty: nothing is to be waited for
			m.advance(m.after, true, "")
		}
		page, err := m.feed.Next(ctx, m.after, want, batchLimit)
		if IsOtherLog(err) {
			m.logger.ErrorContext(ctx, "model in memory stopped", "projection", m.model.Name(), "error", err)
			m.advance(m.after, false, err.Error())
			return
		}
		if err != nil {
			if ctx.Err() == nil {
				m.logger.WarnContext(ctx, "model in memory interrupted", "projection", m.model.Name(), "error", err)
				pause.Wait(ctx)
			}
			continue
		}
		taken, whole := m.takeAll(ctx, page.Events)
		if taken > 0 {
			m.after = page.Events[taken-1].Position
			pause.Reset()
		}
		if !whole {
			pause.Wait(ctx)
			continue
		}
		pause.Reset()
		if m.Fault() != "" {
			m.logger.InfoContext(ctx, "model in memory goes on", "projection", m.model.Name(), "position", m.after)
		}
		m.after = page.UpTo
		m.advance(m.after, page.Live, "")
	}
}

// catchUp takes the history of the log, of which the log leaves out what is not wanted. Where it ends early, because of
// the log or of an event, the pages go on.
func (m *Memory) catchUp(ctx context.Context, want feed.Wanted) {
	for page, err := range m.feed.Stream(ctx, m.after, want, batchLimit) {
		if err != nil {
			return
		}
		taken, whole := m.takeAll(ctx, page.Events)
		if taken > 0 {
			m.after = page.Events[taken-1].Position
		}
		if !whole {
			return
		}
		m.after = page.UpTo
		m.advance(m.after, false, "")
	}
}

// takeAll applies events in order. It returns the number of those before the one that stopped the model; whole reports
// that there was none.
func (m *Memory) takeAll(ctx context.Context, list []*events.Envelope) (taken int, whole bool) {
	for i, e := range list {
		if !m.take(ctx, e) {
			return i, false
		}
	}
	return len(list), true
}

// take applies one event. It returns false when the event stopped the model. Only the first try at it is logged. An
// event that cannot be read stops a PartialModel for its organization alone, until the program starts again; behind it
// what cannot be applied there is passed over.
func (m *Memory) take(ctx context.Context, e *events.Envelope) bool {
	bad, unread := e.Event.(feed.Undecodable)
	what, err := "read", bad.Cause
	if !unread {
		what, err = "applied", loop.Try(func() error {
			m.model.Apply(*e)
			return nil
		})
		if err == nil {
			return true
		}
	}
	fault := fmt.Sprintf("event at %d cannot be %s", e.Position, what)
	if m.leave(ctx, e, fault, unread, err) {
		return true
	}
	if m.Fault() != fault {
		m.logger.ErrorContext(ctx, "model in memory stopped", "projection", m.model.Name(), "position", e.Position,
			"error", err, "stack", loop.StackOf(err))
		m.advance(e.Position-1, false, fault)
	}
	return false
}

// leave has a PartialModel leave the organization of an event that cannot be read. It reports false where the model has
// to stop: it is no PartialModel, the organization is not known, or an event cannot be applied and none was unreadable.
func (m *Memory) leave(ctx context.Context, e *events.Envelope, fault string, unread bool, err error) bool {
	model, partial := m.model.(PartialModel)
	org := e.Meta.OrgID
	if !partial || org.IsZero() {
		return false
	}
	m.mu.Lock()
	_, known := m.left[org]
	if unread && !known {
		m.left[org] = fault
	}
	m.mu.Unlock()
	if unread && !known {
		model.Leave(org)
		m.logger.ErrorContext(ctx, "model in memory leaves an organization", "projection", m.model.Name(),
			"org_id", org.String(), "position", e.Position, "error", err)
	}
	return unread || known
}

// Left lists the organizations for which the model does not answer, each with the reason, sorted.
func (m *Memory) Left() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]string, 0, len(m.left))
	for org, fault := range m.left {
		list = append(list, "organization "+org.String()+": "+fault)
	}
	slices.Sort(list)
	return list
}

// advance publishes position and state and wakes all who wait. live, once true, stays true.
func (m *Memory) advance(position uint64, live bool, fault string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.position, m.live, m.fault = position, m.live || live, fault
	close(m.changed)
	m.changed = make(chan struct{})
}

// Status is the state of the model in the form of a projection's.
func (m *Memory) Status() Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := Status{
		Name: m.model.Name(), State: StateBehind, Position: m.position, Head: max(m.feed.Head(), m.position),
		Error: m.fault, CaughtUp: m.live,
	}
	switch {
	case m.fault != "":
		s.State = StateStopped
	case m.live:
		s.State = StateLive
	}
	return s
}

// Fault is the reason for which the model has stopped; empty while it runs.
func (m *Memory) Fault() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.fault
}

// WaitFor waits until the model shows everything up to a position. It fails with ErrBehind after the
// configuration's Patience, or at once when the model has stopped.
func (m *Memory) WaitFor(ctx context.Context, position uint64) error {
	wait, cancel := context.WithTimeout(ctx, m.patience)
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
