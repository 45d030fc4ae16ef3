package feed

import (
	"context"
	"fmt"
	"iter"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Wanted is a set of event types. The zero value holds every type.
type Wanted struct {
	list     []string
	set      map[string]struct{} // nil = all
	families map[string]struct{} // the listed types without their versions
	unknown  bool                // types that this version of the program does not know, too
}

// Want makes a Wanted; nil means every type, an empty list none.
func Want(types []string) Wanted {
	if types == nil {
		return Wanted{}
	}
	w := Wanted{
		list: types, set: make(map[string]struct{}, len(types)), families: make(map[string]struct{}, len(types)),
	}
	for _, t := range types {
		w.set[t], w.families[catalog.Family(t)] = struct{}{}, struct{}{}
	}
	return w
}

// AndUnknown adds all types that this version of the program does not know: one of them may mean something to the
// consumer in a newer version, so a consumer that cannot go back must stop there. Reads then decode the whole log.
func (w Wanted) AndUnknown() Wanted {
	w.unknown = true
	return w
}

// listed gives the types to ask the log for; nil = all.
func (w Wanted) listed() []string {
	if w.unknown {
		return nil
	}
	return w.list
}

// Takes reports whether a consumer wants an event. An unknown version of a wanted type is wanted, so that the consumer
// stops there.
func (w Wanted) Takes(e *events.Envelope) bool {
	if w.set == nil {
		return true
	}
	if u, ok := e.Event.(Undecodable); ok && u.Unknown {
		_, near := w.families[catalog.Family(u.Type)]
		return w.unknown || near
	}
	return w.Has(e.Type)
}

// Has reports whether a consumer wants events of the type.
func (w Wanted) Has(eventType string) bool {
	if w.set == nil {
		return true
	}
	_, ok := w.set[eventType]
	return ok
}

// pageBytes ends a page of a stream, in bytes of stored events; three pages are read ahead.
const pageBytes = 4 << 20

// Stream reads the wanted events after a position from the log, ahead of the caller, until memory reaches back to the
// end of a page; the caller goes on with Read from there. It is for a consumer that is far behind. An error is the last
// element.
func (f *Feed) Stream(ctx context.Context, after uint64, want Wanted, limit int) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		if f.reaches(after) {
			return
		}
		pages, reader := make(chan streamed, 2), loop.Within(ctx, f.logger)
		defer reader.Stop()
		reader.Go("log reader", func(ctx context.Context) {
			defer close(pages)
			err := loop.Try(func() error { return f.stream(ctx, after, want, limit, pages) })
			if err != nil {
				streamed{err: err}.send(ctx, pages)
			}
		})
		for p := range pages {
			if !yield(p.page, p.err) {
				return
			}
		}
	}
}

// streamed is a page on its way to the caller, or the error that ends the pages.
type streamed struct {
	page Page
	err  error
}

// send hands the page over, and returns false when ctx has ended.
func (s streamed) send(ctx context.Context, pages chan<- streamed) bool {
	select {
	case pages <- s:
		return true
	case <-ctx.Done():
		return false
	}
}

// stream reads pages of limit events from the log until memory reaches back to the end of a page.
func (f *Feed) stream(ctx context.Context, after uint64, want Wanted, limit int, pages chan<- streamed) error {
	cursor := f.log.Follow(ctx, after, eventstore.Mark{}, want.listed())
	page := Page{From: after, UpTo: after}
	skipped, bytes := 0, 0 // items without an event, and bytes of events, since the last page
	for {
		item, err := cursor.Next(ctx)
		if err != nil {
			return fmt.Errorf("read log after %d: %w", page.UpTo, err)
		}
		page.UpTo = max(page.UpTo, item.Position)
		if item.Event != nil && want.Takes(item.Event) {
			page.Events, page.Sizes = append(page.Events, item.Event), append(page.Sizes, item.Size)
			bytes += item.Size
		} else {
			skipped++
		}
		if item.Event != nil {
			page.Mark = markOf(item.Event)
		}
		near := f.reaches(page.UpTo)
		if len(page.Events) < limit && bytes < pageBytes && skipped < skipLimit && !near {
			continue
		}
		if mark, ok := f.markAt(page.UpTo); ok {
			page.Mark = mark
		}
		if !(streamed{page: page}).send(ctx, pages) || near {
			return nil
		}
		page = Page{From: page.UpTo, UpTo: page.UpTo, Events: make([]*events.Envelope, 0, min(limit, len(page.Events)))}
		skipped, bytes = 0, 0
	}
}

// reaches reports whether memory has all events after a position.
func (f *Feed) reaches(position uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return position >= f.floor
}
