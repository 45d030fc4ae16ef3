package embedded

import (
	"context"
	"math"
)

// readAll serves a plain read of $all. Forwards the first position is included, backwards it is excluded.
func (r *reader) readAll() error {
	from := r.place
	switch {
	case r.origin == fromStart && r.backwards:
		return nil // no event is before the start
	case r.origin == fromStart:
		from = 0
	case r.origin == fromEnd:
		from = math.MaxInt64
	}
	count := r.count
	if r.filter != nil && count > 0 {
		count = math.MaxUint64 // the handler below counts the events that pass the filter
	}
	sent := uint64(0)
	return r.log.walk(r.ctx(), r.out, r.allPages(from), count, func(rows []record) (bool, error) {
		n, err := r.send(rows, r.count-sent, r.filter.admits, nil)
		sent += n
		if err == nil {
			err = r.running()
		}
		return sent == r.count, err
	})
}

// allPages returns a fetch for $all from a position, in the direction of the read.
func (r *reader) allPages(from int64) fetch {
	query := r.log.queries.allUp
	if r.backwards {
		query = r.log.queries.allDown
	}
	pages := &pages{log: r.log, query: query}
	return func(ctx context.Context, limit, bytes int) (page, error) {
		if !r.backwards {
			from = r.log.types.next(from, r.filter)
		}
		p, err := pages.read(ctx, from, nil, extent{limit, bytes})
		if err == nil {
			err = r.log.retry(ctx, func() error { return r.log.names.fill(ctx, r.log.pool, p.rows) })
		}
		if n := len(p.rows); n > 0 {
			begin := from
			if r.backwards {
				begin--
			}
			from = p.rows[n-1].position
			if err := leadsOn(begin, from, r.backwards); err != nil {
				return page{}, err
			}
			if !r.backwards {
				from++
			}
		}
		return p, err
	}
}
