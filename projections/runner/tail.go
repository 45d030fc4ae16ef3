package runner

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

const (
	tailPage    = 1000        // events that are handed over at once
	tailRecent  = 8192        // events of the memory that Since looks through
	tailMissed  = 1000        // events of the log that Since reads where the memory does not reach back
	behindAgain = time.Second // between two looks at read models that were not waited for
)

// Shown has events that a Tail hands over, because the read models have them by now.
type Shown struct {
	Events []*events.Envelope // in order; shared with other consumers, so read-only
	UpTo   uint64             // no wanted event up to here is missing, unless Gap is set
	// Gap says that more may have changed than Events tell: a read model that had stopped goes on, or more events came
	// than the memory has.
	Gap bool
}

// Tail hands over new events, in order, as soon as every read model that handles them has them: whoever reads after it
// was told of an event finds what it changed. A read model that has stopped, or that is being built, is not waited for;
// when it shows what was passed over, a Gap tells so. The tail waits as long as a read model is behind.
type Tail struct {
	r      *Runner
	beside []*Memory
	want   feed.Wanted
	hand   func(Shown)
	loops  *loop.Group
	passed map[*entry]uint64 // read models that were not waited for, and up to where; only run uses it

	mu       sync.Mutex
	position uint64
}

// NewTail makes a tail of some event types, which begins at the end of the log. It waits for the read models of the
// runner and for models in memory beside them. hand is called by one goroutine and must return soon.
func (r *Runner) NewTail(types []string, hand func(Shown), beside ...*Memory) *Tail {
	return &Tail{
		r: r, beside: beside, want: feed.Want(types), hand: hand, loops: loop.New(r.logger),
		passed: map[*entry]uint64{},
	}
}

// Start begins at the present end of the log (internal/loop has the contract).
func (t *Tail) Start(ctx context.Context) error {
	return t.loops.Start(ctx, func(context.Context) error {
		t.loops.Go("tail of the log", t.run)
		return nil
	})
}

// Stop ends the handing over.
func (t *Tail) Stop() { t.loops.Stop() }

// run hands over page after page. The first one has no events: it says where the tail begins. After a panic, something
// may be missing from where it was.
func (t *Tail) run(ctx context.Context) {
	page, gap := feed.Page{UpTo: t.r.cfg.Feed.Head()}, t.at() > 0
	for whole := true; t.shown(ctx, page, whole); whole = gap {
		gap = t.caughtUp() || gap
		t.hand(Shown{Events: readable(page.Events), UpTo: page.UpTo, Gap: gap})
		t.move(page.UpTo)
		if !t.more(ctx, page.UpTo) {
			return
		}
		next, ok := t.r.cfg.Feed.Recent(page.UpTo, t.want, tailPage)
		if !ok {
			next = feed.Page{UpTo: t.r.cfg.Feed.Head()}
		}
		page, gap = next, !ok
	}
}

// more waits for the log to grow, or until read models that were not waited for have to be looked at again. It returns
// false when ctx has ended.
func (t *Tail) more(ctx context.Context, after uint64) bool {
	if len(t.passed) == 0 {
		return t.r.cfg.Feed.Wait(ctx, after) == nil
	}
	limited, cancel := context.WithTimeout(ctx, behindAgain)
	defer cancel()
	_ = t.r.cfg.Feed.Wait(limited, after) // the end of the time is as good a reason to look
	return ctx.Err() == nil
}

// shown waits until the read models have the events of a page, or with whole everything up to its end. It returns false
// when ctx has ended.
func (t *Tail) shown(ctx context.Context, page feed.Page, whole bool) bool {
	for _, e := range t.r.entries {
		last := page.UpTo
		if !whole {
			last = lastOf(page.Events, e.want)
		}
		switch err := e.progress.wait(ctx, last); {
		case ctx.Err() != nil:
			return false
		case errors.Is(err, ErrBehind):
			t.passed[e] = last
		}
	}
	if len(page.Events) == 0 && !whole {
		return true
	}
	for _, m := range t.beside {
		for m.WaitFor(ctx, page.UpTo) != nil && m.Fault() == "" {
			if ctx.Err() != nil {
				return false
			}
		}
	}
	return true
}

// lastOf is the position of the last event that a read model wants, 0 without one.
func lastOf(list []*events.Envelope, want feed.Wanted) uint64 {
	for _, e := range slices.Backward(list) {
		if want.Takes(e) {
			return e.Position
		}
	}
	return 0
}

// caughtUp reports whether a read model that was not waited for shows by now what was passed over.
func (t *Tail) caughtUp() (some bool) {
	for e, last := range t.passed {
		if e.progress.look().shows(last) {
			delete(t.passed, e)
			some = true
		}
	}
	return some
}

// readable leaves out events that this version of the program cannot read.
func readable(list []*events.Envelope) []*events.Envelope {
	if !slices.ContainsFunc(list, unreadable) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), unreadable)
}

// unreadable reports whether an event cannot be decoded.
func unreadable(e *events.Envelope) bool {
	_, bad := e.Event.(feed.Undecodable)
	return bad
}

// at is the position up to which events were handed over; 0 before the first time.
func (t *Tail) at() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.position
}

// move notes how far the tail has come.
func (t *Tail) move(to uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.position = to
}

// Since gives the wanted events after a position up to one that was handed over, for a reader who was away. It gives
// false when it cannot tell all of them with little work: the position is too old, or the log does not have it.
func (t *Tail) Since(ctx context.Context, after, upTo uint64) ([]*events.Envelope, bool) {
	if after >= upTo {
		return nil, t.r.cfg.Feed.Covers(ctx, after, eventstore.Mark{}) == nil
	}
	page, ok := t.r.cfg.Feed.Recent(after, t.want, tailRecent)
	if !ok {
		var err error
		if page, err = t.r.cfg.Feed.Read(ctx, after, t.want, tailMissed); err != nil {
			t.r.logger.WarnContext(ctx, "what a reader missed cannot be read", slog.String("error", err.Error()))
			return nil, false
		}
	}
	if page.UpTo < upTo {
		return nil, false
	}
	list := page.Events
	for len(list) > 0 && list[len(list)-1].Position > upTo {
		list = list[:len(list)-1]
	}
	return readable(list), true
}
