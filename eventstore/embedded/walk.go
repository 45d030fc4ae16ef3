package embedded

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// Memory of readers, in bytes. A reader gets a large page only while the memory that all readers share has room for
// it. Otherwise it goes on with small pages, so readers whose clients do not read hold up nobody and take little.
const (
	pagesBytes = 64 << 20  // large pages of all readers together
	pageBytes  = 4 << 20   // a large page
	smallBytes = 128 << 10 // a page without a share; also the first page, and what a live subscriber takes at a time
)

// share is the room that a reader has for a page.
type share struct {
	bytes  int
	memory *semaphore.Weighted // to give it back to; nil for a small page
}

// tryShare takes the room for a large page if there is any.
func (l *logReader) tryShare() (share, bool) {
	if !l.memory.TryAcquire(pageBytes) {
		return share{bytes: smallBytes}, false
	}
	return share{bytes: pageBytes, memory: l.memory}, true
}

// free gives the room back; only the first call counts.
func (s *share) free() {
	if s.memory != nil {
		s.memory.Release(pageBytes)
	}
	s.memory = nil
}

// walk reads page after page and hands each to handle. It reads the next page while handle works, if both have a share
// of the memory. It ends at the end of the log, after count rows, or when handle says stop.
func (l *logReader) walk(
	ctx context.Context, next fetch, count uint64, handle func([]record) (stop bool, err error),
) error {
	ctx, cancel := context.WithCancel(ctx)
	w := &walker{log: l, next: next, results: make(chan pageResult, 1)}
	defer w.end()
	defer cancel()
	w.room, _ = l.tryShare()
	limit := firstPage
	p, err := next(ctx, bounded(limit, count), w.room.bytes)
	for err == nil {
		count -= min(count, uint64(len(p.rows)))
		more := p.more && count > 0
		if more {
			limit = nextLimit(limit, p.rows, w.room.bytes)
			w.readAhead(ctx, bounded(limit, count))
		}
		stop, err := handle(p.rows)
		if err != nil || stop || !more {
			return err
		}
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
	if w.room.memory == nil {
		return
	}
	if w.ahead, w.pending = w.log.tryShare(); !w.pending {
		return
	}
	go func(bytes int) {
		p, err := w.next(ctx, limit, bytes)
		w.results <- pageResult{p, err}
	}(w.ahead.bytes)
}

// turn frees the page in work and returns the next one.
func (w *walker) turn(ctx context.Context, limit int) (page, error) {
	w.room.free()
	if !w.pending {
		w.room, _ = w.log.tryShare()
		return w.next(ctx, limit, w.room.bytes)
	}
	r := <-w.results
	w.room, w.ahead, w.pending = w.ahead, share{}, false
	return r.page, r.err
}

// end waits for a page that is still read ahead, and frees everything.
func (w *walker) end() {
	if w.pending {
		<-w.results
	}
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
