// Package feedtest has a log in memory for tests of consumers. The log keeps its order, can be followed, and can be
// made to fail.
package feedtest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// errAway is the error of every call while the log is away.
var errAway = errors.New("log is away")

// Log is a feed.Log in memory. Safe for concurrent use.
type Log struct {
	mu      sync.Mutex
	events  []events.Envelope
	away    bool
	breaks  int // how often the log was replaced
	changed chan struct{}
}

// New makes an empty log that answers.
func New() *Log { return &Log{changed: make(chan struct{})} }

// Append adds events with these metadata, each in a stream of its own, and returns the position of the last one.
// Positions are 10, 20, 30 and so on, because a real log also has gaps.
func (l *Log) Append(meta events.Metadata, list ...events.Event) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.appendLocked(meta, list)
}

// appendLocked needs the lock.
func (l *Log) appendLocked(meta events.Metadata, list []events.Event) uint64 {
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

// AppendAs adds one event at a revision of a stream and returns its position. Nothing checks the revision.
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

// Learn makes the event at a position readable, as a newer version of the program would read it.
func (l *Log) Learn(position uint64, e events.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := &l.events[position/10-1]
	at.Event, at.Type = e, e.EventType()
}

// Events returns a copy of all events, in order.
func (l *Log) Events() []events.Envelope {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events)
}

// SetAway makes every call fail, or work again. Cursors that wait fail at once.
func (l *Log) SetAway(away bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.away = away
	close(l.changed)
	l.changed = make(chan struct{})
}

// headLocked needs the lock. It is 0 for an empty log.
func (l *Log) headLocked() uint64 { return uint64(10 * len(l.events)) }

// Head fails while the log is away.
func (l *Log) Head(context.Context) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away {
		return 0, errAway
	}
	return l.headLocked(), nil
}

// EventAt fails while the log is away, and beyond its end.
func (l *Log) EventAt(_ context.Context, position uint64) (id.Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.away {
		return id.Event{}, errAway
	}
	if n := position / 10; position%10 == 0 && n > 0 && n <= uint64(len(l.events)) {
		return l.events[n-1].ID, nil
	}
	if position > l.headLocked() {
		return id.Event{}, &eventstore.ShortLogError{Before: position}
	}
	return id.Event{}, nil
}

// Replace makes another log of this one, as a restore to an older state does: it keeps its first events and appends
// others. It breaks every cursor, as a server does that goes away; the cursors of a feed notice nothing before.
func (l *Log) Replace(keep int, meta events.Metadata, list ...events.Event) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = l.events[:keep:keep]
	l.breaks++
	return l.appendLocked(meta, list)
}

// ReadAll fails while the log is away. The returned position is that of the last event searched.
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
		if want.Takes(&e) {
			page = append(page, e)
		}
	}
	return page, next, nil
}

// Follow makes a cursor. While the log is away, Next of the cursor fails, not Follow.
func (l *Log) Follow(_ context.Context, after uint64, _ eventstore.Mark, types []string) feed.Cursor {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &cursor{log: l, after: after, want: feed.Want(types), breaks: l.breaks}
}

// cursor is the feed.Cursor of a Log. For one goroutine.
type cursor struct {
	log   *Log
	after uint64
	want  feed.Wanted

	breaks int // of the log when the cursor was made
}

// Next returns an item without an event for each unwanted event, as a real log may.
func (c *cursor) Next(ctx context.Context) (feed.Item, error) {
	for {
		c.log.mu.Lock()
		away, changed := c.log.away || c.log.breaks != c.breaks, c.log.changed
		at := int(c.after / 10)
		if !away && at < len(c.log.events) {
			e := c.log.events[at]
			c.log.mu.Unlock()
			c.after = e.Position
			if !c.want.Takes(&e) {
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

// Start starts a feed without log lines and stops it at the end of the test.
func Start(t testing.TB, log feed.Log) *feed.Feed {
	t.Helper()
	f := feed.New(log, nil)
	if err := f.Start(t.Context()); err != nil {
		t.Fatalf("start feed: %v", err)
	}
	t.Cleanup(f.Stop)
	return f
}
