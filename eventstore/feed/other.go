package feed

import (
	"cmp"
	"context"
	"errors"
	"sort"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore"
)

// Covers fails with an eventstore.OtherLogError when the log is not the one that a consumer has read: it ends before
// the consumer's position, or has another event where its mark is. A consumer that acts before it reads, or that goes
// on from a stored position, calls it first. While the log ends before what the feed has read it fails with a
// ShortLogError, which passes: what is in memory may be of events that the log has lost.
func (f *Feed) Covers(ctx context.Context, after uint64, mark eventstore.Mark) error {
	if err := f.parted(); err != nil && isOther(err) {
		return err
	}
	newest := f.newest()
	if err := f.still(ctx); err != nil {
		return err
	}
	if err := f.covers(ctx, after); err != nil || mark == newest {
		return err
	}
	return f.knows(ctx, mark)
}

// knows compares a mark with the log itself: what is in memory is the same log only as long as it was not replaced.
func (f *Feed) knows(ctx context.Context, mark eventstore.Mark) error {
	if mark.IsZero() {
		return nil
	}
	has, err := f.log.EventAt(ctx, mark.Position)
	if err != nil {
		return err
	}
	return mark.Check(has)
}

// MarkAt gives the mark of the event at a position that a consumer has read, none when no event has exactly this
// position. It fails as Covers when the log is not the one that was read.
func (f *Feed) MarkAt(ctx context.Context, position uint64) (eventstore.Mark, error) {
	has, err := f.log.EventAt(ctx, position)
	if err == nil {
		err = f.still(ctx) // after it, so that the event is of the same log
	}
	if err != nil {
		return eventstore.Mark{}, err
	}
	return eventstore.Mark{Position: position, ID: has}, nil
}

// Lost delivers an eventstore.OtherLogError when the log was replaced by another one while the feed followed it.
// Nothing can be read of the feed any more. What a program has in memory is of the log that was lost, so it has to
// start again.
func (f *Feed) Lost() <-chan error { return f.lost }

// part ends reading for all consumers, because the log is another one, and wakes those who wait.
func (f *Feed) part(ctx context.Context, err error) {
	f.logger.ErrorContext(ctx, "the log was replaced by another one", "error", err)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.other = err
	select {
	case f.lost <- err:
	default: // somebody is to be told already
	}
	f.wake()
}

// parted is why nothing can be read any more, or for now; nil while the log is the one that was followed.
func (f *Feed) parted() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return cmp.Or(f.other, f.short)
}

// newest is the last event that was seen.
func (f *Feed) newest() eventstore.Mark {
	mark, _ := f.markAt(f.Head())
	return mark
}

// markAt gives the last event up to a position, where memory reaches back to it and is known to be of the log.
func (f *Feed) markAt(position uint64) (eventstore.Mark, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.markLocked(position), position >= f.floor && cmp.Or(f.other, f.short) == nil
}

// markLocked is markAt for a caller that holds the lock and a position that is not below the floor.
func (f *Feed) markLocked(position uint64) eventstore.Mark {
	n := sort.Search(len(f.recent), func(i int) bool { return f.recent[i].Position > position })
	if n == 0 {
		return f.below
	}
	return markOf(f.recent[n-1])
}

// markOf names an event, for those who come back to the log.
func markOf(e *events.Envelope) eventstore.Mark {
	return eventstore.Mark{Position: e.Position, ID: e.ID}
}

// MarkOf gives the mark at a position up to which a consumer has taken a page: of its newest event there, or of the
// page. It keeps an older one where the page knows none.
func (p *Page) MarkOf(upTo uint64, older eventstore.Mark) eventstore.Mark {
	if p.Mark.Position <= upTo && !p.Mark.IsZero() {
		older = p.Mark
	}
	n := sort.Search(len(p.Events), func(i int) bool { return p.Events[i].Position > upTo })
	if n > 0 && p.Events[n-1].Position > older.Position && !p.Events[n-1].ID.IsZero() {
		return markOf(p.Events[n-1])
	}
	return older
}

// isOther reports whether the log is not the one that was read.
func isOther(err error) bool {
	var other *eventstore.OtherLogError
	return errors.As(err, &other)
}
