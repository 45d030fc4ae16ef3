package embedded

import "math"

// streamCursor is the place that a stream subscription has reached.
type streamCursor struct {
	revision int64 // last one sent, or the one to start after
	position int64 // in $all, up to which the stream has been read
}

// subscribeStream serves a catch-up subscription to one stream: the visible events after the start revision, then each
// new event. The stream need not exist yet. A tombstone is sent as an event and ends the subscription.
func (r *reader) subscribeStream() error {
	watched, unwatch := r.tail.watch(r.stream)
	defer unwatch()
	at := streamCursor{revision: r.place, position: r.tail.last.Load()}
	v, err := r.log.view(r.ctx(), r.stream)
	switch {
	case err != nil:
		return err
	case v.state.tombstoned:
		return streamDeleted(r.stream)
	case r.origin == fromStart:
		at.revision = -1
	case r.origin == fromEnd:
		at.revision = v.state.last
	}
	if err := r.confirm(); err != nil {
		return err
	}
	if err := r.catchUpStream(&at); err != nil {
		return err
	}
	live, buffer := false, []record(nil) // for events from the tail
	next := func(position int64, size extent, buf []record) ([]record, <-chan struct{}, bool) {
		return r.tail.afterOf(watched, position, size, buf)
	}
	for {
		rows, more, held, err := r.live(at.position, buffer, next)
		switch {
		case err != nil:
			return err
		case !held:
			live = false
			if err := r.catchUpStream(&at); err != nil {
				return err
			}
		case len(rows) > 0:
			at.position = rows[len(rows)-1].position
			if err := r.sendStream(&at, rows, func(*record) bool { return true }); err != nil {
				return err
			}
			clear(rows)
			buffer = rows
			r.room.free()
		case !live:
			live = true
			if err := r.caughtUp(); err != nil {
				return err
			}
		default:
			if err := r.await(more); err != nil {
				return err
			}
		}
	}
}

// catchUpStream sends the events of the stream after the cursor. Events that are published meanwhile come again from
// the tail and are skipped there.
func (r *reader) catchUpStream(at *streamCursor) error {
	at.position = r.tail.last.Load()
	v, err := r.log.view(r.ctx(), r.stream)
	if err != nil {
		return err
	}
	visible := func(row *record) bool { // also one that came after the view
		return v.shows(row) || row.revision > v.state.last || row.revision == tombstoneRevision
	}
	from := max(at.revision+1, min(v.lowest, v.state.last+1))
	pages := r.streamPages(r.log.queries.streamUp, from, page{more: true})
	return r.log.walk(r.ctx(), r.out, pages, math.MaxUint64, func(rows []record) (bool, error) {
		if err := r.sendStream(at, rows, visible); err != nil {
			return false, err
		}
		return false, r.running()
	})
}

// sendStream sends the events after the cursor and moves it. After a tombstone it returns the error that ends the
// subscription.
func (r *reader) sendStream(at *streamCursor, rows []record, visible func(*record) bool) error {
	fresh := func(row *record) bool { return row.revision > at.revision && visible(row) }
	passed := func(row *record) error {
		at.revision = max(at.revision, row.revision)
		if row.revision == tombstoneRevision {
			return streamDeleted(r.stream)
		}
		return nil
	}
	_, err := r.send(rows, math.MaxUint64, fresh, passed)
	return err
}
