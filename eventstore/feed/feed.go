package feed

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sort"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// defaultKeep is the least number of events in memory, once so many were published. A consumer that falls further
// behind reads pages from the log.
const defaultKeep = 8192

// keepBytes bounds the events in memory by the size in which they are stored.
const keepBytes = 64 << 20

// skipLimit is the number of items without an event that end a page. Each of them stands for many unwanted events, so a
// consumer shows and stores its progress also where few events are wanted.
const skipLimit = 32

// Pauses between attempts to follow a log that does not answer.
const (
	minBackoff = 50 * time.Millisecond
	maxBackoff = 5 * time.Second
)

// Feed reads the log once for many consumers. Safe for concurrent use.
type Feed struct {
	log    Log
	logger *slog.Logger
	keep   int
	loops  *loop.Group

	mu       sync.Mutex
	recent   []*events.Envelope // all events after floor, up to position, in order
	sizes    []int              // of the events in recent
	bytes    int                // sum of sizes
	floor    uint64
	below    eventstore.Mark // the last event up to floor
	position uint64
	changed  chan struct{} // closed when position grows; nil when no consumer waits
	untold   bool          // position has grown, and more comes at once
	other    error         // the log has turned out to be another one: nothing is read any more
	short    error         // the log ends before what was read of it: nothing is read until it does not
	again    func()        // ends the present look at the log, so that run begins anew; nil before the first
	lost     chan error    // room for one
}

// New makes a feed that does nothing before Start. With a nil logger it logs nothing.
func New(log Log, logger *slog.Logger) *Feed {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Feed{log: log, logger: logger, keep: defaultKeep, loops: loop.New(logger), lost: make(chan error, 1)}
}

// Start begins to follow the log at its present end; older events are read in pages (internal/loop has the contract).
func (f *Feed) Start(ctx context.Context) error {
	return f.loops.Start(ctx, func(ctx context.Context) error {
		head, err := f.log.Head(ctx)
		if err != nil {
			return fmt.Errorf("start feed: %w", err)
		}
		last, err := f.log.EventAt(ctx, head)
		if err != nil {
			return fmt.Errorf("start feed: %w", err)
		}
		f.floor, f.position, f.below = head, head, eventstore.Mark{Position: head, ID: last}
		f.loops.Go("feed", f.run)
		return nil
	})
}

// Stop ends the reading of the log. Consumers that wait go on waiting until their own contexts end.
func (f *Feed) Stop() { f.loops.Stop() }

// Head is the newest known position; 0 before Start and for an empty log.
func (f *Feed) Head() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.position
}

// run follows the log until Stop, or until it turns out to be another one, and pauses after each failure.
func (f *Feed) run(ctx context.Context) {
	pause := loop.Backoff{Min: minBackoff, Max: maxBackoff}
	for {
		advanced, err := f.follow(ctx)
		if ctx.Err() != nil {
			return
		}
		if isOther(err) {
			f.part(ctx, err)
			return
		}
		if isShort(err) {
			f.hold(ctx, err)
		}
		if advanced {
			pause.Reset()
		}
		f.logger.WarnContext(ctx, "log cannot be followed", "error", cmp.Or(f.Short(), err), "position", f.Head())
		if !pause.Wait(ctx) {
			return
		}
	}
}

// follow publishes items until an error. advanced reports whether there was any item. It looks first whether the log is
// still the one that was read.
func (f *Feed) follow(ctx context.Context) (advanced bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer f.tell()
	f.mu.Lock()
	f.again = cancel
	f.mu.Unlock()
	if err := f.still(ctx); err != nil {
		return false, err
	}
	cursor := f.log.Follow(ctx, f.Head(), f.newest(), nil)
	for {
		item, err := cursor.Next(ctx)
		if err != nil {
			return advanced, err
		}
		f.publish(item)
		advanced = true
	}
}

// publish adds an item. It wakes the consumers that wait when no more come at once: each of nearly a hundred would look
// at every single event.
func (f *Feed) publish(item Item) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.add(item)
	if f.untold && !item.More {
		f.wake()
	}
}

// add adds an item. It ignores positions that there were before, as after a lost connection. The caller holds the lock.
func (f *Feed) add(item Item) {
	if item.Position <= f.position {
		return
	}
	if item.Event != nil {
		f.recent, f.sizes = append(f.recent, item.Event), append(f.sizes, item.Size)
		if f.bytes += item.Size; f.bytes > keepBytes || len(f.recent) >= 2*f.keep {
			f.forget()
		}
	}
	f.position, f.untold = item.Position, true
}

// tell wakes the consumers when they were not woken because more was to come.
func (f *Feed) tell() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.untold {
		f.wake()
	}
}

// wake lets those look who wait. The caller holds the lock.
func (f *Feed) wake() {
	f.untold = false
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
}

// forget drops the oldest events until half of either bound is left. It moves the rest to new memory, so that the
// dropped ones are freed.
func (f *Feed) forget() {
	dropped := 0
	for ; len(f.recent)-dropped > f.keep || f.bytes > keepBytes/2; dropped++ {
		f.bytes -= f.sizes[dropped]
	}
	f.floor, f.below = f.recent[dropped-1].Position, markOf(f.recent[dropped-1])
	f.recent = append(make([]*events.Envelope, 0, 2*f.keep), f.recent[dropped:]...)
	f.sizes = append(make([]int, 0, 2*f.keep), f.sizes[dropped:]...)
}

// End asks the log for the position of its last event, which may be newer than Head.
func (f *Feed) End(ctx context.Context) (uint64, error) {
	seen := f.newest().Position
	end, err := f.log.Head(ctx)
	if err == nil && end < seen {
		err = &eventstore.ShortLogError{Before: seen}
		f.hold(ctx, err)
	}
	if err = cmp.Or(err, f.parted()); err != nil {
		return 0, fmt.Errorf("look for the end of the log: %w", err)
	}
	return end, nil
}

// covers fails with an eventstore.OtherLogError when the log ends before a position. A consumer may be ahead of this
// feed, so the log itself is asked then. Every read calls it.
func (f *Feed) covers(ctx context.Context, after uint64) error {
	if err := f.parted(); err != nil || after <= f.Head() {
		return err
	}
	head, err := f.End(ctx)
	if err != nil {
		return err
	}
	if head < after {
		return &eventstore.OtherLogError{After: after, Head: head}
	}
	return nil
}

// Page is a part of the log for one consumer: the wanted events after From, up to UpTo.
type Page struct {
	Events []*events.Envelope // in order; shared with other consumers, so read-only
	Sizes  []int              // of Events, as they are stored, in bytes; nil when they are not known
	// From is the requested position. UpTo is the position up to which the log was searched: no wanted event is
	// missing.
	From, UpTo uint64
	// Mark is the newest event up to UpTo that is known, wanted or not; a consumer keeps it beside UpTo (MarkOf).
	Mark eventstore.Mark
	// Live reports that UpTo was the newest known position.
	Live bool
}

// Read returns the wanted events after a position, at most limit, without waiting: from memory, else from the log. The
// page is empty, with UpTo = after, when the log has nothing after the position. It fails with an
// eventstore.OtherLogError when the log ends before the position, or was replaced, and with a ShortLogError, which
// passes, while the log ends before what the feed has read.
func (f *Feed) Read(ctx context.Context, after uint64, want Wanted, limit int) (Page, error) {
	if err := f.covers(ctx, after); err != nil {
		return Page{}, err
	}
	if page, ok := f.Recent(after, want, limit); ok {
		return page, nil
	}
	f.mu.Lock()
	floor := f.floor
	f.mu.Unlock()
	found, next, err := f.log.ReadAll(ctx, after, limit, want.listed())
	if err != nil {
		return Page{}, fmt.Errorf("read log after %d: %w", after, err)
	}
	page := Page{From: after, UpTo: max(after, next), Events: make([]*events.Envelope, 0, len(found))}
	for i := range found {
		if want.Takes(&found[i]) {
			page.Events = append(page.Events, &found[i])
		}
	}
	if len(found) == 0 && next <= after {
		if err := f.still(ctx); err != nil { // one that ends before after has nothing, too
			return Page{}, err
		}
		page.UpTo = floor // the log has no wanted event up to floor, which was read before
	}
	if mark, ok := f.markAt(page.UpTo); ok {
		page.Mark = mark
	} else if n := len(found); n > 0 {
		page.Mark = markOf(&found[n-1])
	}
	return page, nil
}

// Recent is Read from memory only. It returns false when memory does not reach back to the position, or may not be of
// the log.
func (f *Feed) Recent(after uint64, want Wanted, limit int) (Page, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if after < f.floor || f.other != nil || f.short != nil {
		return Page{}, false
	}
	page := Page{From: after, UpTo: max(after, f.position), Live: true}
	first := sort.Search(len(f.recent), func(i int) bool { return f.recent[i].Position > after })
	for i, e := range f.recent[first:] {
		if !want.Takes(e) {
			continue
		}
		if len(page.Events) == limit {
			page.UpTo, page.Live = page.Events[limit-1].Position, false
			break
		}
		page.Events, page.Sizes = append(page.Events, e), append(page.Sizes, f.sizes[first+i])
	}
	page.Mark = f.markLocked(page.UpTo)
	return page, true
}

// Wait returns nil when the log has grown beyond a position, and is not known to end before what was read. It fails
// with the error of ctx, or as Read when the log was replaced.
func (f *Feed) Wait(ctx context.Context, after uint64) error {
	for {
		f.mu.Lock()
		if other := f.other; other != nil || f.position > after && f.short == nil {
			f.mu.Unlock()
			return other
		}
		if f.changed == nil {
			f.changed = make(chan struct{})
		}
		changed := f.changed
		f.mu.Unlock()
		if !loop.Wait(ctx, changed) {
			return ctx.Err()
		}
	}
}

// Next is Read that waits until the log has grown beyond the position. The page may still have no event.
func (f *Feed) Next(ctx context.Context, after uint64, want Wanted, limit int) (Page, error) {
	for {
		page, err := f.Read(ctx, after, want, limit)
		if err != nil || page.UpTo > after {
			return page, err
		}
		if err := f.Wait(ctx, after); err != nil {
			return Page{}, err
		}
	}
}

// Clear returns the position up to which no wanted event follows after. It returns false when memory does not reach
// back to after.
func (f *Feed) Clear(after uint64, want Wanted) (uint64, bool) {
	page, ok := f.Recent(after, want, 1)
	switch {
	case !ok:
		return after, false
	case len(page.Events) > 0:
		return page.Events[0].Position - 1, true
	}
	return page.UpTo, true
}
