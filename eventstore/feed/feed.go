package feed

import (
	"context"
	"fmt"
	"log/slog"
	"sort"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/events"
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
	position uint64
	changed  chan struct{} // closed when position grows; nil when no consumer waits
}

// New makes a feed that does nothing before Start. With a nil logger it logs nothing.
func New(log Log, logger *slog.Logger) *Feed {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Feed{log: log, logger: logger, keep: defaultKeep, loops: loop.New(logger)}
}

// Start begins to follow the log at its present end; older events are read in pages (internal/loop has the contract).
func (f *Feed) Start(ctx context.Context) error {
	return f.loops.Start(ctx, func(ctx context.Context) error {
		head, err := f.log.Head(ctx)
		if err != nil {
			return fmt.Errorf("start feed: %w", err)
		}
		f.floor, f.position = head, head
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

// run follows the log until Stop and pauses after each failure.
func (f *Feed) run(ctx context.Context) {
	pause := loop.Backoff{Min: minBackoff, Max: maxBackoff}
	for {
		advanced, err := f.follow(ctx)
		if ctx.Err() != nil {
			return
		}
		if advanced {
			pause.Reset()
		}
		f.logger.WarnContext(ctx, "log cannot be followed", "error", err, "position", f.Head())
		if !pause.Wait(ctx) {
			return
		}
	}
}

// follow publishes items until an error. advanced reports whether there was any item.
func (f *Feed) follow(ctx context.Context) (advanced bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cursor := f.log.Follow(ctx, f.Head(), nil)
	for {
		item, err := cursor.Next(ctx)
		if err != nil {
			return advanced, err
		}
		f.publish(item)
		advanced = true
	}
}

// publish adds an item and wakes the consumers that wait. It ignores positions that it has had.
func (f *Feed) publish(item Item) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if item.Position <= f.position {
		return // published before the connection was lost
	}
	if item.Event != nil {
		f.recent, f.sizes = append(f.recent, item.Event), append(f.sizes, item.Size)
		if f.bytes += item.Size; f.bytes > keepBytes || len(f.recent) >= 2*f.keep {
			f.forget()
		}
	}
	f.position = item.Position
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
	f.floor = f.recent[dropped-1].Position
	f.recent = append(make([]*events.Envelope, 0, 2*f.keep), f.recent[dropped:]...)
	f.sizes = append(make([]int, 0, 2*f.keep), f.sizes[dropped:]...)
}

// LogShorterError is the failure of a consumer whose position lies beyond the end of the log: the log was restored to
// an older state, or a server took over that lacked its last events. The log gives the positions in between to other
// events, which the consumer would never see.
type LogShorterError struct {
	After uint64 // the position of the consumer
	Head  uint64 // the end of the log
}

// Error says what happened; docs/operations.md says what to do.
func (e *LogShorterError) Error() string {
	return fmt.Sprintf("the log ends at %d, before the checkpoint %d: the log was restored to an older state than its "+
		"reader", e.Head, e.After)
}

// End asks the log for the position of its last event, which may be newer than Head.
func (f *Feed) End(ctx context.Context) (uint64, error) {
	end, err := f.log.Head(ctx)
	if err != nil {
		return 0, fmt.Errorf("look for the end of the log: %w", err)
	}
	return end, nil
}

// Covers fails with a LogShorterError when the log ends before a position. A consumer may be ahead of this feed, so the
// log itself is asked then. Every read calls it; a consumer that acts before it reads calls it first.
func (f *Feed) Covers(ctx context.Context, after uint64) error {
	if after <= f.Head() {
		return nil
	}
	head, err := f.End(ctx)
	if err != nil {
		return err
	}
	if head < after {
		return &LogShorterError{After: after, Head: head}
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
	// Live reports that UpTo was the newest known position.
	Live bool
}

// Read returns the wanted events after a position, at most limit, without waiting: from memory, else from the log. The
// page is empty, with UpTo = after, when the log has nothing after the position. It fails with a LogShorterError when
// the log ends before the position.
func (f *Feed) Read(ctx context.Context, after uint64, want Wanted, limit int) (Page, error) {
	if err := f.Covers(ctx, after); err != nil {
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
		page.UpTo = floor // the log has no wanted event up to floor, which was read before
	}
	return page, nil
}

// Recent is Read from memory only. It returns false when memory does not reach back to the position.
func (f *Feed) Recent(after uint64, want Wanted, limit int) (Page, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if after < f.floor {
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
	return page, true
}

// Wait returns nil when the log has grown beyond a position, or the error of ctx.
func (f *Feed) Wait(ctx context.Context, after uint64) error {
	for {
		f.mu.Lock()
		if f.position > after {
			f.mu.Unlock()
			return nil
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
