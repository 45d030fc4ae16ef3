package feed

import (
	"context"
	"fmt"

	"github.com/lastmile-isp/lastmile/events"
)

// Wanted is which event types a consumer takes.
type Wanted struct {
	list []string
	set  map[string]struct{} // nil = all
}

// Want makes a Wanted; nil means every type.
func Want(types []string) Wanted {
	if types == nil {
		return Wanted{}
	}
	w := Wanted{list: types, set: make(map[string]struct{}, len(types))}
	for _, t := range types {
		w.set[t] = struct{}{}
	}
	return w
}

// Has tells whether a type is wanted.
func (w Wanted) Has(eventType string) bool {
	if w.set == nil {
		return true
	}
	_, ok := w.set[eventType]
	return ok
}

// Stream gives pages of what is wanted after a position, read ahead of their use, until memory reaches back to where they
// end: Read goes on from there. It is how much of the log is read at once. The channel is closed at the end, on an error,
// which fail is told before, and when ctx ends.
func (f *Feed) Stream(ctx context.Context, after uint64, want Wanted, limit int, fail func(error)) <-chan Page {
	pages := make(chan Page, 2)
	if f.reaches(after) {
		close(pages)
		return pages
	}
	go func() {
		defer close(pages)
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		cursor := f.log.Follow(ctx, after, want.list)
		skipped := 0 // items without an event since the last page
		for page := (Page{From: after, UpTo: after}); ; {
			item, err := cursor.Next(ctx)
			if err != nil {
				fail(fmt.Errorf("read log after %d: %w", page.UpTo, err))
				return
			}
			page.UpTo = max(page.UpTo, item.Position)
			if item.Event != nil {
				page.Events = append(page.Events, item.Event)
			} else {
				skipped++
			}
			near := f.reaches(page.UpTo)
			if len(page.Events) < limit && skipped < skipLimit && !near {
				continue
			}
			skipped = 0
			select {
			case pages <- page:
			case <-ctx.Done():
				return
			}
			if near {
				return
			}
			page = Page{From: page.UpTo, UpTo: page.UpTo, Events: make([]*events.Envelope, 0, limit)}
		}
	}()
	return pages
}

// reaches tells whether memory reaches back to a position.
func (f *Feed) reaches(position uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return position >= f.floor
}
