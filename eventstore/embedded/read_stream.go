package embedded

import (
	"context"
	"math"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
)

// readStream serves a plain read of one stream. The first revision is included in both directions.
func (r *reader) readStream() error {
	if r.origin == fromEnd && !r.backwards {
		r.origin, r.place = fromPlace, tombstoneRevision-1 // no event is after the end
	}
	query, from := r.log.queries.streamUp, r.place
	if r.origin == fromStart {
		from = 0
	}
	if r.backwards {
		query = r.log.queries.streamDown
		if r.origin == fromEnd {
			from = tombstoneRevision - 1
		}
	}
	v, first, err := r.begin(query.sized, from)
	switch {
	case err != nil:
		return err
	case v.state.tombstoned:
		return streamDeleted(r.stream)
	case v.missing():
		return r.notFound()
	}
	next := r.streamPages(query, from, first)
	if !r.backwards && from < v.lowest { // the first page begins with truncated events
		next = r.streamPages(query, v.lowest, page{more: true})
	}
	budget, sent := r.count, uint64(0)
	if v.bornFrom != math.MinInt64 && budget > 0 {
		budget = math.MaxUint64 // expired events are read but do not count
	}
	expected := max(from, v.lowest)
	err = r.log.walk(r.ctx(), r.out, next, budget, func(rows []record) (bool, error) {
		if !r.backwards {
			var err error
			if expected, err = r.whole(v, rows, expected); err != nil {
				return false, err
			}
		}
		n, err := r.send(rows, r.count-sent, v.shows, nil)
		sent += n
		if err == nil {
			err = r.running()
		}
		ended := r.backwards && len(rows) > 0 && rows[len(rows)-1].revision < v.lowest
		return ended || sent == r.count, err
	})
	if err != nil || r.compatibility == 0 {
		return err
	}
	return r.streamBounds(v, sent)
}

// errTruncated answers a read of which events were removed meanwhile.
var errTruncated = unavailable("the stream was truncated while it was read; read it again")

// whole checks the next rows of a stream, of which the first visible one is expected to have a revision, and returns
// the one to expect after them. Where events are wanting it looks at the stream once more: they may have been removed
// long before, or since the view was read, and then no reader has ever had to see what is left.
func (r *reader) whole(v view, rows []record, expected int64) (int64, error) {
	for i := range rows {
		revision := rows[i].revision
		if revision > expected && expected <= v.state.last {
			now, err := r.log.view(r.ctx(), r.stream)
			switch {
			case err != nil:
				return 0, err
			case now.state.tombstoned:
				return 0, streamDeleted(r.stream)
			case now.missing() || now.lowest > expected:
				return 0, errTruncated
			}
		}
		if revision != tombstoneRevision {
			expected = max(expected, revision+1)
		}
	}
	return expected, nil
}

// begin reads the stream's view and, if events can be there, its first page. A reader that asks for what came after a
// revision mostly finds nothing, so its page is read only when the view shows that there is more.
func (r *reader) begin(sql string, from int64) (v view, first page, err error) {
	if r.backwards || from == 0 {
		size := extent{bounded(firstPage, max(r.count, 1)), smallBytes}
		return r.log.open(r.ctx(), r.stream, sql, from, size)
	}
	v, err = r.log.end(r.ctx(), r.stream)
	return v, page{more: from <= v.state.last}, err
}

// streamPages returns a fetch that continues a paged read of one stream. It returns a page that was read already first.
func (r *reader) streamPages(query pageQuery, from int64, first page) fetch {
	pages := &pages{log: r.log, query: query}
	prepared := len(first.rows) > 0 || !first.more
	return func(ctx context.Context, limit, bytes int) (p page, err error) {
		if prepared {
			prepared = false
			p = first
		} else if p, err = pages.read(ctx, r.stream, from, extent{limit, bytes}); err != nil {
			return page{}, err
		}
		p.ofStream(r.stream)
		if n := len(p.rows); n > 0 {
			last := p.rows[n-1].revision
			if err := leadsOn(from, last, r.backwards); err != nil {
				return page{}, err
			}
			if from = last + 1; r.backwards {
				from = last - 1
			}
			// A tombstone has the greatest possible number, so no event follows it.
			p.more = p.more && from >= 0 && from < math.MaxInt64
		}
		return p, nil
	}
}

// streamBounds sends the first and last position of the stream, which newer clients expect after the events.
func (r *reader) streamBounds(v view, sent uint64) error {
	if sent == 0 && v.lowest > 0 {
		first := &streams.ReadResp_FirstStreamPosition{FirstStreamPosition: uint64(min(v.lowest, v.state.last+1))}
		if err := r.tell(&streams.ReadResp{Content: first}); err != nil {
			return err
		}
	}
	return r.tell(&streams.ReadResp{
		Content: &streams.ReadResp_LastStreamPosition{LastStreamPosition: uint64(v.state.last)},
	})
}
