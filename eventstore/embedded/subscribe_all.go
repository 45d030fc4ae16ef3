package embedded

import "math"

// liveBatch is the number of events that a live subscriber takes from the tail at a time. A subscriber that falls
// behind the tail reads pages again.
const liveBatch = 256

// subscribeAll serves a catch-up subscription to $all: all events after the start position, then each new event.
func (r *reader) subscribeAll() error {
	position, marks := r.beginning()
	if err := r.confirm(); err != nil {
		return err
	}
	considered := func(row *record) error {
		if err := r.running(); err != nil {
			return err // the filter has not decided perhaps
		}
		position = row.position
		if marks.consider(position) {
			return r.checkpoint(position)
		}
		return nil
	}
	live, buffer := false, []record(nil) // for events from the tail
	for {
		rows, more, held, err := r.live(position, buffer, r.tail.after)
		switch {
		case err != nil:
			return err
		case !held:
			live = false
			end := r.tail.last.Load() // up to here all is searched afterwards, also what was passed over
			if err := r.catchUpAll(position, considered); err != nil {
				return err
			}
			position = max(position, end)
		case len(rows) > 0:
			if _, err := r.send(rows, math.MaxUint64, r.filter.admits, considered); err != nil {
				return err
			}
			clear(rows)
			buffer = rows
			r.room.free()
		case !live:
			live = true
			if marks.mark(position) {
				if err := r.checkpoint(position); err != nil {
					return err
				}
			}
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

// beginning is the position after which a subscription to $all begins, with the count to its first checkpoint.
func (r *reader) beginning() (position int64, marks checkpoints) {
	position = r.place
	switch r.origin {
	case fromStart:
		position = 0
	case fromEnd:
		position = r.tail.last.Load()
	}
	if r.filter != nil {
		marks.interval = r.filter.interval
		if r.origin == fromPlace {
			marks.last = position
		}
	}
	return position, marks
}

// catchUpAll sends the events of the log after a position, in pages.
func (r *reader) catchUpAll(position int64, considered func(*record) error) error {
	return r.log.walk(r.ctx(), r.out, r.allPages(position+1), math.MaxUint64, func(rows []record) (bool, error) {
		if _, err := r.send(rows, math.MaxUint64, r.filter.admits, considered); err != nil {
			return false, err
		}
		return false, r.running()
	})
}
