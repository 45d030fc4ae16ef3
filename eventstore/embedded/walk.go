package embedded

import "context"

// Memory of readers, in bytes. A reader gets a large page only while there is room for one. Otherwise it goes on with
// small pages, so readers whose clients do not read hold up nobody and take little. What does not fit into a small page
// has to have room, and waits for it.
const (
	pagesBytes   = 16 << 20 // large pages of all readers together
	rowsBytes    = 12 << 20 // events that do not fit into a page
	targetsBytes = 8 << 20  // events that links point to and that do not fit into a page
	framesBytes  = 16 << 20 // encoded events that do not fit into a chunk, until they are sent
	pageBytes    = 2 << 20  // a large page
	smallBytes   = 32 << 10 // a page without a share; also the first page, and what a live subscriber takes at a time
	smallEvent   = 256      // of the events in a page as many as would be in it if they had so many bytes are looked at
)

// readMemory is the memory of all readers. A reader that waits for one part holds at most earlier ones.
type readMemory struct{ pages, rows, targets, frames *budget }

// newReadMemory is all free.
func newReadMemory() *readMemory {
	return &readMemory{
		pages: newBudget("pages", pagesBytes), rows: newBudget("large events", rowsBytes),
		targets: newBudget("large events behind links", targetsBytes),
		frames:  newBudget("large events", framesBytes),
	}
}

// share is the room that a reader has for a page.
type share struct {
	bytes int
	room  *holding // nil for a small page
}

// tryShare takes the room for a large page if there is any.
func (l *logReader) tryShare(ctx context.Context) (share, bool) {
	room := l.memory.pages.open(accountOf(ctx))
	if !room.try(pageBytes) {
		return share{bytes: smallBytes}, false
	}
	return share{pageBytes, room}, true
}

// takeShare takes the room for one event that does not fit into a page, when there is any.
func takeShare(ctx context.Context, of *budget, bytes int) (share, error) {
	room := of.open(accountOf(ctx))
	if err := room.take(ctx, int64(bytes)); err != nil {
		return share{}, fromContext(err)
	}
	return share{bytes, room}, nil
}

// free gives the room back; only the first call counts.
func (s *share) free() {
	s.room.free()
	s.room = nil
}

// walk reads page after page and hands each to handle, which sends by out. It reads the next page while handle works,
// if both have a share of the memory. It ends at the end of the log, after count rows, or when handle says stop.
func (l *logReader) walk(
	ctx context.Context, out *outbox, next fetch, count uint64, handle func([]record) (stop bool, err error),
) error {
	ctx, cancel := context.WithCancel(ctx)
	w := &walker{log: l, out: out, next: next, results: make(chan pageResult, 1)}
	defer w.end()
	defer cancel()
	limit := firstPage
	p, err := w.turn(ctx, bounded(limit, count))
	for err == nil {
		count -= min(count, uint64(len(p.rows)))
		more := p.more && count > 0
		if more {
			limit = nextLimit(limit, p.rows, pageBytes)
			w.readAhead(ctx, bounded(limit, count))
		}
		stop, err := handle(p.rows)
		if err == nil && (stop || !more) {
			return out.settle(ctx)
		}
		if err != nil {
			return err
		}
		p.rows = nil
		p, err = w.turn(ctx, bounded(limit, count))
		if err != nil {
			return err
		}
	}
	return err
}

// walker is the state of one walk.
type walker struct {
	log     *logReader
	out     *outbox
	next    fetch
	room    share // of the page in work
	ahead   share // of the page that is read ahead
	results chan pageResult
	pending bool // a page is read ahead
}

// pageResult is a page that was read ahead, or the error.
type pageResult struct {
	page
	err error
}

// readAhead begins to read the next page if the page in work has a share and there is one more.
func (w *walker) readAhead(ctx context.Context, limit int) {
	if w.room.room == nil {
		return
	}
	if w.ahead, w.pending = w.log.tryShare(ctx); !w.pending {
		return
	}
	go func(bytes int) {
		p, err := w.next(ctx, limit, bytes)
		w.results <- pageResult{p, err}
	}(w.ahead.bytes)
}

// turn frees the page in work and returns the next one. A large page leaves its room to the next page; when that one
// needs another room, little of what was sent is left with the transport.
func (w *walker) turn(ctx context.Context, limit int) (p page, err error) {
	if w.pending {
		w.room.free()
		r := <-w.results
		w.room, w.ahead, w.pending = w.ahead, share{}, false
		p, err = r.page, r.err
	} else {
		if !w.large() {
			w.room.free()
			w.room, _ = w.log.tryShare(ctx)
		}
		p, err = w.next(ctx, min(limit, w.room.bytes/smallEvent), w.room.bytes)
	}
	for err == nil && p.large > w.room.bytes {
		if err = w.out.settle(ctx); err != nil {
			return page{}, err
		}
		w.room.free()
		if w.room, err = takeShare(ctx, w.log.memory.rows, p.large); err == nil {
			p, err = w.next(ctx, 1, w.room.bytes)
		}
	}
	w.out.fast = w.large()
	if w.out.others.page = nil; !w.out.fast {
		w.out.others.page = w.room.room
	}
	w.out.waits(true)
	return p, err
}

// large reports whether the page in work has the room of a large page.
func (w *walker) large() bool { return w.room.room != nil && w.room.room.budget == w.log.memory.pages }

// end waits for a page that is still read ahead, and frees everything.
func (w *walker) end() {
	if w.pending {
		<-w.results
	}
	w.out.others.page = nil
	w.room.free()
	w.ahead.free()
}

// bounded lowers a page limit to the number of rows that are still wanted.
func bounded(limit int, count uint64) int {
	if count < uint64(limit) {
		return int(count)
	}
	return limit
}

// nextLimit grows the page up to fourfold, but only to the rows that fit into so many bytes by the size of the rows so
// far.
func nextLimit(limit int, seen []record, bytes int) int {
	taken := 1
	for i := range seen {
		taken += seen[i].size()
	}
	fits := bytes * max(len(seen), 1) / taken
	return max(1, min(4*limit, largePage, fits))
}
