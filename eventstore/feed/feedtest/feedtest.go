// Package feedtest has a log in memory for tests of consumers: ordered, followable, and away when told to be.
package feedtest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// errAway is what a log that was sent away answers.
var errAway = errors.New("log is away")

// Log is a log in memory. Safe for concurrent use.
type Log struct {
	mu      sync.Mutex
	events  []events.Envelope
	away    bool
	changed chan struct{}
}

// New makes an empty log.
func New() *Log { return &Log{changed: make(chan struct{})} }

// Append adds events with these metadata and gives the position of the last. Positions are tens, so that there are some
// without an event.
func (l *Log) Append(meta events.Metadata, list ...events.Event) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range list {
		m := meta
		m.EventID = id.New[id.Event]()
		l.events = append(l.events, events.Envelope{
			ID: m.EventID, Stream: "test-" + m.EventID.String(), Position: uint64(10 * (len(l.events) + 1)),
			Type: e.EventType(), Event: e, Meta: m,
		})
	}
	close(l.changed)
	l.changed = make(chan struct{})
	return l.headLocked()
}

// AppendAs appends one event with its stream and revision, and gives its position.
func (l *Log) AppendAs(stream string, revision uint64, meta events.Metadata, e events.Event) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	meta.EventID = id.New[id.Event]()
	l.events = append(l.events, events.Envelope{
		ID: meta.EventID, Stream: stream, Revision: revision, Position: uint64(10 * (len(l.events) + 1)),
		Type: e.EventType(), Event: e, Meta: meta,
	})
	close(l.changed)
	l.changed = make(chan struct{})
	return l.headLocked()
}

// Events gives what was appended.
func (l *Log) Events() []events.Envelope {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events)
}

// SetAway makes every call fail, or work again.
func (l *Log) SetAway(away bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.away = away
	close(l.changed)
	l.changed = make(chan struct{})
}

// headLocked is the last position; the lock is held.
func (l *Log) headLocked() uint64 { return uint64(10 * len(l.events)) }

// Head is the last position.
func (l *Log) Head(context.Context) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away {
		return 0, errAway
	}
	return l.headLocked(), nil
}

// ReadAll gives a page.
func (l *Log) ReadAll(_ context.Context, after uint64, limit int, types []string) ([]events.Envelope, uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away {
		return nil, 0, errAway
	}
	want, next := feed.Want(types), after
	var page []events.Envelope
	for _, e := range l.events {
		if e.Position <= after {
			continue
		}
		if len(page) == limit {
			break
		}
		next = e.Position
		if want.Has(e.Type) {
			page = append(page, e)
		}
	}
	return page, next, nil
}

// Follow begins after a position.
func (l *Log) Follow(_ context.Context, after uint64, types []string) feed.Cursor {
	return &cursor{log: l, after: after, want: feed.Want(types)}
}

// cursor is a place in the log.
type cursor struct {
	log   *Log
	after uint64
	want  feed.Wanted
}

// Next waits for an event.
func (c *cursor) Next(ctx context.Context) (feed.Item, error) {
	for {
		c.log.mu.Lock()
		away, changed := c.log.away, c.log.changed
		at := int(c.after / 10)
		if !away && at < len(c.log.events) {
			e := c.log.events[at]
			c.log.mu.Unlock()
			c.after = e.Position
			if !c.want.Has(e.Type) {
				return feed.Item{Position: e.Position}, nil
			}
			return feed.Item{Event: &e, Position: e.Position}, nil
		}
		c.log.mu.Unlock()
		if away {
			return feed.Item{}, errAway
		}
		select {
		case <-ctx.Done():
			return feed.Item{}, ctx.Err()
		case <-changed:
		}
	}
}

// Start gives a running feed of a log; it is stopped at the end of the test.
func Start(t testing.TB, log feed.Log) *feed.Feed {
	t.Helper()
	f := feed.New(log, nil)
	if err := f.Start(t.Context()); err != nil {
		t.Fatalf("start feed: %v", err)
	}
	t.Cleanup(f.Stop)
	return f
}
