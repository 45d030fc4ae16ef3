package feed

import (
	"context"
	"errors"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// waiter begins to wait for the growth of a feed, and reports whether it was woken since.
func waiter(f *Feed) (woken func() bool) {
	changed := make(chan struct{})
	f.mu.Lock()
	f.changed = changed
	f.mu.Unlock()
	return func() bool {
		select {
		case <-changed:
			return true
		default:
			return false
		}
	}
}

// TestFeed_WakesOnceForWhatComesTogether: the last one wakes, also one that was there before.
func TestFeed_WakesOnceForWhatComesTogether(t *testing.T) {
	t.Parallel()
	f := New(nil, nil)
	woken := waiter(f)
	one := func(position uint64, more bool) Item {
		return Item{Event: &events.Envelope{Position: position, Type: "even"}, Position: position, More: more}
	}
	for _, position := range []uint64{1, 2} {
		if f.publish(one(position, true)); woken() || f.Head() != position {
			t.Errorf("at %d: woken %v, head %d", position, woken(), f.Head())
		}
	}
	if f.publish(one(3, false)); !woken() {
		t.Error("the last one wakes nobody")
	}
	if page, ok := f.Recent(0, Want(nil), 10); !ok || len(page.Events) != 3 || !page.Live {
		t.Errorf("%d events, %v", len(page.Events), ok)
	}
	woken = waiter(f)
	f.publish(one(4, true))
	if f.publish(Item{Position: 4}); !woken() {
		t.Error("the end of what came together wakes nobody")
	}
	woken = waiter(f)
	if f.publish(Item{Position: 4}); woken() {
		t.Error("nothing new wakes somebody")
	}
}

// broken has a cursor that fails where more was to come.
type broken struct{ Log }

// EventAt fails never, and knows none.
func (broken) EventAt(context.Context, uint64) (id.Event, error) { return id.Event{}, nil }

// Head is that of an empty log.
func (broken) Head(context.Context) (uint64, error) { return 0, nil }

// Follow gives one item.
func (broken) Follow(context.Context, uint64, eventstore.Mark, []string) Cursor {
	return new(brokenCursor)
}

// brokenCursor gives one item.
type brokenCursor struct{ given bool }

// Next fails after the first item.
func (c *brokenCursor) Next(context.Context) (Item, error) {
	if c.given {
		return Item{}, errors.New("connection lost")
	}
	c.given = true
	return Item{Position: 1, More: true}, nil
}

// TestFeed_WakesWhenWhatWasToComeDoesNot: nobody waits for the next connection to see what there is.
func TestFeed_WakesWhenWhatWasToComeDoesNot(t *testing.T) {
	t.Parallel()
	f := New(broken{}, nil)
	woken := waiter(f)
	if advanced, err := f.follow(t.Context()); !advanced || err == nil || !woken() {
		t.Errorf("advanced %v, %v; woken %v", advanced, err, woken())
	}
}
