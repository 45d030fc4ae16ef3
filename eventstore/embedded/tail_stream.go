package embedded

import "sort"

// watchedStream is a stream to which somebody subscribes. The lock of the tail guards it.
type watchedStream struct {
	readers   int
	positions []int64 // of its events in the tail, in order, and perhaps of some that are not held any more
	lost      int64   // its events up to this position may be missing in positions
	changed   chan struct{}
}

// add notes an event of the stream, and wakes those who wait for it. first is the oldest position that the tail holds.
// A nil stream is one that nobody watches.
func (w *watchedStream) add(position, first int64) {
	if w == nil {
		return
	}
	w.forget(first)
	w.positions = append(w.positions, position)
	if w.changed != nil {
		close(w.changed)
		w.changed = nil
	}
}

// forget drops the positions before the oldest that the tail holds.
func (w *watchedStream) forget(first int64) {
	gone := sort.Search(len(w.positions), func(i int) bool { return w.positions[i] >= first })
	if gone > 0 {
		w.lost = w.positions[gone-1]
		w.positions = w.positions[gone:] // what is before goes when the rest is copied, once in a while
	}
}

// watch begins to note the events of a stream, so that its subscribers look at those alone, and are woken for them
// alone, however many others are written. unwatch must be called.
func (t *tail) watch(stream string) (w *watchedStream, unwatch func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w = t.watched[stream]
	if w == nil {
		w = &watchedStream{lost: t.last.Load()}
		t.watched[stream] = w
	}
	w.readers++
	return w, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if w.readers--; w.readers == 0 {
			delete(t.watched, stream)
		}
	}
}

// afterOf is after for the events of a watched stream. more is closed at the next one.
func (t *tail) afterOf(
	w *watchedStream, position int64, size extent, buf []record,
) (rows []record, more <-chan struct{}, held bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w.forget(t.first)
	if position < w.lost {
		return nil, nil, false
	}
	bytes := 0
	next := sort.Search(len(w.positions), func(i int) bool { return w.positions[i] > position })
	for _, p := range w.positions[next:] {
		row := &t.ring[p%tailEvents]
		if row.position != p {
			continue
		}
		if bytes += row.size(); len(buf) == size.rows || bytes > size.bytes && len(buf) > 0 {
			break
		}
		buf = append(buf, *row)
	}
	if len(buf) == 0 {
		if w.changed == nil {
			w.changed = make(chan struct{})
		}
		more = w.changed
	}
	return buf, more, true
}
